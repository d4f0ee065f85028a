"""A released SGLang, checked against its pin where there is one."""

from __future__ import annotations

from indexer.source.pins import load_pins
from indexer.source.wheels import WheelTree, fetch_wheel, normal_version

__all__ = ["WheelTree", "open_release"]


def open_release(version: str | None = None) -> WheelTree:
    """Return the tree of a release; None means the default pin. An unpinned release is read as well."""
    pins = load_pins()
    version = normal_version(version) if version else pins.default
    pin = pins.get(version)
    wheel = fetch_wheel("sglang", version, sha256=pin.sha256 if pin else None)
    tree = WheelTree(wheel, version)
    tree.pinned = pin is not None
    return tree
