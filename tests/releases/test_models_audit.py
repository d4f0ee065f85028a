"""Nothing about models is silently missed: facts of releases against plain searches of their text.

The searches know nothing of how facts are extracted. The releases are ones that no hand-written facts exist
of, from each layout.
"""

from __future__ import annotations

import re

import pytest

from indexer.extract.models import extract_models
from indexer.source.cache import cache_folder
from indexer.source.tree import SourceTree
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph

pytestmark = [pytest.mark.release, pytest.mark.slow]

MODELS = "python/sglang/srt/models"
CONFIG = "python/sglang/srt/configs/model_config.py"
PREDICATES = ("python/sglang/srt/configs/hybrid_arch.py", "python/sglang/srt/model_executor/model_runner.py")
VERSIONS = [
    *("0.4.2", "0.4.10", "0.5.2", "0.5.3", "0.5.4", "0.5.6", "0.5.8", "0.5.11", "0.5.13", "0.5.15"),
    *("0.5.16", "0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22"),
]
_ENTRY = re.compile(r"^EntryClass\s*(?::[^=\n]*)?\+?=\s*(\[[^\]]*\]|\([^)]*\)|[^\n]*)", re.MULTILINE)
_HYBRID_FUNCTION = re.compile(
    r"    def (?:is_hybrid_gdn|\w*gdn_config|mamba2_config|kimi_linear_config|hybrid_\w+_config)\(.*?"
    r"(?=\n    @|\n    def )|^def (?:hybrid_\w+_config|mamba2_config|kimi_linear_config)\(.*?(?=\n\n\n)",
    re.MULTILINE | re.DOTALL,
)
_DRAFT_MAPPING = re.compile(
    r"is_draft_model[^:]*?:\n(?:(?!\n        if ).)*?architectures\[0\] = \"(\w+)\"", re.DOTALL
)
_CLASS = re.compile(r"\b([A-Z]\w+Config)\b")
_NAME = re.compile(r"\"(\w+For\w+)\"")


def _source(tree: SourceTree, path: str) -> str:
    return tree.text(path) if path in tree else ""


@pytest.mark.parametrize("version", VERSIONS)
def test_text_searches_find_nothing_more(version, release_tree) -> None:
    tree = release_tree(version)
    models = {
        one.architecture: one for one in extract_models(ModuleGraph(tree, FactStore(cache_folder("facts"))))
    }
    drafts = {one.architecture for one in models.values() if one.is_draft}
    mapped = {
        str(each.get("architecture"))
        for one in models.values()
        if one.draft
        for each in (one.draft, *one.draft.get("also", []))
    }
    named = {
        name
        for path in tree.walk(MODELS)
        for entry in _ENTRY.findall(_source(tree, path))
        for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"#.*", "", entry))
    }
    assert named - models.keys() == set(), "classes that EntryClass names"
    looks_draft = {name for name in named if re.search(r"(NextN|MTP|Eagle)$|Eagle3|DraftModel$", name)}
    assert looks_draft - drafts == set(), "drafts by their names"
    into = set(_DRAFT_MAPPING.findall(_source(tree, CONFIG)))
    assert into & models.keys() - mapped == set(), "drafts that a target's architecture becomes"
    listed: set[str] = set()
    classes: set[str] = set()
    for path in PREDICATES:
        for function in _HYBRID_FUNCTION.findall(_source(tree, path)):
            listed |= set(_NAME.findall(function))
            if "isinstance" in function:
                classes |= set(_CLASS.findall(function))
    hybrid = {one.architecture for one in models.values() if one.hybrid}
    assert listed & models.keys() - hybrid - drafts == set(), "architectures that a predicate lists"
    through = {
        each.get("through")
        for one in models.values()
        if one.hybrid
        for each in (one.hybrid, *one.hybrid.get("also", []))
    }
    configured = {one.config_class for one in models.values()}
    assert classes & configured - through == set(), "configuration classes that a predicate asks for"
    kinds = {models[name].hybrid["kind"] for name in hybrid} - {"sliding window"}
    assert not mapped or into, "the search for mappings finds some"
    assert not kinds or listed or classes, "the search for predicates finds some"
    print(
        f"{version}: {len(models)} models, {len(hybrid)} hybrid, {len(drafts)} drafts, {len(mapped)} mapped; "
        f"searched {len(named)} entries, {len(into)} mappings, {len(listed)} listed, {len(classes)} classes"
    )
