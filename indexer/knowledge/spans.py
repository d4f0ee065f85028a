"""Releases as people write them: one (``v0.5.9``, ``latest``), or a span ``A..B`` of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexer.errors import UsageError

if TYPE_CHECKING:
    from packaging.version import Version

_LATEST = "latest"


def covered(version: str, versions: Sequence[str]) -> str:
    """Return the covered version that ``version`` names; ``versions`` are all, oldest first.

    Raises:
        UsageError: it is not covered; the message names its neighbours.
    """
    plain = _plain(version, versions)
    if plain in versions:
        return plain
    wanted = _number(plain)
    before = [known for known in versions if _number(known) < wanted]
    after = [known for known in versions if _number(known) > wanted]
    between = f"nearest: {before[-1]} and {after[0]}" if before and after else _all(versions)
    raise UsageError(f"SGLang {version} is not covered", between)


def versions_between(span: str, versions: Sequence[str], option: str = "--versions") -> list[str]:
    """Return the covered versions from A to B, both included; an open end means the first or last, one
    between two releases the next one inside.

    Raises:
        UsageError: the span can't be read, begins or ends outside of what is covered, or holds no release.
    """
    first, dots, last = span.partition("..")
    if not dots:
        example = f"{option} {versions[0]}..{versions[-1]}, or {option} {versions[-1]}.."
        raise UsageError(f"{option} {span}: not A..B", f"for example {example}")
    begin, end = (_plain(first or versions[0], versions), _plain(last or versions[-1], versions))
    low, high, numbers = _number(begin), _number(end), [_number(known) for known in versions]
    if low > high:
        raise UsageError(f"{option} {span}: {begin} is newer than {end}", f"write {end}..{begin}")
    for one, number in ((first, low), (last, high)):
        if not numbers[0] <= number <= numbers[-1]:
            raise UsageError(f"{option} {span}: SGLang {one} is not covered", _all(versions))
    found = [known for known, number in zip(versions, numbers, strict=True) if low <= number <= high]
    if not found:
        raise UsageError(f"{option} {span}: no release lies between them", _all(versions))
    return found


def _plain(version: str, versions: Sequence[str]) -> str:
    plain = version.strip().removeprefix("v")
    return versions[-1] if plain == _LATEST else plain


def _number(version: str) -> Version:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version)
    except InvalidVersion:
        raise UsageError(f"{version!r} is no version", "write it like 0.5.9") from None


def _all(versions: Sequence[str]) -> str:
    return f"covered: {versions[0]} to {versions[-1]}"
