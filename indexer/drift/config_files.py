"""The file that a launch names with ``--config``, read together with it as the release's own reader does.

Its words are counted behind the launch file's text, so that a finding's offset tells which file it is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import yaml

from indexer.drift.launch.keys import ConfigKey, config_keys
from indexer.drift.launch.located import whole
from indexer.drift.launch.model import Launch, Word
from indexer.drift.launch.read import Unreadable, load
from indexer.drift.lint.argv import walk
from indexer.drift.lint.config_keys import judge_config, switches
from indexer.drift.lint.facts import Timeline, VersionTable
from indexer.drift.lint.raw import Raw

_OPTION = "--config"
_KINDS = (".yaml", ".yml")
_ABSENT = "there is no such file beside it"


@dataclass(slots=True)
class ConfigFile:
    """A file of options: ``begin`` is where its text is counted from."""

    name: str
    text: str
    begin: int
    keys: list[ConfigKey]


class ConfigFiles:
    """The files that the launches of one launch file name; ``named`` are others that are checked in the same
    run, of which one with the right name is taken if ``ours`` finds options of the server in it; ``notes``
    say what was not read."""

    def __init__(self, path: Path, text: str, named: Sequence[Path], ours: Callable[[Launch], bool]) -> None:
        self.path = path
        self.named = named
        self.ours = ours
        self.notes: list[str] = []
        self.files: list[ConfigFile] = []
        self._end = len(text) + 1
        self._known: dict[str, ConfigFile | None] = {}

    def of(self, launch: Launch) -> ConfigFile | None:
        """Return the file that a launch names, None where it names none that can be read."""
        words = [word.text for word in launch.words]
        if launch.program not in ("server", "serve") or words.count(_OPTION) != 1:
            return None
        at = words.index(_OPTION) + 1
        if at >= len(words) or not launch.words[at].known:
            return None
        if words[at] not in self._known:
            self._known[words[at]] = self._read(words[at])
        return self._known[words[at]]

    def _read(self, written: str) -> ConfigFile | None:
        beside = self.path.parent / written
        path = beside if _is_file(beside) else self._of_that_name(written)
        try:
            if path is None or path.suffix.lower() not in _KINDS:
                raise Unreadable(_ABSENT if path is None else "it is no YAML")
            text = load(path)[0]
            keys = config_keys(whole(text))
            if path is not beside and not self.ours(_as_launch(keys)):
                raise Unreadable(_ABSENT)
        except (Unreadable, yaml.YAMLError, RecursionError) as error:
            reason = str(error) if isinstance(error, Unreadable) else "it is no valid YAML"
            self.notes.append(f"{_OPTION} {written}: {reason}")
            return None
        found = ConfigFile(path.as_posix(), text, self._end, keys)
        self._end += len(text) + 1
        self.files.append(found)
        return found

    def _of_that_name(self, written: str) -> Path | None:
        """Return the only file of this name among those checked too: the path may be a container's."""
        found = [one for one in self.named if one.name == Path(written).name and _is_file(one)]
        return found[0] if len(found) == 1 else None

    def file_at(self, offset: int) -> ConfigFile | None:
        """Return the file in which an offset is, None for the launch file itself."""
        return next((one for one in reversed(self.files) if offset >= one.begin), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that may not be looked into, a name that is too long
        return False


def _as_launch(keys: Sequence[ConfigKey]) -> Launch:
    return Launch(program="fragment", words=[key.word for key in keys], config=True)


def merged(
    launch: Launch, config: ConfigFile, version: str, timeline: Timeline
) -> tuple[Launch, list[Raw]] | None:
    """Return a launch with the words of its file before its own, and the keys that the version refuses; None
    where the version's reader isn't known to do so."""
    if timeline.facts.config_rule(version) not in ("by-dest", "by-key"):
        return None
    table = timeline.table(version)
    at = next(index for index, word in enumerate(launch.words) if word.text == _OPTION)
    own = [*launch.words[:at], *launch.words[at + 2 :]]
    model = own[:1] if launch.program == "serve" and own and not own[0].text.startswith("-") else []
    flags = switches(version, timeline)
    pairs = [(key.word, list(_shifted(key, config.begin, flags))) for key in config.keys]
    words = [word for _, shifted in pairs for word in shifted]
    refused = judge_config(Launch(program="fragment", words=words, config=True), version, timeline)
    places = {raw.start for raw in refused}
    given = {use.flag.dest for use in walk(own, table, open_end=True).uses}
    kept = [
        word
        for key, shifted in pairs
        if not places & {one.start for one in shifted[:1]} and _dest(key, table) not in given
        for word in shifted
    ]
    return msgspec.structs.replace(launch, words=[*model, *kept, *own[len(model) :]]), refused


def _dest(key: Word, table: VersionTable) -> str | None:
    flag = table.by_option.get(key.text)
    return flag.dest if flag else None


def _shifted(key: ConfigKey, begin: int, switches: frozenset[str]) -> Iterator[Word]:
    """Yield the words that the reader makes of a key."""
    is_switch = key.word.text[2:].replace("-", "_") in switches
    if key.truth is not None and is_switch and not key.truth:
        return
    values = key.values if not (key.truth is not None and is_switch) else []
    for word in [key.word, *values] if values or not key.is_list else []:
        yield Word(word.text, word.start + begin, word.end + begin, word.splits)
