"""Third-party packages whose side-effect-free parts are used for real."""

from __future__ import annotations

import functools
from typing import Any

_NAMES = {
    "msgspec": """NODEFAULT UNSET DecodeError Meta MsgspecError Raw Struct StructMeta UnsetType
        ValidationError convert defstruct field to_builtins""",
    "msgspec.json": "decode encode format",
    "msgspec.structs": "FieldInfo asdict astuple force_setattr replace",
    "packaging": "",
    "packaging.version": "InvalidVersion Version parse",
    "packaging.specifiers": "InvalidSpecifier Specifier SpecifierSet",
    "yaml": "YAMLError safe_load",
}


@functools.cache
def package_values(dotted: str) -> dict[str, Any] | None:
    """Return the names of a package that interpreted code gets as they are, or None."""
    if dotted not in _NAMES:
        return None
    import importlib

    module = importlib.import_module(dotted)
    return {name: getattr(module, name) for name in _NAMES[dotted].split()}
