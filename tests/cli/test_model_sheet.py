"""The sheet of a model: whose draft it is, names whole, what a rule sets without a value."""

from __future__ import annotations

import click
import msgspec
import pytest

from indexer.cli._facts import print_fact
from indexer.knowledge.links import Links
from indexer.knowledge.schema import Location, Snapshot
from tests.small_site import small_snapshot

LONG = "python/sglang/srt/arg_groups/model_overrides/a_rather_long_name_of_a_file.py"


@pytest.fixture
def snapshot(monkeypatch: pytest.MonkeyPatch) -> Snapshot:
    monkeypatch.setenv("COLUMNS", "80")
    found = small_snapshot()
    target = found.models[0]
    draft = msgspec.structs.replace(
        target, architecture="TinyForCausalLMMTP", is_draft=True, draft=None, hybrid=None, radix=None
    )
    target.draft = {"architecture": draft.architecture}
    found.models.append(draft)
    return found


def told(snapshot: Snapshot, name: str, capsys: pytest.CaptureFixture[str]) -> str:
    model = next(one for one in snapshot.models if one.architecture == name)
    print_fact("model", model, Links(snapshot))
    return click.unstyle(capsys.readouterr().out)


def test_a_draft_says_whose_it_is(snapshot: Snapshot, capsys: pytest.CaptureFixture[str]) -> None:
    assert "role          draft model, of TinyForCausalLM" in told(snapshot, "TinyForCausalLMMTP", capsys)
    snapshot.models[0].draft = None
    alone = told(snapshot, "TinyForCausalLMMTP", capsys)
    assert "role          draft model\n" in alone and " of " not in alone
    assert "role" not in told(snapshot, "TinyForCausalLM", capsys)


def test_a_name_is_not_cut_for_its_place(snapshot: Snapshot, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot.models[1].config_class = "AConfigurationClass"
    snapshot.models[0].hybrid = {
        "kind": "GDN", "predicate": "p", "backend": "AnAttentionBackendWithALongNameIndeed",
        "backend_at": msgspec.to_builtins(Location(LONG, 9)),
    }  # fmt: skip
    lines = told(snapshot, "TinyForCausalLM", capsys).splitlines()
    at = next(number for number, line in enumerate(lines) if "AnAttentionBackendWithALongNameIndeed" in line)
    assert lines[at + 1].strip().endswith("a_rather_long_name_of_a_file.py:9")


def test_what_a_rule_sets_without_a_known_value(
    snapshot: Snapshot, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot.models[0].overrides = [{"kind": "override", "sets": {"steps": "", "topk": "1"}}]
    assert "override steps, topk = 1" in told(snapshot, "TinyForCausalLM", capsys)
