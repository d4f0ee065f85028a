"""Keys that a configuration class has a default for without keeping it as an attribute.

transformers' class of a hybrid model makes its layers' kinds of ``full_attention_interval``, 4 where the
config.json has none, and drops the key; SGLang's own class of the same model reads the attribute. For a
checkpoint of which only the architecture is known the key has that default.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.source.tree import PACKAGE_ROOT, SourceTree

_CONFIGS = f"{PACKAGE_ROOT}/srt/configs"
_TEXT = "text_config"
_TAKERS = ("pop", "get")


class TakenDefault(msgspec.Struct, frozen=True):
    """The default of a key that a class takes from its arguments; ``text``: of the language model's part."""

    key: str
    value: Any
    path: str
    line: int
    text: bool


def taken_defaults(
    model_type: str, tree: SourceTree, transformers: ConfigurationTree
) -> Iterator[TakenDefault]:
    """Yield the keys that SGLang's classes read and transformers' class of a model type has a default for."""
    name = model_type.replace("-", "_")
    path = f"transformers/models/{name}/configuration_{name}.py"
    try:
        module = ast.parse(transformers.read(path))
    except (FileNotFoundError, SyntaxError):
        return
    own = [tree.text(one) for one in tree.walk(_CONFIGS)]
    for made in module.body:
        if not isinstance(made, ast.ClassDef):
            continue
        of = _model_type(made)
        for call in ast.walk(made):
            found = _taken(call)
            if found is None or of not in (model_type, f"{model_type}_text"):
                continue
            key, value = found
            if any(_reads(key, source) for source in own):
                yield TakenDefault(key, value, path, call.lineno, of != model_type)  # type: ignore[attr-defined]


def _reads(key: str, source: str) -> bool:
    """Tell whether a file's classes read a key as an attribute that they don't set."""
    return re.search(rf"\bself\.{key}\b", source) is not None and not re.search(
        rf"\bself\.{key}\s*(:[^=\n]*)?=[^=]|^\s*{key}\s*[:=]", source, re.MULTILINE
    )


def _model_type(made: ast.ClassDef) -> str | None:
    for one in made.body:
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        value = getattr(one, "value", None)
        named = any(isinstance(target, ast.Name) and target.id == "model_type" for target in targets)
        if named and isinstance(value, ast.Constant):
            return str(value.value)
    return None


def _taken(call: ast.AST) -> tuple[str, Any] | None:
    """Return key and default of ``kwargs.pop("key", 4)``, where the default says something."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 2):
        return None
    key, value = call.args
    if call.func.attr not in _TAKERS or not isinstance(call.func.value, ast.Name):
        return None
    if not isinstance(key, ast.Constant) or not isinstance(value, ast.Constant) or value.value is None:
        return None
    return str(key.value), value.value


def with_defaults(config: dict[str, Any], defaults: Iterable[TakenDefault]) -> dict[str, Any]:
    """Return a configuration that spells these defaults out."""
    text = {one.key: one.value for one in defaults if one.text}
    spelled = config | {one.key: one.value for one in defaults if not one.text}
    return spelled | {_TEXT: text} if text else spelled
