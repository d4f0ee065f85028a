"""``invalid-choice`` of a speculative algorithm where the release's parser takes any name.

Its resolver then looks the name up and refuses it, whatever else is wrong with the launch.
"""

from __future__ import annotations

from collections.abc import Callable

from indexer.drift.launch.model import FileLaunches, Launch
from indexer.drift.lint.argv import known_choices, walk
from indexer.drift.lint.facts import Timeline, show
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.serve import words_of_parser
from indexer.knowledge.nearest import nearest
from indexer.knowledge.rehearsal import Rehearsals

ALGORITHM = "speculative_algorithm"
_BEGINNING = "--speculative-a"


class UnknownAlgorithm:
    """Findings for algorithms that a release has not; ``load`` gives its facts when a launch names one."""

    def __init__(self, timeline: Timeline, load: Callable[[], Rehearsals]) -> None:
        self.timeline = timeline
        self.load = load

    def __call__(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return the findings for one launch on one version."""
        if launch.program not in ("server", "serve") or launch.open_end or launch.config:
            return []
        if not any(word.text.startswith(_BEGINNING) for word in launch.words):
            return []
        walked = walk(words_of_parser(launch.program, launch.words), self.timeline.table(version))
        uses = [use for use in walked.uses if use.flag.dest == ALGORITHM and use.values]
        if not uses or walked.opaque or any(known_choices(use.flag) is not None for use in uses):
            return []
        use, known = uses[-1], self.load().algorithms(version)  # the last one counts
        name, known_names = use.values[0].text, [one.upper() for one in known]
        if not known or not use.values[0].known or name.upper() in known_names or name.lower() == "none":
            return []
        word = use.word
        return [
            Raw(
                "invalid-choice",
                LINTS["invalid-choice"].level,
                f"SGLang {version} has no speculative algorithm {name} (but a plugin may add one); "
                f"it has {', '.join(known)}",
                word.start,
                max(word.start + 1, min(word.end, word.start + len(use.spelled))),
                flag=use.spelled,
                replacement=next(iter(nearest(name, known, 1)), None),
                at=show(use.flag.declared_at),
            )
        ]
