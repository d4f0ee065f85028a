"""Plans follow the snapshot: what the version lacks is left out and said."""

from pathlib import Path

import msgspec
import pytest

from indexer.errors import CannotError
from indexer.knowledge.schema import Algorithm, Flag, Location, Rule, Snapshot, Source
from indexer.validate.launchspec import (
    Launch,
    Plan,
    arguments,
    asked_values,
    base_name,
    launch_id,
    read_plan,
)
from indexer.validate.plan import build_plan, coverage, mark, rule_coverage
from indexer.validate.predict import Predictions
from indexer.validate.records import Prediction

AT = Location("f.py", 1)


def flag(name: str, kind: str | None = "str", choices: list[str] | None = None) -> Flag:
    """Return one flag."""
    action = "_StoreAction" if kind else "_StoreTrueAction"
    return Flag(name, [f"--{name}"], name.replace("-", "_"), action, type=kind, choices=choices)


@pytest.fixture
def snapshot() -> Snapshot:
    """Return a small version with two algorithms and two radix-cache strategies."""
    flags = [
        flag("attention-backend", choices=["triton", "fa3", "other"]),
        flag("speculative-algorithm"),
        flag("speculative-draft-model-path"),
        flag("speculative-num-steps", "int"),
        flag("speculative-eagle-topk", "int"),
        flag("speculative-num-draft-tokens", "int"),
        flag("speculative-attention-mode", choices=["prefill", "decode"]),
        flag("speculative-new-thing"),
        flag("mamba-radix-cache-strategy", choices=["no_buffer", "extra_buffer"]),
        flag("disable-overlap-schedule", None),
        flag("page-size", "int"),
        flag("load-format"),
        flag("random-seed", "int"),
        flag("tp-size", "int"),
        flag("pp-size", "int"),
    ]
    algorithms = [Algorithm("EAGLE", AT), Algorithm("NGRAM", AT), Algorithm("MYSTERY", AT)]
    return Snapshot(1, Source("9.9", "release"), flags, algorithms=algorithms)


def test_plan_follows_the_version(snapshot: Snapshot) -> None:
    """Only flags, choices and algorithms of the version are planned; the rest is listed."""
    plan = build_plan(snapshot)
    options = {option for one in snapshot.flags for option in one.option_strings}
    for launch in plan.launches:
        assert {word for word in launch.flags if word.startswith("--")} <= options
        values = asked_values(launch.flags, snapshot)
        assert values.get("attention_backend") != "other"
        assert launch.id == launch_id(launch.model, launch.flags, launch.env)
    assert plan.base == ["--random-seed", "1"]
    asked = [asked_values(launch.flags, snapshot) for launch in plan.launches]
    assert {value.get("speculative_algorithm") for value in asked} >= {None, "EAGLE", "NGRAM"}
    left = dict(plan.left_out)
    assert left["MYSTERY"] == "no small draft model is made for it"
    assert left["--speculative-new-thing"] == "no lever sets it yet"
    assert "DFLASH" in left and "NEXTN" in left
    ids = [launch.id for launch in plan.launches]
    assert len(set(ids)) == len(ids)
    assert coverage(plan, snapshot)["speculative flags"] == (6, 7)


def test_pairs_cover_every_choice(snapshot: Snapshot) -> None:
    """Each documented strategy meets overlap on and off."""
    seen = set()
    for launch in build_plan(snapshot).launches:
        values = asked_values(launch.flags, snapshot)
        if launch.why == "pairwise" and "mamba_radix_cache_strategy" in values:
            overlap = "disable_overlap_schedule" not in values
            seen.add((values["mamba_radix_cache_strategy"], overlap))
    assert seen == {(s, o) for s in ("no_buffer", "extra_buffer") for o in (True, False)}


def test_two_gpus(snapshot: Snapshot) -> None:
    """The two-GPU part runs baselines and algorithms under tensor and pipeline parallelism."""
    plan = build_plan(snapshot, gpus=2)
    assert plan.gpus == 2 and plan.launches
    assert all({"--tp-size", "--pp-size"} & set(launch.flags) for launch in plan.launches)


def test_an_id_is_what_the_launch_is() -> None:
    """The order of flags does not matter; what they say does, and paths by their last part."""
    flags = ["--page-size", "64", "--speculative-algorithm", "NGRAM", "--attention-backend", "fa3"]
    turned = ["--attention-backend", "fa3", "--speculative-algorithm", "NGRAM", "--page-size", "64"]
    assert launch_id("m", flags) == launch_id("m", turned) == "m.ngram.fa3.page-size-64"
    assert launch_id("m", flags, {"A": "Yes"}) == "m.ngram.fa3.page-size-64.a-yes"
    assert launch_id("m", ["--attention-backend", "triton", *flags]) == launch_id("m", flags)
    assert launch_id("m", ["--speculative-algorithm", "ngram"]) == "m.ngram-as-given"
    chain = [
        "--speculative-num-steps",
        "3",
        "--speculative-eagle-topk",
        "1",
        "--speculative-num-draft-tokens",
        "4",
    ]
    draft = ["--speculative-draft-model-path", "{models}/draft-eagle"]
    assert launch_id("m", [*draft, *chain]) == "m.draft-eagle.3-1-4"
    assert launch_id("m", chain[:2]) == "m.num-steps-3"


def test_denied_options(snapshot: Snapshot) -> None:
    """``--no-NAME`` of a boolean option says False."""
    snapshot.flags.append(
        Flag("fast", ["--fast", "--no-fast"], "fast", "BooleanOptionalAction", default=None)
    )
    assert asked_values(["--no-fast"], snapshot) == {"fast": False}
    assert asked_values(["--fast"], snapshot) == {"fast": True}


def test_marking(snapshot: Snapshot) -> None:
    """Predictions tell refusals and overrides from plain launches."""
    plan = Plan(
        "9.9",
        [],
        [
            Launch("a", "gdn-succ", []),
            Launch("b", "gdn-succ", ["--speculative-algorithm", "EAGLE"]),
            Launch("c", "gdn-succ", ["--speculative-algorithm", "NEXTN"]),
        ],
    )
    said = {
        "b": Prediction("static", True, "no"),
        "c": Prediction("static", False, resolved={"speculative_algorithm": "EAGLE"}),
    }
    mark(plan, Predictions(said, {}))
    assert [launch.kind for launch in plan.launches] == ["baseline", "refusal", "override"]


def test_rule_coverage(snapshot: Snapshot) -> None:
    """Rules that name a speculative field count, and those that act on a planned launch are exercised."""
    snapshot.rules = [
        Rule("one", "error", Location("f.py", 1, 3), "f", flags=["speculative_num_steps"]),
        Rule("two", "override", Location("f.py", 9), "f", flags=["speculative_eagle_topk", "page_size"]),
        Rule("other", "error", AT, "f", flags=["page_size"]),
        Rule("told", "warning", AT, "f", flags=["speculative_num_steps"]),
    ]
    said = Predictions({}, {}, frozenset({("f.py", 2), ("g.py", 9)}))
    assert rule_coverage(said, snapshot) == (1, 2)


def test_arguments_and_asked_values(snapshot: Snapshot) -> None:
    """A launch's own flags replace the base's; values are read as the parser would."""
    plan = Plan("9.9", ["--page-size", "1", "--random-seed", "1"], [])
    launch = Launch("a", "m", ["--page-size", "64", "--disable-overlap-schedule"], without=["--random-seed"])
    argv = arguments(plan, launch)
    assert argv == ["--model-path", "{models}/m", "--page-size", "64", "--disable-overlap-schedule"]
    assert asked_values(launch.flags, snapshot) == {"page_size": 64, "disable_overlap_schedule": True}
    assert base_name("a~2") == "a"


def test_plan_files(tmp_path: Path) -> None:
    """A plan is read back; what is none is told."""
    plan = Plan("9.9", [], [Launch("a", "m", [])])
    (tmp_path / "p.json").write_bytes(msgspec.json.encode(plan))
    assert read_plan(tmp_path / "p.json") == plan
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(CannotError, match="not a launch plan"):
        read_plan(tmp_path / "x.json")
    with pytest.raises(CannotError, match="No such file"):
        read_plan(tmp_path / "none.json")
