"""A configuration for an architecture of which only the name is given."""

from __future__ import annotations

import json
import re
from functools import cache

from indexer.errors import UsageError
from indexer.explain.class_defaults import TakenDefault, taken_defaults, with_defaults
from indexer.interpret.transformers_tree import ConfigurationTree
from indexer.knowledge.nearest import nearest
from indexer.source.tree import PACKAGE_ROOT, SourceTree

ARCH_FOLDER = "/memory/model"
_PAIR = re.compile(r"""\(\s*["']([a-z0-9_\-.]+)["']\s*,\s*["'](\w+)["']\s*,?\s*\)""")
_MODELING = "transformers/models/auto/modeling_auto.py"
_MODELS = f"{PACKAGE_ROOT}/srt/models"
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
_MODEL_TYPE = re.compile(r"""^\s+model_type\s*(?::[^=]+)?=\s*["']([\w.-]+)["']""", re.MULTILINE)


@cache
def configuration_for(
    architecture: str, tree: SourceTree, transformers: ConfigurationTree | None
) -> tuple[str, tuple[TakenDefault, ...]]:
    """Return a ``config.json`` that names an architecture and its model type, and what else is spelled out.

    That is defaults of its class that SGLang's class of the model hasn't.

    Raises:
        UsageError: neither SGLang nor transformers has the architecture, or its model type isn't known.
    """
    listed = _model_types(transformers) if transformers is not None else {}
    model_type = listed.get(architecture)
    if model_type is None:
        own = _own_classes(tree)
        if architecture not in own:
            near = nearest(architecture, sorted({*own, *listed}), 1)
            raise UsageError(
                f"SGLang {tree.version} has no architecture {architecture}",
                f"did you mean {near[0]}?" if near else "it is spelled as in the model's config.json",
            )
        model_type = _own_model_type(architecture, tree)
    if model_type is None:
        raise UsageError(
            f"no model type is known for architecture {architecture}",
            "give the folder of its config.json with --model",
        )
    defaults = tuple(taken_defaults(model_type, tree, transformers)) if transformers is not None else ()
    config = {"architectures": [architecture], "model_type": model_type}
    return json.dumps(with_defaults(config, defaults)), defaults


@cache
def _model_types(transformers: ConfigurationTree) -> dict[str, str]:
    """Return architecture → model type, as transformers' tables of model classes have it."""
    found: dict[str, str] = {}
    try:
        source = transformers.whole.text(_MODELING)
    except FileNotFoundError:
        return found
    for model_type, class_name in _PAIR.findall(source):
        found.setdefault(class_name, model_type)
    return found


def _own_classes(tree: SourceTree) -> set[str]:
    """Return the names of the classes in SGLang's model files."""
    return {name for path in tree.walk(_MODELS) for name in _CLASS.findall(tree.text(path))}


def _own_model_type(architecture: str, tree: SourceTree) -> str | None:
    """Return the model type of a configuration class of SGLang's own that fits the name."""
    stem = re.sub(r"(For\w+|Model|LM\w*)$", "", architecture).lower()
    for path in tree.walk("python/sglang/srt/configs"):
        for match in _MODEL_TYPE.finditer(tree.text(path)):
            if match.group(1).replace("_", "").replace("-", "").lower() == stem:
                return match.group(1)
    return None
