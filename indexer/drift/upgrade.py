"""``--upgrade OLD..NEW``: what going from one version to another does to a file's launches."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.drift.change import DOC
from indexer.drift.check import Checker, Extra
from indexer.drift.launch.model import FileLaunches, Launch
from indexer.drift.lint.argv import Use, walk
from indexer.drift.lint.facts import OptionFact, Timeline, show
from indexer.drift.lint.raw import Raw
from indexer.drift.report.record import HINT, MEANING

_TOLD_OF_VARIABLES = {
    "env-removed": "stale-env",
    "env-undeclared": "stale-env",
    "env-unread": "stale-env",
    "env-deprecated": "deprecated-flag",
    "env-type": "changed-flag",
}


class UpgradeChecker(Checker):
    """Judges each launch on the newer version and leaves out what the older one already says.

    What starts on both but means something else is told too: a word that is taken for another
    option, a setting that moved, a value that is read as another type.
    """

    def __init__(
        self,
        timeline: Timeline,
        ends: tuple[str, str],
        extras: Sequence[Extra] = (),
        always: Sequence[Extra] = (),
    ) -> None:
        super().__init__(timeline, [ends[1]], ends[1], extras, always)
        self.old, self.new = ends
        self.origin = f"upgrade from {self.old}"

    def judge(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return what is new on ``version`` against the older one."""
        known = {_key(raw) for raw in super().judge(launch, found, self.old)}
        fresh = [raw for raw in super().judge(launch, found, version) if _key(raw) not in known]
        return fresh + self.changed(launch)

    def judge_environment(self, found: FileLaunches, version: str) -> list[Raw]:
        """Return what ``indexer drift`` tells of the file's variables between the two versions: a default
        that changed is none of a file that sets another value."""
        raws = []
        for setting in found.settings:
            for change in self.timeline.facts.env_changes(self.old, self.new).get(setting.name, ()):
                if change.code in _TOLD_OF_VARIABLES:
                    was = f"{show(change.old_at)} in {self.old}" if change.old_at else None
                    at = show(change.new_at) or was
                    level = HINT if change.level == DOC else change.level
                    code = _TOLD_OF_VARIABLES[change.code]
                    place = (setting.start, setting.end, setting.name)
                    raws.append(Raw(code, level, change.message, *place, change.replacement, at))
        return raws

    def changed(self, launch: Launch) -> list[Raw]:
        """Return the options that both versions take, but not for the same thing."""
        before = walk(launch.words, self.timeline.table(self.old), open_end=True).uses
        after = {
            use.word.start: use
            for use in walk(launch.words, self.timeline.table(self.new), open_end=True).uses
        }
        found = []
        for use in before:
            now = after.get(use.word.start)
            difference = _difference(use, now.flag) if now is not None else None
            if now is not None and difference is not None:
                found.append(
                    Raw(
                        "changed-flag",
                        MEANING,
                        f"{use.spelled} {difference} in SGLang {self.new}",
                        use.word.start,
                        max(use.word.end, use.word.start + 1),
                        flag=use.spelled,
                        at=show(now.flag.declared_at),
                    )
                )
        return found


def _key(raw: Raw) -> tuple[str, int, str | None]:
    return raw.code, raw.start, raw.flag


def _difference(use: Use, now: OptionFact) -> str | None:
    """Say how an option that both versions accept differs, or None.

    A setting that is only called otherwise inside SGLang is no difference for a command.
    """
    old = use.flag
    if not set(old.option_strings) & set(now.option_strings) and now.dest != old.dest:
        return f"was taken for {old.option_strings[0]} and now is taken for {now.option_strings[0]}"
    if isinstance(old.type, str) and isinstance(now.type, str) and old.type != now.type:
        return f"was read as {old.type} and now is read as {now.type}"
    if old.nargs != now.nargs:
        return "takes another number of values"
    return None
