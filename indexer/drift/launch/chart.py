"""Helm charts: the version that a template's launch runs stands in another file of the chart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from indexer.drift.launch.model import DYNAMIC
from indexer.drift.launch.read import Unreadable, load, read_launches
from indexer.drift.launch.tree import SERVER_IMAGE
from indexer.drift.launch.versions import image_version

_VERSION = re.compile(r"v?(\d+\.\d+\.\d+(?:\.post\d+)?)")
_NO_TAG = re.compile(r"^[ \t]*tag:[ \t]*(?:\"\"|''|~|null)?[ \t]*(?:#.*)?$", re.M)
_REPOSITORY = re.compile(r"repository:.*sglang")
_IMAGE = re.compile(r"^[ \t]*(?:-[ \t]+)?image:[ \t]*(\S.*?)(?:[ \t]#.*)?$", re.M)
_EXPRESSION = re.compile(r"\{\{-?(.*?)-?\}\}")
_OPERAND = re.compile(r"\"[^\"]*\"|[^\s()]+")
_AS_IT_IS = ("quote", "squote", "toString", "trim", "required")
"""Functions whose result is their last operand, as far as an image reference goes."""
_DEPTH = 3
"""So many folders below ``templates`` are looked at from."""


def chart_version(path: Path) -> tuple[str, str] | None:
    """Return ``(version, where it is from)`` of the chart that a file belongs to: that of the images in its
    templates, filled in from its ``values.yaml`` and ``Chart.yaml``; or, where a helper puts the image
    together, the image tag of ``values.yaml``, or the ``appVersion`` to which that leaves the tag.
    """
    folder = next((one.parent for one in list(path.parents)[:_DEPTH] if one.name == "templates"), path.parent)
    if not (folder / "Chart.yaml").is_file():
        return None
    templates = _templates(folder)
    for told_by in ((path,), templates) if path in templates else (templates,):
        try:
            found = _images_of(folder, told_by, path if path.parent == folder else None)
        except Unreadable:
            return None
        if len(found) > 1:
            return None
        for version, where in found.items():
            if version is not None:
                return (version, where) if version else None
    return _version_of(folder, path.name)


@lru_cache(maxsize=64)
def _templates(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted((folder / "templates").rglob("*.y*ml")))


def _images_of(folder: Path, templates: Sequence[Path], own: Path | None) -> dict[str | None, str]:
    """Return the versions (``""``: it has none, None: a helper may put it in) of SGLang's images in
    templates, each with where it is from; ``own`` is a file of values that comes before ``values.yaml``."""
    chart = _Chart.of(folder, own)
    images = [chart.filled(image) for one in templates for image in _IMAGE.findall(load(one)[0])]
    return {image_version(image): where for image, where in images if SERVER_IMAGE.search(image)}


class _Chart(NamedTuple):
    """What the expressions in a chart's templates stand for, by file."""

    about: tuple[Path, object]
    values: list[tuple[Path, object]]

    @classmethod
    def of(cls, folder: Path, own: Path | None) -> _Chart:
        about, values = folder / "Chart.yaml", folder / "values.yaml"
        files = dict.fromkeys(one for one in (own, values) if one is not None and one != about)
        return cls((about, _content(about)), [(one, _content(one)) for one in files if one.is_file()])

    def filled(self, image: str) -> tuple[str, str]:
        """Return an image reference with its expressions filled in, and where the last of them is from."""
        told = [self._value(one) for one in _EXPRESSION.findall(image)]
        texts = iter([text for text, _ in told])
        where = next((where for _, where in reversed(told) if where), "its template's image")
        return _EXPRESSION.sub(lambda _: next(texts), image), where

    def _value(self, expression: str) -> tuple[str, str]:
        found: list[tuple[str, str]] = []
        for step in expression.split("|"):
            name, *rest = _OPERAND.findall(step) or [""]
            operands = [*map(self._operand, rest), *found]
            if name == "default" and operands:
                found = [next((one for one in reversed(operands) if one[0]), operands[0])]
            elif name in _AS_IT_IS and operands:
                found = operands[-1:]
            else:
                found = [self._operand(name) if not operands else (DYNAMIC, "")]
        return found[0]

    def _operand(self, text: str) -> tuple[str, str]:
        if text.startswith('"'):
            return text.strip('"'), ""
        root, _, name = text.removeprefix("$").removeprefix(".").partition(".")
        if root == "Chart":
            path, content = self.about
            key = name[:1].lower() + name[1:]
            return _at(content, key), f"{key} in {path.as_posix()}"
        if root != "Values":
            return DYNAMIC, ""
        for path, content in self.values:
            if value := _at(content, name):
                return value, f"image tag in {path.as_posix()}"
        return "", ""


def _at(content: object, name: str) -> str:
    for key in name.split("."):
        content = content.get(key) if isinstance(content, Mapping) else None
    return str(content) if isinstance(content, str | int | float) else ""


@lru_cache(maxsize=64)
def _content(path: Path) -> object:
    try:
        return yaml.load(load(path)[0], Loader=yaml.CSafeLoader)
    except (Unreadable, yaml.YAMLError, RecursionError, ValueError):
        return None


@lru_cache(maxsize=64)
def _version_of(folder: Path, name: str) -> tuple[str, str] | None:
    chart, values = folder / "Chart.yaml", folder / "values.yaml"
    if not values.is_file():
        return None
    try:
        text = load(values)[0]
    except Unreadable:
        return None
    told = {hint.version for hint in read_launches(text, "yaml").versions if hint.version}
    if len(told) == 1 and name != values.name:
        return told.pop(), f"image tag in {values.as_posix()}"
    app = _VERSION.fullmatch(_at(_content(chart), "appVersion"))
    if app is not None and not told and _REPOSITORY.search(text) and _NO_TAG.search(text):
        return app[1], f"appVersion in {chart.as_posix()}"
    return None
