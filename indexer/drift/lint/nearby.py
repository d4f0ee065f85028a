"""A version as people write it, among the covered ones."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.errors import UsageError


def covered(version: str, versions: Sequence[str]) -> str:
    """Return the covered version that ``version`` names (``v0.5.9``, ``latest``).

    Raises:
        UsageError: it is not covered; the message names its neighbours.
    """
    plain = version.strip().removeprefix("v")
    if plain == "latest":
        return versions[-1]
    if plain in versions:
        return plain
    from packaging.version import InvalidVersion, Version

    fix = f"covered: {versions[0]} to {versions[-1]}"
    try:
        wanted = Version(plain)
    except InvalidVersion:
        raise UsageError(f"{version!r} is no version", fix) from None
    before = [known for known in versions if Version(known) < wanted]
    after = [known for known in versions if Version(known) > wanted]
    if before and after:
        fix = f"nearest: {before[-1]} and {after[0]}"
    raise UsageError(f"SGLang {version} is not covered", fix)
