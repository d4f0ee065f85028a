"""Finding the stories that a name in any spelling stands for."""

from __future__ import annotations

from typing import NamedTuple

from indexer.knowledge.facts import FlagFact
from indexer.knowledge.history import History, exists, load_history, option_strings, value_at
from indexer.knowledge.history_file import Track, spelled
from indexer.knowledge.nearest import bare, nearest, plain
from indexer.knowledge.stories import Story, algorithm_story, env_story, flag_story
from indexer.knowledge.values import plain_form


def stories(history: History, name: str) -> list[Story]:
    """Return the stories of ``name``: a flag with or without dashes, a dest, an algorithm, a variable.

    A dest that is no option's own name gives the stories of all flags that ever wrote to it; a name that is
    only cut into words differently (``eagle-3``, ``tp size``) those of what is spelled with its letters.
    """
    word = bare(name.removeprefix("flag:").removeprefix("algorithm:").removeprefix("env:"))
    return _stories(history, word) or [
        story
        for known in _names(history)
        if plain(word) and plain(known) == plain(word)
        for story in _stories(history, known)
    ]


def _stories(history: History, word: str) -> list[Story]:
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


class Choice(NamedTuple):
    """When a value was among the listed choices of an option, as first and last releases of each stretch, and
    all choices that any release ever listed."""

    stretches: list[tuple[str, str]]
    ever: list[str]


def choice(history: History, option: str, value: str) -> Choice:
    """Return when an option took a value by its listed choices."""
    stretches: list[tuple[str, str]] = []
    ever: dict[str, None] = {}
    before = None
    for at, track in sorted(history.owners(option).items()):
        listed = history.fact(track, FlagFact, at, places=False).choices
        taken = [plain_form(one) for one in listed] if isinstance(listed, list) else []
        ever |= dict.fromkeys(taken)
        if value in taken:
            version = history.versions[at]
            since = stretches.pop()[0] if before == at - 1 else version
            stretches.append((since, version))
            before = at
    return Choice(stretches, list(ever))


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
    return nearest(bare(name), _names(history), limit)


def _names(history: History) -> list[str]:
    """Return every name that a story can be told of."""
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
    return sorted(options | others | aliases)
