"""Helm charts: the version that a template's launch runs stands in another file of the chart."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from indexer.drift.launch.read import Unreadable, load, read_launches

_APP_VERSION = re.compile(
    r"^appVersion:[ \t]*[\"']?v?(\d+\.\d+\.\d+(?:\.post\d+)?)[\"']?[ \t]*(?:#.*)?$", re.M
)
_NO_TAG = re.compile(r"^[ \t]*tag:[ \t]*(?:\"\"|''|~|null)?[ \t]*(?:#.*)?$", re.M)
_SGLANG = re.compile(r"repository:.*sglang")
_DEPTH = 3
"""So many folders below ``templates`` are looked at from."""


def chart_version(path: Path) -> tuple[str, str] | None:
    """Return ``(version, where it is from)`` of the chart that a file belongs to: the image tag of its
    ``values.yaml``, or, where that leaves the tag to the chart, the ``appVersion`` of its ``Chart.yaml``.
    """
    folder = next((one.parent for one in list(path.parents)[:_DEPTH] if one.name == "templates"), path.parent)
    return _version_of(folder, path.name)


@lru_cache(maxsize=64)
def _version_of(folder: Path, name: str) -> tuple[str, str] | None:
    chart, values = folder / "Chart.yaml", folder / "values.yaml"
    if not chart.is_file() or not values.is_file():
        return None
    try:
        text = load(values)[0]
        told = {hint.version for hint in read_launches(text, "yaml").versions if hint.version}
        if len(told) == 1 and name != values.name:
            return told.pop(), f"image tag in {values.as_posix()}"
        app = _APP_VERSION.search(load(chart)[0])
    except Unreadable:
        return None
    if app is not None and not told and _SGLANG.search(text) and _NO_TAG.search(text):
        return app[1], f"appVersion in {chart.as_posix()}"
    return None
