"""The story of a name, told in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.knowledge.history import History
    from indexer.knowledge.lookup_history import Abbreviation
    from indexer.knowledge.stories import Story


def story_told(history: History, story: Story) -> str:
    """Return a head line and a line per event."""
    gone = f"now taken for {story.taken_for}" if story.taken_for else "gone since"
    until = "now" if story.current else f"{story.last}, {gone}"
    lines = [
        f"{story.name} ({story.kind}): {story.first} … {until} "
        f"(history: {history.versions[0]} … {history.versions[-1]})"
    ]
    for event in story.events:
        place = ""
        if event.at:
            elsewhere = f"{event.at_version} " if event.at_version != event.version else ""
            place = f"  [{elsewhere}{event.at.path}:{event.at.line}]"
        lines.append(f"  {event.version:<13} {event.text}{place}")
    return "\n".join(lines)


def abbreviation_told(name: str, short: Abbreviation, newest: str) -> str:
    """Return what argparse makes of a shortened option, and of what in the newest release."""
    told = f"{name} is no option of its own: in {short.version} argparse takes it for {short.option}"
    if short.ambiguous:
        told += f"; in {newest} it is ambiguous: it could match {', '.join(short.ambiguous)}"
    return told
