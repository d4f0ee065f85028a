"""The SGLang version that a file names, and where."""

from __future__ import annotations

import re

from indexer.drift.launch.model import DYNAMIC, VersionHint

_NUMBER = r"(\d+\.\d+\.\d+(?:\.post\d+)?)"
_NAME = r"(?:sglang|sgl-dev)[\w-]*"  # sgl-dev: what the images for AMD's GPUs are called
_IMAGE = re.compile(rf"(?:^|[\s\"'/=])(?:[\w.-]+/)*{_NAME}:(?:\$\{{\w+:?-)?v?{_NUMBER}(?![\d.]\d)")
_UNTOLD = re.compile(rf"(?:[\w.-]+/)+{_NAME}:(?!v?\d+\.\d+\.\d)\w[\w.-]*")
_PATTERNS = (
    (_IMAGE, "image tag"),
    (re.compile(rf"\bsglang(?:\[[\w, -]*\])?\s*===?\s*v?{_NUMBER}"), "pinned requirement"),
    (
        re.compile(
            rf"\bsglang[_-]?(?:version|ver|tag|ref)\b[\"']?\s*(?:[:=]|\?=|:=)\s*[\"']?v?{_NUMBER}",
            re.IGNORECASE,
        ),
        "setting",
    ),
    (re.compile(rf"sgl-project/sglang(?:\.git)?@v{_NUMBER}"), "git tag"),
)


def version_hints(text: str) -> list[VersionHint]:
    """Return every version that the text names, in order; an image without one has the version ``""``."""
    if not any(word in text for word in ("sglang", "SGLANG", "sgl-dev")):
        return []
    found = [
        VersionHint(match[1], match.start(1), how)
        for pattern, how in _PATTERNS
        for match in pattern.finditer(text)
    ]
    found += [VersionHint("", match.start(), "image tag") for match in _UNTOLD.finditer(text)]
    return sorted(found, key=lambda hint: hint.start)


def image_version(image: str) -> str | None:
    """Return the version in an image reference of SGLang, ``""`` where it names none, or None where a
    variable may hold it."""
    match = _IMAGE.search(image)
    if match is not None:
        return match[1]
    return None if any(mark in image for mark in ("$", "{{", DYNAMIC)) else ""
