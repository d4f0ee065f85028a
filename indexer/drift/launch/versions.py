"""The SGLang version that a file names, and where."""

from __future__ import annotations

import re

from indexer.drift.launch.model import VersionHint

_NUMBER = r"(\d+\.\d+\.\d+(?:\.post\d+)?)"
_IMAGE = re.compile(rf"(?:^|[\s\"'/=])(?:[\w.-]+/)*sglang[\w-]*:v?{_NUMBER}(?![\d.]\d)")
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
    """Return every version that the text names, in order."""
    if "sglang" not in text and "SGLANG" not in text:
        return []
    found = [
        VersionHint(match[1], match.start(1), how)
        for pattern, how in _PATTERNS
        for match in pattern.finditer(text)
    ]
    return sorted(found, key=lambda hint: hint.start)


def image_version(image: str) -> str | None:
    """Return the version in an image reference of SGLang, or None."""
    match = _IMAGE.search(image)
    return match[1] if match else None
