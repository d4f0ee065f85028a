"""Reads of the most-read speculative flags against a text search whose hits are classified by receiver.

Every occurrence of a field's name in code is looked at. Attributes of the configuration, under any of the
names it goes by, must be reads that were found (or stores). What remains was classified by hand: copies
that workers, backends and states keep of the value (``self.x``, ``backend.x``, ``dw.x``, ``state.x``),
parameters, keywords and locals of that name, and a lambda's parameter (``c``) in a table of probes, whose
kind only its caller knows: three reads of one flag that are not found.
"""

from __future__ import annotations

import re

import pytest

from indexer.extract.flag_sites import flag_sites
from indexer.extract.reads import extract_reads
from indexer.source.cache import cache_folder
from indexer.syntax.anchors import anchors, is_written
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph
from indexer.syntax.parse import line, text

pytestmark = [pytest.mark.release, pytest.mark.slow]

CONFIGURATION = re.compile(
    r"(^|\.)(server_args|cfg|view|spec|ServerArgs)$|^get_(\w+_)?(server_args|spec)\(\)$|^resolv(ing|ed)_view\("
)
COPIES = re.compile(
    r"^(self|backend|dw|state|result|options|c)$|(self|worker|backend|_backend|runner)\b.*$|\(\)$"
)


@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_recall_and_precision_of_the_ten_most_read(version, release_tree):
    graph = ModuleGraph(release_tree(version), FactStore(cache_folder("facts")))
    fields = {name: site.namespace for name, site in flag_sites(graph).fields.items()}
    reads = extract_reads(graph, fields)
    speculative = [name for name in reads if name.startswith("speculative_")]
    most_read = sorted(speculative, key=lambda name: -len(reads[name]))[:10]
    missed, wrong, matched = [], [], 0
    for path in graph.tree.walk("python/sglang/srt"):
        source = graph.tree.read(path)
        for name in (one for one in most_read if one.encode() in source):
            found = {read.at.line: read for read in reads[name] if read.at.path == path}
            root = graph.syntax(path).root_node
            for _, node in anchors(re.compile(rb"\b" + name.encode() + rb"\b"), source, root):
                attribute = node.parent
                if attribute is None or attribute.type != "attribute" or is_written(attribute):
                    continue
                if attribute.child_by_field_name("attribute") != node:
                    continue
                receiver = text(attribute.child_by_field_name("object") or attribute)
                if line(node) in found:
                    matched += 1
                elif CONFIGURATION.search(receiver):
                    missed.append(f"{path}:{line(node)} {receiver}.{name}")
                elif not COPIES.search(receiver):
                    wrong.append(f"{path}:{line(node)} {receiver}.{name}: of no known kind")
    assert not missed
    assert not wrong
    print(f"{version}: {matched} reads of {len(most_read)} flags, 0 missed")
