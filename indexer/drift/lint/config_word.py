"""A ``--config`` file that the parser accepts and nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.drift.launch.model import Launch
from indexer.drift.lint.argv import Walked
from indexer.drift.lint.facts import Timeline
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw

_OPTION = "--config"


def unread_config(walked: Walked, launch: Launch, version: str, timeline: Timeline) -> Iterator[Raw]:
    """Yield the spelling by which a launch names a file that the version doesn't look for."""
    asked = timeline.facts.config_asked_at(version)
    if asked is None or walked.opaque or any(word.text == _OPTION for word in launch.words):
        return
    for use in walked.uses:
        if use.option != _OPTION:
            continue
        written = f"{use.spelled}=…" if use.word.text.startswith(f"{use.spelled}=") else use.spelled
        unless = ", unless the model is a diffusion model" if launch.program == "serve" else ""
        yield Raw(
            "config-not-read",
            LINTS["config-not-read"].level,
            f"{written} is accepted, but SGLang {version} looks for the word {_OPTION} alone: no file is "
            f"read{unless}; write `{_OPTION} FILE`",
            use.word.start,
            min(use.word.end, use.word.start + len(use.spelled)),
            _OPTION,
            at=asked,
        )
