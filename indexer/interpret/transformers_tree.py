"""The configuration classes of the pinned transformers, as a second tree of the program.

Only the modules that make configurations are in it; whatever else of transformers is asked for stays
opaque. Its packages' own ``__init__`` files, which register names for lazy import, are replaced by an
index of the names that the kept modules define.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from indexer.interpret.marks import takes_unknown
from indexer.interpret.signals import Unsupported
from indexer.interpret.strict_classes import strict, validated_field
from indexer.interpret.unknown import Unknown
from indexer.source.tree import SourceTree

PACKAGE = "transformers"

_KEPT = re.compile(
    r"transformers/(configuration_utils|modeling_rope_utils|generation/configuration_utils"
    r"|utils/(__init__|hub|generic|constants|import_utils|quantization_config|type_validators)"
    r"|integrations/heterogeneity/(__init__|configuration_utils)"
    r"|models/auto/(auto_mappings|configuration_auto)"
    r"|models/.*configuration_[A-Za-z0-9_]+)\.py"
)
_DEFINITION = re.compile(r"^(?:class|def)\s+(\w+)|^([A-Z]\w*)\s*(?::[^=\n]+)?=", re.MULTILINE)
INDEX_VERSION = 3


class ConfigurationTree(SourceTree):
    """The part of a transformers tree that makes configurations."""

    def __init__(self, tree: SourceTree) -> None:
        self.version = tree.version
        self.origin = tree.origin
        self.sha256 = tree.sha256
        self.whole = tree
        self._paths = tuple(path for path in tree.paths() if _KEPT.fullmatch(path))
        self._names: dict[str, list[str]] | None = None

    def paths(self) -> tuple[str, ...]:
        return self._paths

    def read(self, path: str) -> bytes:
        return self.whole.read(path)

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        return None

    def module_defining(self, package: str, name: str) -> str | None:
        """Return the dotted module below ``package`` that defines a name, if a kept one does."""
        if self._names is None:
            self._names = _names(self)
        prefix = package + "."
        found = [module for module in self._names.get(name, ()) if module.startswith(prefix)]
        # The nearest module wins: a model's own class hides a namesake in another model's folder.
        return min(found, key=lambda module: (module.count("."), module), default=None)

    def opaque_module_defines(self, module: str, name: str) -> bool | None:
        """Tell whether a module that is not kept defines or imports a name at its top level."""
        path = module.replace(".", "/") + ".py"
        try:
            source = self.whole.read(path).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        word = re.escape(name)
        if re.search(rf"^(class|def)\s+{word}\b|^{word}\s*[:=]", source, re.MULTILINE):
            return True
        return None if re.search(rf"\b{word}\b", source) else False


def _names(tree: ConfigurationTree) -> dict[str, list[str]]:
    """Return, per name, the modules that define it; kept in the user's cache per version."""
    from indexer.errors import CannotError
    from indexer.source.cache import cache_folder, keep

    file = None
    try:
        file = cache_folder("transformers") / f"names-{tree.version}-{INDEX_VERSION}.json"
        return json.loads(file.read_text())
    except (OSError, ValueError, CannotError):
        pass
    names: dict[str, list[str]] = {}
    for path in tree.paths():
        if path.endswith("/__init__.py"):
            continue
        module = path.removesuffix(".py").replace("/", ".")
        for match in _DEFINITION.finditer(tree.read(path).decode("utf-8", "replace")):
            names.setdefault(match.group(1) or match.group(2), []).append(module)
    if file is not None:
        keep(file, json.dumps(names).encode())
    return names


def module_overrides(world: Any) -> dict[str, dict[str, Any]]:
    """Return, per transformers module, the names that the world answers instead."""
    return {
        # Lists all models in the documentation of ``from_pretrained``.
        "transformers.models.auto.configuration_auto": {"replace_list_option_in_docstrings": _undocumented},
        "transformers.utils.hub": {"cached_file": _cached_file(world)},
        "transformers.utils.import_utils": {"is_torch_available": lambda: True},
        "transformers.utils": {"is_torch_available": lambda: True},
    }


def _undocumented(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda function: function


def _cached_file(world: Any) -> Callable[..., Any]:
    files = world.files

    def cached_file(path: Any, filename: Any, **options: Any) -> Any:
        """Return a checkpoint file's path; only local folders are looked into."""
        if type(path) is Unknown:
            return path._rt_derive(f"file {filename}")
        present = files.is_dir(path)
        if type(present) is Unknown or present is False:
            raise Unsupported(f"the configuration of {path}: not a folder that the launch gives")
        folder = options.get("subfolder")
        file = f"{path}/{folder}/{filename}" if folder else f"{path}/{filename}"
        if files.is_file(file):
            return file
        if options.get("_raise_exceptions_for_missing_entries", True):
            raise OSError(
                f"{path} does not appear to have a file named {filename}. Checkout "
                f"'https://huggingface.co/{path}/tree/main' for available files."
            )
        return None

    return takes_unknown(cached_file)


def external_intrinsics(world: Any) -> dict[str, Callable[..., Any]]:
    """Return what calls of the parts that stay opaque give."""
    return {
        "transformers.utils.logging.get_logger": takes_unknown(
            lambda name=None: world.import_module("logging").getLogger(name)
        ),
        "huggingface_hub.dataclasses.strict": takes_unknown(strict),
        "@huggingface_hub.dataclasses.strict": strict,
        "@huggingface_hub.dataclasses.as_validated_field": validated_field,
        "transformers.GenerationConfig.from_pretrained": takes_unknown(_no_generation_config(world)),
    }


def _no_generation_config(world: Any) -> Callable[..., Any]:
    def from_pretrained(path: Any, *args: Any, **kwargs: Any) -> Any:
        present = world.files.is_file(f"{path}/generation_config.json")
        if present is False:
            raise OSError(f"{path} does not appear to have a file named generation_config.json.")
        return Unknown(f"generation_config.json of {path}")

    return from_pretrained
