"""``indexer validate``: plans, records and clear answers to mistakes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.cli.validate import command
from indexer.errors import CannotError, UsageError
from tests.validate.test_records import RECORDS


def run(*words: str) -> str:
    """Run the command and return what it prints; its errors are raised."""
    result = CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output


def test_show_records() -> None:
    """Records are found by launch, id or flag, as text and as JSON lines."""
    text = run("show", "fh1-succ.ngram")
    assert "NOT PROVED" in text and "use_triton_causal_conv" in text
    lines = run("show", "speculative-adaptive", "--json").splitlines()
    assert lines and all(json.loads(line)["schema"] == 1 for line in lines)
    assert len(run("show", "--json").splitlines()) == len(RECORDS)


def test_show_schema() -> None:
    """The schema is JSON schema."""
    assert json.loads(run("show", "--schema"))["$schema"].startswith("https://json-schema.org/")


def test_mistakes_are_told(tmp_path: Path) -> None:
    """No such record, no such model, results that would be mixed up, no results."""
    with pytest.raises(UsageError, match="no record"):
        run("show", "nothing-like-this")
    with pytest.raises(UsageError, match="no model nope"):
        run("models", str(tmp_path), "nope")
    plan = tmp_path / "plan.json"
    plan.write_text('{"version": "9.9.9", "base": [], "launches": []}')
    out = tmp_path / "out"
    out.mkdir()
    (out / "old.json").write_text("{}")
    with pytest.raises(UsageError, match="--resume"):
        run("run", str(plan), "--out", str(out))
    with pytest.raises(CannotError, match=r"No such file"):
        run("run", str(tmp_path / "none.json"), "--out", str(tmp_path / "new"))


def test_run_without_sglang_is_one_line(tmp_path: Path) -> None:
    """A host without SGLang or GPU is told so."""
    plan = tmp_path / "plan.json"
    plan.write_text('{"version": "9.9.9", "base": [], "launches": []}')
    (tmp_path / "models").mkdir()
    with pytest.raises(CannotError, match=r"GPU|versions|sglang"):
        run("run", str(plan), "--out", str(tmp_path / "out"), "--models", str(tmp_path / "models"))


def test_bundle_runs_alone(tmp_path: Path) -> None:
    """A bundle without wheels holds the plan, the probe, the models' generator and run.sh."""
    plan = tmp_path / "plan.json"
    plan.write_text('{"version": "9.9.9", "base": [], "launches": []}')
    run("bundle", str(plan), str(tmp_path / "bundle"))
    there = {p.relative_to(tmp_path / "bundle").as_posix() for p in (tmp_path / "bundle").rglob("*")}
    assert {"plan.json", "run.sh", "code/indexer/validate/probe.py"} <= there
    with pytest.raises(UsageError, match="exists"):
        run("bundle", str(plan), str(tmp_path / "bundle"))


@pytest.mark.release
def test_plan_of_a_release(tmp_path: Path) -> None:
    """The plan of a real release exercises every speculative flag, and says what the release lacks."""
    text = run("plan", "--version", "0.5.17", "-o", str(tmp_path / "plan.json"))
    assert "speculative flags: 39 of 39" in text
    assert "not exercised: UNO: this version has no such algorithm" in text
    assert len(json.loads((tmp_path / "plan.json").read_text())["launches"]) >= 60
