"""The argument walk: what argparse does with each word, finding every mistake instead of the first.

argparse itself stops at the first error, gives no position, and can't take a word whose text the
file doesn't tell. So the walk is ours and argparse is the judge in the tests: a parser rebuilt from
the same facts must accept exactly the argument lists in which the walk finds nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.drift.launch.model import DYNAMIC, Word
from indexer.drift.lint.facts import OptionFact, VersionTable, value_count

_NEGATIVE_NUMBER = re.compile(r"^-\d+$|^-\d*\.\d+$")
_BLANK_BEHIND = re.compile(r"--[A-Za-z][\w-]*\s")
"""No option for argparse, whatever else is in the word."""
CONVERTERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "loads": json.loads,
    "json.loads": json.loads,
}
"""The ``type=`` callables whose behaviour is Python's own. Any other is never judged."""


@dataclass(slots=True)
class Use:
    """An option met in the words: ``spelled`` is the option part of ``word`` (before ``=``),
    ``option`` the option string argparse takes it for."""

    flag: OptionFact
    option: str
    spelled: str
    word: Word
    values: list[Word] = field(default_factory=list)


@dataclass(slots=True)
class Problem:
    """Something argparse would refuse. ``kind`` is ``unknown``, ``ambiguous``, ``missing-value``,
    ``invalid-choice``, ``invalid-type``, ``invalid-json``, ``takes-no-value``, ``stray`` or ``required``."""

    kind: str
    word: Word
    spelled: str
    flag: OptionFact | None = None
    matches: list[str] = field(default_factory=list)
    detail: str = ""


@dataclass(slots=True)
class Walked:
    """The result of a walk, in word order."""

    uses: list[Use] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    opaque: bool = False
    """True when some word could have been anything, so absence proves nothing."""


@dataclass(slots=True)
class _Option:
    word: Word
    spelled: str
    flag: OptionFact | None
    option: str
    explicit: Word | None
    matches: list[str]


def walk(words: Sequence[Word], table: VersionTable, *, open_end: bool = False) -> Walked:
    """Walk the words as the version's parser would.

    With ``open_end`` an option without its value at the very end is not a problem.
    """
    result = Walked()
    position = 0
    loose = False  # the current run of plain words may belong to something we can't see
    while position < len(words):
        word = words[position]
        parsed = _as_option(word, table)
        position += 1
        if parsed is None:
            if not word.known and not _BLANK_BEHIND.match(word.text):
                loose = result.opaque = True
            elif not loose:
                result.problems.append(Problem("stray", word, word.text))
            continue
        loose = False
        if parsed.flag is None:
            loose = True
            if DYNAMIC in parsed.spelled:
                result.opaque = True
            else:
                kind = "ambiguous" if parsed.matches else "unknown"
                result.problems.append(Problem(kind, word, parsed.spelled, None, parsed.matches))
            continue
        if parsed.flag.action == "_HelpAction":
            result.opaque = True  # argparse prints and exits: what is absent or follows is no mistake
            result.problems = [p for p in result.problems if p.kind not in ("unknown", "stray")]
            break
        following = 0
        while position + following < len(words) and _as_option(words[position + following], table) is None:
            following += 1
        at_end = position + following == len(words)
        run = words[position : position + following]
        taken = _consume(parsed, run, at_end and open_end, result, table.json_types)
        loose = any(w.splits and not w.known for w in words[position : position + taken])
        position += taken
    return result


def _as_option(word: Word, table: VersionTable) -> _Option | None:
    """Return how argparse reads the word as an option, or None for a plain argument."""
    text = word.text
    if not text.startswith("-") or text == "-":
        return None
    if text in table.by_option:
        return _Option(word, text, table.by_option[text], text, None, [])
    spelled, equals, _ = text.partition("=")
    explicit = word.part(len(spelled) + 1) if equals else None
    if spelled in table.by_option:
        return _Option(word, spelled, table.by_option[spelled], spelled, explicit, [])
    if DYNAMIC in spelled:
        return None if _BLANK_BEHIND.match(spelled) else _Option(word, spelled, None, "", explicit, [])
    matches = table.matches(spelled) if text.startswith("--") else _short_matches(text, table)
    if len(matches) == 1:
        flag = table.by_option[matches[0]]
        return _Option(word, spelled, flag, matches[0], explicit, matches)
    if matches:
        return _Option(word, spelled, None, "", explicit, matches)
    if _NEGATIVE_NUMBER.match(text) or " " in text:
        return None
    return _Option(word, spelled, None, "", explicit, [])


def _short_matches(text: str, table: VersionTable) -> list[str]:
    """Return what a single-dash word could be: ``-hX`` is ``-h`` with ``X`` attached."""
    found = [text[:2]] if text[:2] in table.by_option else []
    return found + [option for option in table.matches(text) if option != text[:2]]


def _consume(
    option: _Option, run: Sequence[Word], may_go_on: bool, result: Walked, json_types: frozenset[str]
) -> int:
    """Record the use with its values; return how many words of ``run`` it takes."""
    flag = option.flag
    assert flag is not None
    use = Use(flag, option.option, option.spelled, option.word)
    result.uses.append(use)
    count = value_count(flag)

    def problem(kind: str, word: Word, detail: str = "") -> None:
        result.problems.append(Problem(kind, word, option.spelled, flag, option.matches, detail))

    if option.explicit is not None:
        if count == 0:
            problem("takes-no-value", option.explicit)
        elif isinstance(count, int) and count > 1:
            problem("missing-value", option.word, f"{count} values")
        else:
            use.values = [option.explicit]
        taken = 0
    elif count == "unknown":
        return len(run)
    elif count == 0:
        taken = 0
    elif count in ("*", "+"):
        taken = len(run)
    else:
        taken = min(len(run), count if isinstance(count, int) else 1)
    if option.explicit is None:
        use.values = list(run[:taken])
        needed = {None: 1, "+": 1}.get(count, count if isinstance(count, int) else 0)
        hidden = any(word.splits and not word.known for word in use.values)
        if taken < needed and not may_go_on and not hidden:
            problem("missing-value", option.word, "one value" if needed == 1 else f"{needed} values")
            return taken
    for value in use.values:
        verdict = judge_value(flag, value.text, json_types) if value.known else None
        if verdict:
            problem(verdict[0], value, verdict[1])
    return taken


def judge_value(
    flag: OptionFact, text: str, json_types: frozenset[str] = frozenset()
) -> tuple[str, str] | None:
    """Return ``(kind, detail)`` when argparse would refuse the value, else None. ``json_types`` are the names
    of the version's own ``type=`` functions that parse JSON; of what they then ask for nothing is judged."""
    name = "str" if flag.type is None else flag.type
    if name in json_types or name in ("loads", "json.loads"):
        fault = json_fault(text)
        return ("invalid-json", fault) if fault else None
    convert = CONVERTERS.get(name) if isinstance(name, str) else None
    if convert is None:
        return None
    try:
        value = convert(text)
    except ValueError:
        return "invalid-type", str(name)
    except RecursionError:
        return None
    choices = known_choices(flag)
    if choices is not None and value not in choices:
        return "invalid-choice", ", ".join(map(str, choices))
    return None


def json_fault(text: str) -> str | None:
    """Say what keeps a value from being JSON, None where nothing does, or where it is quoted once more, for a
    shell that the file doesn't show."""
    if text.startswith("'"):
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
    except (ValueError, RecursionError):
        return None
    return None


def known_choices(flag: OptionFact) -> list[Any] | None:
    """Return the accepted values when all of them are known plain values, else None."""
    if not isinstance(flag.choices, list):
        return None
    if any(not (choice is None or isinstance(choice, str | int | float)) for choice in flag.choices):
        return None
    return flag.choices
