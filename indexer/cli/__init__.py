"""The command line. One module per command in this package, imported only when it is called."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from indexer import __version__
from indexer.errors import CANNOT, IndexerError, shortened

COMMANDS = {
    # name: (module in this package, one-line help shown by ``indexer --help``)
    "build": ("build", "Build the documentation site."),
    "snapshot": ("snapshot", "Extract the facts of one SGLang version."),
    "serve": ("serve", "Serve the built site on this machine."),
    "pin": ("pin", "Add a SGLang release to the pins."),
    "show": ("show", "Show one fact: a flag, algorithm, model, rule, path."),
    "search": ("search", "Search the facts of a version."),
    "history": ("history", "Since when, until when, what changed."),
    "drift": ("drift", "What changed between two versions."),
    "check": ("check", "Lint launch files against a version."),
    "explain": ("explain", "What will SGLang do with this command?"),
    "report": ("report", "The full report for a model, algorithm and GPUs."),
    "path": ("path", "Find a call path between two functions."),
    "validate": ("validate", "Prove on real GPUs that documented flags work."),
}


_CLOSED_PIPE = 141
"""What a shell tells of a program that the signal of a closed pipe ended (128 + SIGPIPE)."""


class _OutputClosed(BaseException):
    """Who reads the output (``head``) wants no more of it; no failure that anything may catch."""


@contextmanager
def _closed_pipe_told_apart() -> Iterator[None]:
    """Click would exit with 1 where a pipe is closed, which reads as "findings"."""
    try:
        yield
    except BrokenPipeError as error:
        raise _OutputClosed from error


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command runs."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _closed_pipe_told_apart():  # --help and --version print here
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _closed_pipe_told_apart():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if self._available(name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS or not self._available(cmd_name):
            return None
        return importlib.import_module(f"indexer.cli.{COMMANDS[cmd_name][0]}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    @staticmethod
    def _available(name: str) -> bool:
        from importlib.util import find_spec

        return find_spec(f"indexer.cli.{COMMANDS[name][0]}") is not None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="indexer")
def cli() -> None:
    """What SGLang's speculative-decoding flags do, from the source, with lines.

    Exit codes: 0 clean, 1 findings, 2 usage, 3 could not do it.
    """


def main() -> None:
    """Run the command line; every expected failure becomes one line and its exit code."""
    try:
        with _closed_pipe_told_apart():
            _run()
    except _OutputClosed:
        # What is still buffered goes nowhere: Python writes it at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
        sys.exit(_CLOSED_PIPE)


def _run() -> None:
    try:
        # Without standalone mode click returns the code of an Exit instead of exiting with it.
        code = cli.main(standalone_mode=False)
    except IndexerError as error:
        from indexer.cli._terminal import fit

        click.echo(fit(f"indexer: {error}", sys.stderr), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        vars(error)["message"] = shortened(error.message)  # click has no other way in
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("indexer: interrupted", err=True)
        sys.exit(130)
    except OSError as error:  # a full disk below the redirected output, say
        click.echo(f"indexer: {shortened(str(error))}", err=True)
        sys.exit(CANNOT)
    except Exception as error:
        _tell_failure(error)
        sys.exit(CANNOT)
    gc.freeze()  # the process ends: no last walk over everything that was made
    sys.exit(code)


def _tell_failure(error: Exception) -> None:
    """Tell of a fault of ours, for which Python's own exit code 1 would read as "findings"."""
    import traceback
    from concurrent.futures import BrokenExecutor

    if isinstance(error, BrokenExecutor):
        told = "a process that did part of the work was killed, perhaps because memory ran out"
        click.echo(f"indexer: {told}; close other programs and try again", err=True)
    else:
        traceback.print_exception(error)
