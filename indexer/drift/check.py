"""Checking files: which version each launch is judged against, and where findings stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from indexer.drift.launch.model import FileLaunches, Launch, VersionHint
from indexer.drift.launch.read import Unreadable, load, read_launches
from indexer.drift.lint.config_keys import judge_config
from indexer.drift.lint.continued import LINE_BY_LINE, broken_continuations
from indexer.drift.lint.engines import DISTINCTIVE, GENERIC, options_of_sglang, starts_vllm
from indexer.drift.lint.env_settings import judge_settings
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.judge import judge_launch
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.serve import OTHER, SERVER, reader
from indexer.drift.lint.whole import note_completeness
from indexer.drift.report.record import HINT, START, Finding, Unread
from indexer.knowledge.nearest import nearest

if TYPE_CHECKING:
    from indexer.drift.config_files import ConfigFiles

Extra = Callable[[Launch, FileLaunches, str], list[Raw]]
"""More findings for a launch on a version: conflicts of its options."""


class FileResult(msgspec.Struct, kw_only=True):
    """What one file gave; ``failed`` is what of ``unread`` is about the file's own text: it could not be
    read, or not to its end. ``edits`` are ``(start, end, new text)`` in characters of ``text``."""

    file: str
    findings: list[Finding] = []
    versions: list[str] = []
    origin: str = ""
    unread: list[Unread] = []
    launches: int = 0
    edits: list[tuple[int, int, str]] = []
    text: str | None = None
    failed: list[Unread] = []

    @classmethod
    def of_unread(cls, file: str, reason: str) -> FileResult:
        """Return what a file gives of which nothing can be read."""
        unread = [Unread(file, reason)]
        return cls(file=file, unread=unread, failed=unread[:])


class Checker:
    """Checks files against ``versions``, or, where that is empty, against the version that the file
    names and else against ``default``. ``keeps_texts`` is True where a text is asked for even of files
    without findings. ``extras`` are asked in turn as long as nothing keeps the launch from starting, those in
    ``always`` in any case."""

    keeps_texts = False

    def __init__(
        self,
        timeline: Timeline,
        versions: Sequence[str],
        default: str,
        extras: Sequence[Extra] = (),
        always: Sequence[Extra] = (),
    ) -> None:
        self.timeline = timeline
        self.asked = list(versions)
        self.default = default
        self.extras = extras
        self.always = always
        self.origin = "as asked"
        self.beside: Sequence[Path] = ()

    def check_path(self, path: Path, name: str, kind: str | None = None) -> FileResult:
        """Check a file on disk; ``name`` is how it is called in the output."""
        try:
            text, found_kind = load(path)
        except Unreadable as error:
            return FileResult.of_unread(name, str(error))
        try:
            return self.check_text(text, kind or found_kind, name, path)
        except Exception as error:
            # One file that trips a reader must not cost the findings in all the others.
            reason = f"our reader failed ({type(error).__name__}: {error}); please report it"
            return FileResult.of_unread(name, " ".join(reason.split()))

    def check_text(self, text: str, kind: str, name: str, path: Path | None = None) -> FileResult:
        """Check a text of a kind (``shell``, ``yaml``, ...); ``path`` is where it is from, if from a file."""
        result = FileResult(file=name, text=text)
        if not worth_reading(text, kind):
            return result
        found = read_launches(text, kind)
        result.unread = [Unread(name, note) for note in found.notes]
        result.failed = list(result.unread)
        launches = self.servers(found, text)
        result.launches = len(launches)
        places = Places(text)
        around = _around(path, kind) if path is not None and not self.asked else None
        configs = self._configs(path, text)
        judged: dict[str, list[Raw]] = {}
        origins: list[str] = []
        for launch in launches:
            note_completeness(launch, text, kind)
            for version, origin in self.versions_of(launch, found, places, result, around):
                raws = judged.setdefault(version, [])
                raws += self.judge_with_config(launch, found, version, configs)
                if kind in LINE_BY_LINE:
                    raws += broken_continuations(launch, text, kind, self.timeline.table(version))
                origins.append(origin)
        if not launches and found.settings:
            alone = Launch(program="fragment", offset=len(text))
            for version, origin in self.versions_of(alone, found, places, result, around):
                judged[version] = []
                origins.append(origin)
        for setting in () if self.asked else found.settings:
            if setting.version is not None and setting.version.version in self.timeline.position:
                judged.setdefault(setting.version.version, [])
                origins.append(f"{setting.version.how} on line {places.line(setting.version.start)}")
        for raw in self.judge_others(found):
            result.findings.append(places.finding(raw, name, self.asked[-1] if self.asked else self.default))
        for version in judged:
            judged[version] += self.judge_environment(found, version)
        result.versions = sorted(judged, key=self.timeline.position.__getitem__)
        result.origin = ", ".join(dict.fromkeys(origins))
        for version in result.versions:
            for raw in _unique(judged[version]):
                config = configs.file_at(raw.start) if configs else None
                if config is not None:
                    raw.start, raw.end = raw.start - config.begin, raw.end - config.begin
                    result.findings.append(Places(config.text).finding(raw, config.name, version))
                    continue
                result.findings.append(places.finding(raw, name, version))
                if raw.fix is not None:
                    result.edits.append((raw.start, raw.end, raw.fix))
        if configs is not None and not any(launch.linked for launch in found.launches):
            result.unread += [Unread(name, note) for note in configs.notes]
        return result

    def _configs(self, path: Path | None, text: str) -> ConfigFiles | None:
        """Return the files that launches name with ``--config``, None where none can."""
        if path is None or "--config" not in text:
            return None
        from indexer.drift.config_files import ConfigFiles

        return ConfigFiles(
            path, text, self.beside, lambda launch: belongs(launch, self.timeline, about_sglang=True)
        )

    def judge_with_config(
        self, launch: Launch, found: FileLaunches, version: str, configs: ConfigFiles | None
    ) -> list[Raw]:
        """Return what is wrong with a launch and the file that it names with ``--config``."""
        config = configs.of(launch) if configs is not None else None
        if config is None:
            return self.judge(launch, found, version)
        from indexer.drift.config_files import merged

        both = merged(launch, config, version, self.timeline)
        if both is None:
            return self.judge(launch, found, version)
        raws = self.judge(both[0], found, version)
        return [*both[1], *(_as_config(raw) if raw.start >= config.begin else raw for raw in raws)]

    def judge(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return what is wrong with a launch on a version."""
        raws = judge_launch(launch, version, self.timeline)
        for extra in self.always:
            raws += extra(launch, found, version)
        told = launch.program != "serve" or reader(launch, self.timeline, version) == SERVER
        for extra in self.extras if told else ():
            if not any(raw.level == START for raw in raws):
                raws += extra(launch, found, version)
        if not launch.config:
            return raws
        refused = judge_config(launch, version, self.timeline) if launch.linked else []
        return refused + [_as_config(raw) for raw in raws]

    def judge_environment(self, found: FileLaunches, version: str) -> list[Raw]:
        """Return what is wrong with the file's environment variables on a version."""
        told = self.timeline.position if not self.asked else ()
        settings = [
            one
            for one in found.settings
            if one.version is None or one.version.version == version or one.version.version not in told
        ]
        return judge_settings(settings, version, self.timeline)

    def judge_others(self, found: FileLaunches) -> Iterator[Raw]:
        """Yield the options of SGLang's that vLLM is started with; what its parser takes isn't known here."""
        for launch in filter(starts_vllm, found.launches):
            for word, option, theirs in options_of_sglang(launch.words, self.timeline.spellings):
                message = f"{option} is an option of SGLang, and this starts vLLM"
                message += f"; vLLM's is {theirs}" if theirs else ""
                end = max(word.start + 1, min(word.end, word.start + len(option)))
                yield Raw("wrong-engine-flag", HINT, message, word.start, end, option, theirs)

    def servers(self, found: FileLaunches, text: str) -> list[Launch]:
        """Return the launches whose words a server's parser reads."""
        about_sglang = "sglang" in text.lower()
        return [
            launch
            for launch in found.launches
            if launch.program != "other-parser"
            and not (launch.program in ("serve", "fragment") and reader(launch, self.timeline) == OTHER)
            and (launch.program != "fragment" or belongs(launch, self.timeline, about_sglang))
        ]

    def versions_of(
        self,
        launch: Launch,
        found: FileLaunches,
        places: Places,
        result: FileResult,
        around: tuple[str, str] | None = None,
    ) -> list[tuple[str, str]]:
        """Return ``(version, where it is from)`` for each version a launch is judged against; ``around`` is
        the one that the file's surroundings tell."""
        if self.asked:
            return [(version, self.origin) for version in self.asked]
        hint = launch.version
        told = [one for one in found.versions if one.version]
        if hint is None and (own := self._image_of(launch, found, places)) is not None:
            hint = own
        elif hint is None and told:
            before = [one for one in told if one.start <= launch.offset]
            hint = told[0] if len({one.version for one in told}) == 1 else (before[-1] if before else None)
        if hint is None and around is not None and around[0] in self.timeline.position:
            return [around]
        if hint is None:
            return [(self.default, "newest covered; the file names no version")]
        line = places.line(hint.start)
        if not hint.version:
            return [(self.default, f"newest covered; the image on line {line} names no version")]
        if hint.version in self.timeline.position:
            return [(hint.version, f"{hint.how} on line {line}")]
        note = f"SGLang {hint.version} ({hint.how} on line {line}) is not covered: launch not checked"
        if all(item.reason != note for item in result.unread):
            result.unread.append(Unread(result.file, note))
        return []

    @staticmethod
    def _image_of(launch: Launch, found: FileLaunches, places: Places) -> VersionHint | None:
        """Return the image in the launch's own command line (``docker run IMAGE …``)."""
        same = [
            one
            for one in found.versions
            if one.how == "image tag"
            and one.start <= launch.offset
            and places.joined(one.start, launch.offset)
        ]
        return same[-1] if same else None


def _around(path: Path, kind: str) -> tuple[str, str] | None:
    """Return the version that the chart around a file tells."""
    if kind != "yaml":
        return None
    from indexer.drift.launch.chart import chart_version

    return chart_version(path)


_WORTH = re.compile(r"sglang|SGL_|SGLANG_|speculative[-_]|mem[-_]fraction|--[a-z]+-[a-z]", re.IGNORECASE)


_WORTH_PYTHON = re.compile(
    r"launch_server|sglang serve|sglang\.(bench|compile)|dynamo\.sglang|sglang_router|[\"'`]\s*--[a-z]"
    r"|\b(Engine|Runtime|ServerArgs)\(|SGL(ANG)?_[A-Z]"
)


def worth_reading(text: str, kind: str = "") -> bool:
    """A cheap test that leaves out files without any trace of a launch."""
    return (_WORTH_PYTHON if kind == "python" else _WORTH).search(text) is not None


_MIN_KNOWN = 0.6
"""Of a fragment's options, this part must be the server's."""


def belongs(launch: Launch, timeline: Timeline, about_sglang: bool) -> bool:
    """Whether a list of options without a program is a server's.

    It is when most of its options are ones that some version declares, and some of these are not
    shared with other engines; or where its surroundings or one of its options say so, and most are at least
    like ones.
    """
    spellings = timeline.spellings
    if launch.keywords:
        names = ["--" + keyword.name.replace("_", "-") for keyword in launch.keywords]
    else:
        names = [word.text.partition("=")[0] for word in launch.words if word.text.startswith("--")]
    if not names or is_prose([word.text for word in launch.words]):
        return False
    shortest = len("--tp") + (not about_sglang)
    known = [n for n in names if n in spellings or (len(n) >= shortest and _is_prefix(n, timeline))]
    plain = not (launch.config or launch.keywords)
    if launch.owned or (plain and not DISTINCTIVE.isdisjoint(names)):
        like = [n for n in names if n not in known and nearest(n, spellings, 1)]
        return len(known) + len(like) >= _MIN_KNOWN * len(names)
    own = [name for name in known if name not in GENERIC]
    needed = 1 if about_sglang and not launch.keywords else 2
    return len(own) >= needed and len(known) >= _MIN_KNOWN * len(names)


_SENTENCE = re.compile(r"^[A-Za-z(`'][\w()`'/-]*[.,;:]$")
_PLAIN = re.compile(r"^[a-z]+$")
_PROSE_RUN = 3


def is_prose(words: Sequence[str]) -> bool:
    """Whether words that begin with an option are a sentence about it (``--x must be ...``)."""
    run = 0
    for word in words:
        if _SENTENCE.match(word):
            return True
        run = run + 1 if _PLAIN.match(word) else 0
        if run >= _PROSE_RUN:
            return True
    return False


def _is_prefix(name: str, timeline: Timeline) -> bool:
    return bool(timeline.table(timeline.versions[-1]).matches(name))


def _as_config(raw: Raw) -> Raw:
    """A mapping's keys are written without dashes."""
    raw.flag = raw.flag.removeprefix("--") if raw.flag else raw.flag
    raw.replacement = raw.replacement.removeprefix("--") if raw.replacement else raw.replacement
    raw.fix = raw.fix.removeprefix("--") if raw.fix else raw.fix
    return raw


def _unique(raws: Iterable[Raw]) -> list[Raw]:
    seen: dict[tuple[object, ...], Raw] = {}
    for raw in raws:
        seen.setdefault((raw.code, raw.start, raw.flag), raw)
    return list(seen.values())


class Places:
    """Offsets to lines and columns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect_right(self.starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        line = self.line(offset)
        return line, offset - self.starts[line - 1] + 1

    def joined(self, start: int, end: int) -> bool:
        """Whether no line ends between two offsets, but for continued ones."""
        return re.search(r"(?<!\\)\n", self.text[start:end]) is None

    def finding(self, raw: Raw, file: str, version: str) -> Finding:
        """Return the finding with its place."""
        line = self.line(raw.start)
        begin = self.starts[line - 1]
        end = self.text.find("\n", begin)
        source = self.text[begin : end if end >= 0 else len(self.text)]
        return Finding(
            code=raw.code,
            level=raw.level,
            file=file,
            line=line,
            column=raw.start - begin + 1,
            message=raw.message,
            version=version,
            flag=raw.flag,
            replacement=raw.replacement,
            at=raw.at,
            width=max(1, min(raw.end - raw.start, len(source) - (raw.start - begin))),
            source_line=source.rstrip("\r"),
        )
