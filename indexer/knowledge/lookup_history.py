"""Finding the stories that a name in any spelling stands for."""

from __future__ import annotations

from typing import NamedTuple

from indexer.errors import CannotError
from indexer.knowledge.history import History, exists, load_history, option_strings, value_at
from indexer.knowledge.history_file import Track, spelled
from indexer.knowledge.nearest import nearest
from indexer.knowledge.stories import Story, algorithm_story, env_story, flag_story


def stories(history: History, name: str) -> list[Story]:
    """Return the stories of ``name``: a flag with or without dashes, a dest, an algorithm, a variable.

    A dest that is no option's own name gives the stories of all flags that ever wrote to it.
    """
    word = name.removeprefix("flag:").removeprefix("algorithm:").removeprefix("env:")
    found = [
        flag_story(history, "--" + word.lstrip("-").replace("_", "-").lower()),
        algorithm_story(history, word.upper()),
        env_story(history, word.upper()),
    ]
    known = [story for story in found if story is not None]
    return known or [story for option in _by_dest(history, word) if (story := flag_story(history, option))]


class Abbreviation(NamedTuple):
    """What argparse makes of a shortened option in ``version``, the newest release that takes it for one
    option; ``ambiguous`` are the options it could be in the newest release of all."""

    option: str
    version: str
    ambiguous: list[str]


def abbreviation(history: History, name: str) -> Abbreviation | None:
    """Return what argparse takes ``name`` for where it is no option of its own; None: never anything."""
    prefix = "--" + name.lstrip("-").replace("_", "-").lower()
    newest = _begun(history, prefix, len(history.versions) - 1)
    for at in range(len(history.versions) - 1, -1, -1):
        begun = _begun(history, prefix, at)
        if len(begun) == 1:
            return Abbreviation(begun[0], history.versions[at], newest if len(newest) > 1 else [])
    return None


def elsewhere(kind: str, name: str, version: str) -> str | None:
    """Say which other releases have a flag, variable or algorithm that ``version`` has not, and what took its
    place; None where none ever had it, or where this installation has no history."""
    try:
        history = load_history()
    except CannotError:
        return None
    story = {
        "flag": lambda: flag_story(history, f"--{name}"),
        "env": lambda: env_story(history, name.replace("-", "_").upper()),
        "algorithm": lambda: algorithm_story(history, name.replace("-", "_").upper()),
    }.get(kind, lambda: None)()
    if story is None:
        return None
    order = {one: at for at, one in enumerate(history.versions)}
    at = order.get(version)
    if at is not None and at > order[story.last]:
        new = next((r.text or r.new for r in history.renames if r.old == story.name and not r.likely), None)
        return f"{story.last} was the last release to have it" + (f", use {new}" if new else "")
    if at is not None and at < order[story.first]:
        return f"it came with {story.first}"
    return f"of the releases, {story.first} to {story.last} have it"


def algorithm_names(version: str) -> list[str]:
    """Return the names and aliases of a release's speculative algorithms; none for one not covered.

    Raises:
        CannotError: this installation has no history.
    """
    history = load_history()
    if version not in history.versions:
        return []
    at = history.versions.index(version)
    tracks = [track for track in history.tracks("algorithms") if exists(track, at)]
    return sorted({name for track in tracks for name in (track.name, *value_at(track, "aliases", at, []))})


def _begun(history: History, prefix: str, at: int) -> list[str]:
    tracks = (track for track in history.tracks("flags") if exists(track, at))
    return sorted(o for track in tracks for o in option_strings(track, at) if o.startswith(prefix))


def _by_dest(history: History, dest: str) -> list[str]:
    tracks = [track for track in history.tracks("flags") if dest in _dests(track)]
    return [option_strings(track, track.spans[-1][1])[0] for track in tracks]


def _dests(track: Track) -> list[str]:
    named = [value for _, value in track.values.get("dest", ())]
    return named or [track.constant.get("dest") or spelled(track.name)["dest"]]


def suggestions(history: History, name: str, limit: int = 3) -> list[str]:
    """Return the known names most like ``name``."""
    options = {
        option
        for track in history.tracks("flags")
        for _, last in track.spans
        for option in option_strings(track, last)
    }
    others = {track.name for kind in ("algorithms", "env_vars") for track in history.tracks(kind)}
    aliases = {
        alias
        for track in history.tracks("algorithms")
        for alias in value_at(track, "aliases", track.spans[-1][1], [])
    }
    return nearest(name, sorted(options | others | aliases), limit)
