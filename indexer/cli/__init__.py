"""The command line. One module per command in this package, imported only when it is called."""

from __future__ import annotations

import gc
import importlib
import sys

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


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command runs."""

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
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(CANNOT)
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
