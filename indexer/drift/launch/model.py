"""What a reader hands to the lints: launches made of located words."""

from __future__ import annotations

from typing import Literal

import msgspec

DYNAMIC = "\ue000"
"""Stands, inside a word, for text the file doesn't tell (a variable, a template)."""

Program = Literal["server", "serve", "embeds", "router", "other-parser", "fragment"]
"""Which parser reads the words.

``server``: exactly the server's parser. ``serve``: ``sglang serve``, whose model decides between the
server's parser and the diffusion one. ``embeds``: the server's options among a program's own.
``router``: the same with the router's. ``fragment``: words that belong to a server by their
spelling only (a list of flags that some other file hands on).
"""


class Word(msgspec.Struct, frozen=True):
    """One argument as the program would receive it, and where its text stands in the file.

    ``start`` and ``end`` are character offsets in the file: the first ``end - start`` characters of
    ``text`` are written there letter by letter, any others elsewhere (a variable) or escaped.
    ``splits`` is True for text that may become any number of arguments (an unquoted variable,
    ``"${ARGS[@]}"``). ``branch`` is not 0 for a word that is there only under a condition.
    """

    text: str
    start: int
    end: int
    splits: bool = False
    branch: int = 0

    @property
    def known(self) -> bool:
        """True when the file tells the whole text."""
        return DYNAMIC not in self.text

    def part(self, begin: int) -> Word:
        """Return the word's text from ``begin`` on, located there when the text is written as is."""
        start = min(self.start + begin, self.end)
        return Word(self.text[begin:], start, self.end, self.splits, self.branch)


class VersionHint(msgspec.Struct, frozen=True):
    """A SGLang version that the file names: an image tag, a requirement, a setting.

    ``version`` is empty for an image whose tag names none (``latest``): it is none that others name.
    """

    version: str
    start: int
    how: str


class Setting(msgspec.Struct, frozen=True):
    """``NAME=value`` for the environment of a launch; ``value`` is None where it isn't told, ``version`` the
    one told for its container."""

    name: str
    value: str | None
    start: int
    end: int
    version: VersionHint | None = None


class Keyword(msgspec.Struct, frozen=True):
    """A keyword argument of ``Engine`` or ``ServerArgs``; ``value`` is None where it isn't told."""

    name: str
    value: object
    known: bool
    start: int
    end: int


class Launch(msgspec.Struct, kw_only=True):
    """One launch, or a piece of one.

    ``open_end`` is True when words may follow that the file doesn't show, so that a last option
    without a value is no mistake; ``partial`` when words may be missing anywhere.
    ``config`` is True for a mapping of options, ``linked`` when a launch names it with ``--config``.
    ``offset`` is where the launch begins, ``version`` the version told for this launch in particular.
    ``direct`` is True for a command of its own, which nothing else in the file hands words to; ``told`` when
    besides no word of it can be missing. ``branched`` is True when the program itself is there only under a
    condition: words of other branches may then belong to another program. ``owned`` is True for a
    list of options whose surroundings (its container's image, the part of a chart it stands in) say that it
    is for SGLang.
    """

    program: Program
    words: list[Word] = []
    keywords: list[Keyword] = []
    open_end: bool = False
    partial: bool = False
    config: bool = False
    linked: bool = False
    offset: int = 0
    entry: str = ""
    version: VersionHint | None = None
    direct: bool = False
    told: bool = False
    branched: bool = False
    owned: bool = False


class FileLaunches(msgspec.Struct, kw_only=True):
    """What one file holds."""

    launches: list[Launch] = []
    settings: list[Setting] = []
    versions: list[VersionHint] = []
    notes: list[str] = []
