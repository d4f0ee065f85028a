"""Which releases a span ``A..B`` means."""

from __future__ import annotations

from indexer.errors import UsageError


def versions_between(span: str) -> list[str]:
    """Return the known releases from A to B, both included; an open end means the first or last.

    Raises:
        UsageError: the span can't be read or holds no release.
    """
    from packaging.version import InvalidVersion, Version

    from indexer.knowledge.history import load_history

    first, dots, last = span.partition("..")
    if not dots:
        raise UsageError(f"--versions {span}: not A..B")
    try:
        low = Version(first.removeprefix("v")) if first else None
        high = Version(last.removeprefix("v")) if last else None
    except InvalidVersion as error:
        raise UsageError(f"--versions {span}: {error}") from error
    known = sorted(load_history().versions, key=Version)
    found = [
        version
        for version in known
        if (low is None or Version(version) >= low) and (high is None or Version(version) <= high)
    ]
    if low is not None and high is not None and low > high:
        raise UsageError(f"--versions {span}: {low} is the later one", f"write {high}..{low}")
    if not found:
        raise UsageError(f"no known release lies in {span}", f"known are {known[0]} to {known[-1]}")
    return found
