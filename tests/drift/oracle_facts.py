"""``VersionFacts`` made of what the real parsers said, and argparse parsers rebuilt from the same."""

from __future__ import annotations

import argparse
import json
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from packaging.version import Version

from indexer.knowledge.schema import Deprecation, Flag, Location, ServeRule

DATA = Path(__file__).parents[2] / "indexer" / "data"
JSON_VALUES = json.loads((DATA / "json_values.json").read_text())
CONFIG_READERS = json.loads((DATA / "config_reader.json").read_text())


class Refused(Exception):
    """The rebuilt parser's ``error()``."""


class OracleFacts:
    """The facts of the versions in ``oracle``."""

    def __init__(self, oracle: Path) -> None:
        names = (path.stem.removeprefix("flags-") for path in oracle.glob("flags-*.json"))
        self.versions = sorted(names, key=Version)
        self._said = {v: json.loads((oracle / f"flags-{v}.json").read_text()) for v in self.versions}
        others = json.loads((DATA / "other_parsers.json").read_text())
        self.diffusion_options = frozenset(others["diffusion"])
        self.diffusion_values = others["one_value"]
        self.serve_rules = msgspec.convert(others["serve"], dict[str, ServeRule])
        # The oracle records no variables; one is known from the cases.
        declared = [
            at for at, v in enumerate(self.versions) if Version("0.5.4") < Version(v) < Version("0.5.14")
        ]
        self.env = {"SGLANG_ENABLE_SPEC_V2": [(declared[0], declared[-1])]}
        self.renames: dict[str, list[str]] = {}
        for version in self.versions:
            for flag in self.flags_at(version):
                if flag.deprecated and flag.deprecated.replacement:
                    self.renames.setdefault(flag.option_strings[0], [flag.deprecated.replacement])

    @cached_property
    def option_spans(self) -> dict[str, list[tuple[int, int]]]:
        spans: dict[str, list[tuple[int, int]]] = {}
        for at, version in enumerate(self.versions):
            for entry in self._said[version]["flags"]:
                for option in entry["option_strings"]:
                    runs = spans.setdefault(option, [])
                    if runs and runs[-1][1] == at - 1:
                        runs[-1] = (runs[-1][0], at)
                    else:
                        runs.append((at, at))
        return spans

    def flags_at(self, version: str) -> list[Flag]:
        return [_flag(entry) for entry in self._said[version]["flags"]]

    def json_types(self, version: str) -> frozenset[str]:
        return frozenset(JSON_VALUES[version]["types"])

    def json_options(self, version: str) -> dict[str, str]:
        return JSON_VALUES[version]["options"]

    def env_spans(self, name: str) -> list[tuple[int, int]]:
        return self.env.get(name, [])

    def env_at(self, name: str, version: str) -> None:
        return None

    def env_rewritten(self, name: str, version: str) -> None:
        return None

    def env_heir(self, name: str, last: str, version: str) -> None:
        return None

    def env_changes(self, old: str, new: str) -> dict[str, list[Any]]:
        return {}

    def config_rule(self, version: str) -> str:
        return CONFIG_READERS.get(version, {}).get("rule") or "unknown"

    def config_asked_at(self, version: str) -> str | None:
        return CONFIG_READERS.get(version, {}).get("asked")

    def fields_at(self, version: str) -> frozenset[str]:
        return frozenset(field["name"] for field in self._said[version]["fields"])

    def parser(self, version: str) -> argparse.ArgumentParser:
        """Return a real parser with the version's actions; its errors raise ``Refused``."""
        parser = _Parser(prog="x")
        for entry in self._said[version]["flags"]:
            _add(parser, entry)
        return parser

    def entries(self, version: str) -> list[dict[str, Any]]:
        return self._said[version]["flags"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


JSON_TYPES = {name for values in JSON_VALUES.values() for name in values["types"]}
_TYPES = {"int": int, "float": float, "str": str, "bool": bool, "loads": json.loads} | dict.fromkeys(
    JSON_TYPES, json.loads
)


def _add(parser: argparse.ArgumentParser, entry: dict[str, Any]) -> None:
    options, dest = entry["option_strings"], entry["dest"]
    if entry["action"] == "BooleanOptionalAction":
        plain = [option for option in options if not option.startswith("--no-")]
        parser.add_argument(*plain, dest=dest, action=argparse.BooleanOptionalAction)
        return
    if raised := (entry.get("action_probe") or {}).get("raises"):
        parser.add_argument(*options, dest=dest, nargs=entry["nargs"], action=_raising(raised))
        return
    if entry["nargs"] == 0:
        parser.add_argument(*options, dest=dest, action="store_true")
        return
    kind = _TYPES.get(entry["type"] or "str")
    parser.add_argument(
        *options,
        dest=dest,
        nargs=entry["nargs"],
        const=entry["const"],
        type=kind or str,
        choices=entry["choices"] if kind else None,
        required=entry["required"],
    )


def _raising(what: str) -> type[argparse.Action]:
    class Raises(argparse.Action):
        def __call__(self, *_: object, **__: object) -> NoReturn:
            raise Refused(what)

    return Raises


def _flag(entry: dict[str, Any]) -> Flag:
    options = entry["option_strings"]
    where = entry.get("field_declared_at") or entry["registered_at"]
    path, line = where.rsplit(":", 1)
    return Flag(
        name=options[0].lstrip("-"),
        option_strings=options,
        dest=entry["dest"],
        action=entry["action"],
        nargs=entry["nargs"],
        const=entry["const"],
        default=entry.get("default"),
        type=entry["type"],
        choices=entry["choices"],
        required=entry["required"],
        declared_at=Location("python/" + path, int(line)),
        deprecated=_deprecation(entry, Location("python/" + path, int(line))),
    )


def _deprecation(entry: dict[str, Any], at: Location) -> Deprecation | None:
    if "Deprecated" not in entry["action"]:
        return None
    extra, probe = entry.get("action_extra") or {}, entry.get("action_probe") or {}
    return Deprecation(at, extra.get("new_flag"), raises="raises" in probe)
