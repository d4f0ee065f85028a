"""Every flag's declaration and every choice is located where the real parser has it."""

from __future__ import annotations

import json
import re

import pytest

from indexer.extract.choice_sites import choice_sites
from indexer.extract.flag_sites import flag_sites
from indexer.extract.literal_sites import LiteralTracer
from indexer.syntax.graph import ModuleGraph

pytestmark = [pytest.mark.oracle, pytest.mark.release]

QUICK = ["0.4.6.post5", "0.5.5", "0.5.9", "0.5.12", "0.5.17", "0.5.23"]
OTHERS = [
    "0.4.1", "0.4.2", "0.4.5.post3", "0.4.10.post2", "0.5.2", "0.5.3.post3", "0.5.6.post2", "0.5.10",
    "0.5.13.post1", "0.5.14", "0.5.18", "0.5.20", "0.5.21",
]  # fmt: skip


def _place(location) -> str:
    return f"{location.path.removeprefix('python/')}:{location.line}"


@pytest.mark.parametrize("version", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_declarations_and_choices_are_located(version, shared, release_tree):
    oracle = json.loads((shared / "oracle" / f"flags-{version}.json").read_text())
    graph = ModuleGraph(release_tree(version))
    sites = flag_sites(graph)
    assert sites.declarations == oracle["n_flags"]
    calls = {_place(call.at): call for call in sites.calls}
    registrars = {_place(call.at) for call in sites.registrars}
    tracer = LiteralTracer(graph)
    choices = 0
    for flag in oracle["flags"]:
        call, site = calls.get(flag["registered_at"]), sites.fields.get(flag["dest"])
        assert call is not None or flag["registered_at"] in registrars, flag["option_strings"]
        if call is not None:
            written = [one for one in flag["option_strings"] if not one.startswith("--no-")]
            assert [one for one in call.option_strings if not one.startswith("--no-")] == written
            assert call.dest == flag["dest"]
        if flag.get("field_declared_at"):
            assert site is not None and _place(site.at) == flag["field_declared_at"]
        found = choice_sites(graph, call or site, tracer)
        for value in flag["choices"] or []:
            at = found.values[value]
            lines = graph.tree.text(at.path).splitlines()[at.line - 1 : at.end_line]
            assert re.search(re.escape(str(value)), "\n".join(lines), re.IGNORECASE), (flag["dest"], value)
            choices += 1
    for field in oracle["fields"]:
        if field.get("declared_at"):
            assert _place(sites.fields[field["name"]].at) == field["declared_at"]
    print(f"{version}: {len(oracle['flags'])} flags, {choices} choices located, layouts {sites.layouts}")
