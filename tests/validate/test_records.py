"""The committed records: readable, published schema, nothing personal, and what they add up to."""

import re
from collections import Counter
from pathlib import Path

import jsonschema
import msgspec
import pytest

from indexer.errors import CannotError
from indexer.validate import records
from indexer.validate.launchspec import launch_id

EVIDENCE = Path(__file__).parents[2] / "evidence"
RECORDS = records.load(EVIDENCE)


def of(version: str, gpus: int = 1) -> list[records.Record]:
    """Return the records of a version on a number of GPUs."""
    return [r for r in RECORDS if r.version == version and r.machine.gpus == gpus]


def test_files_are_canonical() -> None:
    """Each file is what saving its record writes, under its id's name."""
    for path in EVIDENCE.glob("*.json"):
        record = records.decode(path.read_bytes())
        assert path.stem == record.id.replace("/", "-")
        assert records.encode(record) == path.read_bytes()
        assert path.stat().st_size < 2**17


def test_schema_describes_every_record() -> None:
    """The published JSON schema accepts them all, and refuses what is none."""
    validator = jsonschema.Draft202012Validator(records.schema())
    for record in RECORDS:
        validator.validate(msgspec.to_builtins(record))
    assert not validator.is_valid({"schema": 1, "id": "x"})


def test_nothing_of_the_host() -> None:
    """No host folder, host name or address is in a record."""
    for path in EVIDENCE.glob("*.json"):
        text = path.read_text("utf-8")
        assert not re.search(r"/(?:root|home|tmp|work|opt|mnt)/", text), path.name
        assert set(re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", text)) <= {"127.0.0.1", "0.0.0.0", "9.19.0.56"}


def test_every_record_names_its_machine_and_versions() -> None:
    """Machine, driver, versions, wheel hash, time: evidence without them is none."""
    for record in RECORDS:
        assert record.machine.gpu == "NVIDIA H200" and record.machine.sm == "90"
        assert record.machine.driver and record.versions["torch"] and record.versions["cuda"]
        assert record.artifact_sha256 and record.started.startswith("2026-11-29T")
        assert record.log and record.log.digest
        assert len(record.model.digest) == 64


def test_what_the_one_gpu_run_covers() -> None:
    """Launches, refusals, overrides, strategies, backends, trees and overlap of 0.5.17."""
    found = of("0.5.17")
    kinds = Counter(record.kind for record in found)
    assert len(found) >= 60 and kinds["refusal"] >= 15 and kinds["override"] >= 15
    served = [record for record in found if record.outcome == "served"]
    assert {r.algorithm for r in served} >= {
        "NEXTN",
        "EAGLE",
        "EAGLE3",
        "STANDALONE",
        "NGRAM",
        "DFLASH",
        "DSPARK",
        "FROZEN_KV_MTP",
    }
    assert {r.resolved.get("attention_backend") for r in served} >= {"triton", "fa3", "flashinfer"}
    speculative = [r for r in served if r.resolved.get("speculative_algorithm")]
    assert {r.resolved.get("mamba_radix_cache_strategy") for r in speculative} >= {
        "extra_buffer",
        "extra_buffer_lazy",
    }
    assert {r.resolved.get("disable_overlap_schedule") for r in speculative} == {True, False}
    assert {1, 4} <= {r.resolved.get("speculative_eagle_topk") for r in speculative}


def test_ids_are_the_plan_s() -> None:
    """A record's launch is named as a plan names it: by what was launched."""
    for record in RECORDS:
        assert record.launch == launch_id(record.model.name, record.flags, record.env)
        assert record.id.partition("~")[0].endswith("-" + record.launch)


def test_what_the_default_pin_s_run_covers() -> None:
    """Every speculative flag of 0.5.23 that a record asks for served at least once; algorithms, trees."""
    served = [record for record in of("0.5.23") if record.outcome == "served"]
    assert {field for r in served for field in r.asked if field.startswith("speculative")} == {
        field for r in of("0.5.23") for field in r.asked if field.startswith("speculative")
    }
    algorithms = {
        "NEXTN",
        "EAGLE",
        "EAGLE3",
        "STANDALONE",
        "NGRAM",
        "DFLASH",
        "DSPARK",
        "UNO",
        "FROZEN_KV_MTP",
    }
    assert {r.algorithm for r in served} >= algorithms
    assert {"dense", "dense-llama", "hybrid-gdn", "hybrid-gdn-dense", "hybrid-mamba2", "mla"} <= {
        r.model.family for r in served
    }
    speculative = [r for r in served if r.algorithm]
    assert {r.resolved.get("attention_backend") for r in speculative} >= {"triton", "fa3", "flashinfer"}
    assert {r.resolved.get("speculative_eagle_topk") for r in speculative} >= {1, 4}
    assert {r.resolved.get("page_size") for r in speculative} >= {1, 64}


def test_other_runs() -> None:
    """The two-GPU run is there."""
    assert len(of("0.5.17", 2)) >= 12
    outcomes = {r.outcome for r in of("0.5.17", 2) if "--pp-size" in r.flags and r.algorithm}
    assert outcomes == {"refused"}


def test_both_tiers_were_right() -> None:
    """No launch differs from what `explain` and the resolver said of it; refusals came as documented."""
    judged = 0
    for record in RECORDS:
        for check in record.checks:
            if check.name.startswith(("as predicted", "documented refusal")):
                assert check.passed is not False, (record.id, check)
                judged += 1
    assert judged > 500


def test_known_faults_are_shown_as_failed() -> None:
    """What the resolver accepts and the server dies of keeps its line."""
    failed = {r.launch: r for r in of("0.5.17") if r.outcome == "failed"}
    assert "use_triton_causal_conv" in (failed["fh1-succ.ngram.triton"].error or "")
    adaptive = failed["gdn-succ.nextn.triton.adaptive"]
    assert "shared logits buffer" in (adaptive.error or "")
    assert (adaptive.where or "").startswith("sglang/srt/model_executor/")


def test_damaged_and_foreign_files_are_told(tmp_path: Path) -> None:
    """A file that is no record is named; a record of another schema too."""
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(CannotError, match=r"x\.json"):
        records.load(tmp_path)
    other = msgspec.to_builtins(RECORDS[0]) | {"schema": 99}
    with pytest.raises(CannotError, match="schema 99"):
        records.decode(msgspec.json.encode(other))


def test_saving_replaces_whole_files(tmp_path: Path) -> None:
    """Saved records come back equal, and no part file stays."""
    records.save(RECORDS[:3], tmp_path)
    assert records.load(tmp_path) == sorted(RECORDS[:3], key=lambda record: record.id)
    assert not list(tmp_path.glob("*.part"))
