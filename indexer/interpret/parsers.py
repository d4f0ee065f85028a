"""``argparse``'s parser, sealed."""

from __future__ import annotations

import argparse
import typing
from typing import Any

from indexer.interpret.signals import Unsupported


class SealedParser(argparse.ArgumentParser):
    """``argparse.ArgumentParser`` that prints nothing, reads no files, and notes each registration."""

    _rt_world: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("fromfile_prefix_chars"):
            raise Unsupported("arguments read from files")
        kwargs.setdefault("prog", "launch_server.py")
        super().__init__(*args, **kwargs)

    def add_argument(self, *args: Any, **kwargs: Any) -> Any:
        action = super().add_argument(*args, **kwargs)
        if self._rt_world is not None:
            self._rt_world.argument_added(action)
        return action

    def add_argument_group(self, *args: Any, **kwargs: Any) -> Any:
        group = super().add_argument_group(*args, **kwargs)
        world, add = self._rt_world, group.add_argument

        def add_argument(*names: Any, **options: Any) -> Any:
            action = add(*names, **options)
            if world is not None:
                world.argument_added(action)
            return action

        group.add_argument = add_argument  # type: ignore[method-assign]
        return group

    add_argument._rt_takes_unknown = True  # type: ignore[attr-defined]  # an unknown default is kept

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found = super().parse_args(args, namespace)
        if self._rt_world is not None:
            self._rt_world.parsed(found)
        return found

    def _read_args_from_files(self, arg_strings: list[str]) -> list[str]:
        raise Unsupported("arguments read from files")

    def _get_formatter(self) -> argparse.HelpFormatter:
        # Nothing is printed; a given width saves asking the terminal once per argument.
        return argparse.HelpFormatter(prog=self.prog, width=80)

    def error(self, message: str) -> typing.NoReturn:
        self.exit(2, f"error: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> typing.NoReturn:
        if self._rt_world is not None and message:
            self._rt_world.parser_message = message
        raise SystemExit(status)

    def _print_message(self, message: str, file: Any = None) -> None:
        return None
