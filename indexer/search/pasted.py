"""What somebody pastes: a traceback, a log line, or just the words of an error, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FRAME = re.compile(r'File "([^"]+)", line (\d+)(?:, in (\S+))?')
_PLACE = re.compile(r"([\w./\\-]+\.py):(\d+)")
_EXCEPTION = re.compile(
    r"^\s*(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Exit|Warning|Interrupt))\b(?::\s*(.*))?$"
)
_STAMP = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[ T][\d:.,]+[^\]\s]*(?:\s+[A-Z]+\d+)*\]?\s*|\[[^\]]*\d\d:\d\d[^\]]*\]\s*"
    r"|(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\b[:\s-]*|[\w./-]+\.py:\d+:\s*|\((?:\w+ )?pid=\d+\)\s*)+"
)
_ASSERT = re.compile(r"^\s*assert\b")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_CARET = re.compile(r"^\s*[\^~]+\s*$")


@dataclass(frozen=True)
class Frame:
    """A place named in the paste. ``source`` is the line of code a traceback prints below it."""

    path: str
    line: int
    function: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class Pasted:
    """A paste taken apart. ``messages`` are candidates, the likeliest first; ``asserted`` are the
    expressions of ``assert`` statements that a traceback shows."""

    messages: tuple[str, ...]
    exception: str | None = None
    frames: tuple[Frame, ...] = ()
    asserted: tuple[str, ...] = ()

    @property
    def bare(self) -> bool:
        """Whether an exception is named without any text."""
        return self.exception is not None and not any(self.messages)


def take_apart(text: str) -> Pasted:
    """Read a paste. Anything is accepted; what can't be read as a traceback is taken as a message."""
    lines = _COLOUR.sub("", text).replace("\r\n", "\n").split("\n")
    frames: list[Frame] = []
    exception: str | None = None
    message: list[str] = []
    others: list[str] = []
    for number, line in enumerate(lines):
        if (frame := _FRAME.search(line)) is not None:
            source = lines[number + 1].strip() if number + 1 < len(lines) else ""
            code = source if source and not _FRAME.search(source) and not _EXCEPTION.match(source) else None
            frames.append(Frame(frame.group(1), int(frame.group(2)), frame.group(3), code))
        elif (raised := _EXCEPTION.match(_STAMP.sub("", line, count=1))) is not None:
            exception, message = raised.group(1), [raised.group(2) or ""]
        elif message and line.strip() and not _CARET.match(line):
            message.append(line.strip())
        elif line.strip() and not _CARET.match(line) and not line.startswith("Traceback"):
            place = _PLACE.search(line)
            if place is not None:
                frames.append(Frame(place.group(1), int(place.group(2))))
            others.append(_STAMP.sub("", line, count=1).strip())
    said = " ".join(part for part in message if part).strip()
    plain = [one for one in others if one] if not frames or exception is None else []
    candidates = [said, " ".join(plain), *plain]
    shown = [line.strip().removeprefix("assert").strip() for line in lines if _ASSERT.match(line)]
    return Pasted(
        tuple(dict.fromkeys(one for one in candidates if one)), exception, tuple(frames), tuple(shown)
    )


def said(text: str) -> str:
    """Return the message of a pasted traceback or log line; of anything else the text itself."""
    messages = take_apart(text).messages
    return messages[0] if messages else text
