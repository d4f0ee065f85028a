"""The history file: many versions of the same facts, folded into intervals.

A version is an index into ``releases``. A ``Track`` is one fact followed through them:

- ``spans``: the inclusive index ranges in which it exists;
- ``values``: attribute → ``[[index, value], ...]``, each value holding from its index until the next
  one; before the first, and for an attribute that is not listed, the fact's own default holds.
  A flag's ``option_strings`` and ``dest`` are left out where its track's name gives them;
- ``constant``: attribute → value, of those that have one value from the first version on;
- ``places``: location attribute → ``[[first, last, path, line], ...]``, the stretches of consecutive
  versions in one file; ``path`` is an index into ``paths``, ``line`` the line in the last of them. The lines
  before are told by ``moves`` (``history_lines``). Of a variable that no version declares, only where each
  stretch begins is kept.

A flag's choices are kept once for all flags and versions, in ``lists``, as the indexes of their texts in
``texts``; in the track stands ``{"list": index}``.

In the file these have one-letter keys: there are thousands of tracks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import CannotError
from indexer.knowledge.history_lines import Move, Stretch

HISTORY_SCHEMA = 3


LOCATED = ("flags", "algorithms", "env_vars")
"""Kinds whose facts have places, in the order in which ``moves`` counts them."""
LIST = "list"
"""The key that stands for a list kept elsewhere."""


class Release(msgspec.Struct, frozen=True, omit_defaults=True):
    """A covered release and the wheel it was read from."""

    version: str
    artifact: str | None = None
    sha256: str | None = None


class Track(
    msgspec.Struct,
    omit_defaults=True,
    rename={"name": "n", "spans": "s", "values": "v", "places": "p", "constant": "c"},
):
    """One fact through the versions; see the module's text for the encoding."""

    name: str
    spans: list[tuple[int, int]]
    values: dict[str, list[tuple[int, Any]]] = {}
    places: dict[str, list[Stretch]] = {}
    constant: dict[str, Any] = {}


def spelled(name: str) -> dict[str, Any]:
    """Return the attributes that a flag's track leaves out when they follow from its name."""
    return {"option_strings": [f"--{name}"], "dest": name.replace("-", "_")}


class Rename(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """``old`` gave way to ``new`` at the release of index ``at``.

    ``how`` names the evidence: ``deprecated`` (the tree names the replacement), ``alias`` (one flag
    had both spellings), ``dest`` (another option string for the same dest), ``message`` (a message of
    the resolver), ``likely`` (similar name with equal type, default and choices). ``text`` is what
    the tree says to use, where that is more than ``new``. ``old_at`` in the release before and ``new_at`` in
    that release are ``[index into paths, line]``.
    """

    kind: str
    old: str
    new: str
    at: int
    how: str
    old_at: tuple[int, int] | None = None
    new_at: tuple[int, int] | None = None
    text: str | None = None

    @property
    def likely(self) -> bool:
        """Whether this is a guess from similarity."""
        return self.how == "likely"


class HistoryFile(msgspec.Struct, omit_defaults=True):
    """All that is kept."""

    schema: int
    releases: list[Release]
    paths: list[str] = []
    flags: list[Track] = []
    algorithms: list[Track] = []
    env_vars: list[Track] = []
    fields: list[Track] = []
    renames: list[Rename] = []
    generator: str = ""
    moves: list[Move] = []
    texts: list[str] = []
    lists: list[list[int]] = []

    def stretches(self) -> list[Stretch]:
        """Return the places of all tracks in the order in which ``moves`` counts them."""
        return [
            one
            for kind in LOCATED
            for track in getattr(self, kind)
            for attribute in sorted(track.places)
            for one in track.places[attribute]
        ]

    def listed(self, value: Any) -> Any:
        """Return a track's value with its list in place of the list's index."""
        if isinstance(value, dict) and (index := value.get(LIST)) is not None:
            return [self.texts[one] for one in self.lists[index]]
        return value


def encode(history: HistoryFile) -> bytes:
    """Return the file's bytes: JSON, one track a line so that a new release makes a readable diff."""
    encoder = msgspec.json.Encoder(order="deterministic")
    parts = []
    for name in HistoryFile.__struct_fields__:
        value = getattr(history, name)
        if isinstance(value, list):
            rows = b",\n".join(encoder.encode(row) for row in value)
            parts.append(b'"%s":[\n%s\n]' % (name.encode(), rows))
        else:
            parts.append(b'"%s":%s' % (name.encode(), encoder.encode(value)))
    return b"{" + b",\n".join(parts) + b"}\n"


def read_history_file(path: Path) -> HistoryFile:
    """Read a history file.

    Raises:
        CannotError: it can't be read, is damaged, or has another schema version.
    """
    rebuild = "rebuild it with `indexer history build`"
    try:
        raw = path.read_bytes()
        found = msgspec.json.decode(raw, type=HistoryFile)
    except OSError as error:
        raise CannotError(f"{path} can't be read ({error.strerror})", rebuild) from error
    except msgspec.MsgspecError as error:
        stated = _stated_schema(raw)
        if stated is None or stated == HISTORY_SCHEMA:
            raise CannotError(f"{path} is not a history file ({error})", rebuild) from error
    else:
        stated = found.schema
        if stated == HISTORY_SCHEMA:
            return found
    raise CannotError(f"{path} has history schema {stated}, this indexer reads {HISTORY_SCHEMA}", rebuild)


def _stated_schema(raw: bytes) -> int | None:
    try:
        return msgspec.json.decode(raw, type=_Header).schema
    except msgspec.MsgspecError:
        return None


class _Header(msgspec.Struct):
    schema: int
