"""``refused``: options that argparse takes as text and every server parses as JSON while it starts."""

from __future__ import annotations

from indexer.drift.launch.model import FileLaunches, Launch
from indexer.drift.lint.argv import json_fault, walk
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.serve import words_of_parser


class JsonTexts:
    """Findings for values that are no JSON; what stands in the value is never judged."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline

    def __call__(self, launch: Launch, found: FileLaunches, version: str) -> list[Raw]:
        """Return the findings for one launch on one version."""
        places = self.timeline.facts.json_options(version)
        words = words_of_parser(launch.program, launch.words)
        if not places or not any("json" in word.text or "config" in word.text for word in words):
            return []
        walked = walk(words, self.timeline.table(version), open_end=True)
        # The last one counts; a text that is empty may mean that there is none.
        last = {use.flag.dest: use for use in walked.uses if use.flag.dest in places and len(use.values) == 1}
        raws = []
        for dest, use in last.items():
            value = use.values[0]
            fault = json_fault(value.text) if value.known and value.text else None
            if fault:
                raws.append(
                    Raw(
                        "refused",
                        LINTS["refused"].level,
                        f"SGLang {version} parses {use.spelled} as JSON while it starts, and "
                        f"{value.text} is none: {fault}",
                        use.word.start,
                        max(use.word.start + 1, min(use.word.end, use.word.start + len(use.spelled))),
                        flag=use.spelled,
                        at=places[dest],
                    )
                )
        return raws
