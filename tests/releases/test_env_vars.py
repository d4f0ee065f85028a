"""Every environment variable read by hand is found with the same lines, type and default."""

from __future__ import annotations

import json

import pytest

from indexer.extract.env_vars import extract_env_vars
from indexer.knowledge.schema import Unknown
from indexer.source.cache import cache_folder
from indexer.syntax.factstore import FactStore
from indexer.syntax.graph import ModuleGraph

pytestmark = [pytest.mark.oracle, pytest.mark.release, pytest.mark.slow]


def _place(location) -> str | None:
    return f"{location.path.removeprefix('python/')}:{location.line}" if location else None


@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_golden_environment_variables(version, shared, release_tree):
    golden = json.loads((shared / "golden" / f"envs-{version}.json").read_text())
    graph = ModuleGraph(release_tree(version), FactStore(cache_folder("facts")))
    found = {one.name: one for one in extract_env_vars(graph)}
    for expected in golden["envs"]:
        variable = found[expected["name"]]
        assert _place(variable.declared_at) == expected["declared_at"]
        assert variable.type == expected["type"]
        known = not isinstance(variable.default, (dict, Unknown))
        assert not known or repr(variable.default) == expected["default"]
        reads = {_place(read.at) for read in variable.read_at}
        assert set(expected["read_at"]) <= reads
        if expected["read_count"] <= 8:
            outside = {place for place in reads if "srt/environ.py" not in place}
            assert outside == set(expected["read_at"]), expected["name"]
        assert {_place(write.at) for write in variable.set_at} == set(expected["set_at"])
    for expected in golden["undeclared_raw_reads"]:
        variable = found[expected["name"]]
        assert variable.declared_at is None
        assert set(expected["read_at"]) <= {_place(read.at) for read in variable.read_at}
    for expected in golden["deprecated_table"]:
        assert _place(found[expected["name"]].deprecated.at) == expected["at"]
    count = len(golden["envs"]) + len(golden["undeclared_raw_reads"]) + len(golden["deprecated_table"])
    print(f"{version}: golden {count}, found {count}, wrong 0; {len(found)} variables in all")
