"""What the shipped history tells of real flags, algorithms and variables: the handed cases."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from indexer.cli.history import command
from indexer.errors import UsageError
from indexer.knowledge.history import SHIPPED, History, load_history
from indexer.knowledge.lookup_history import abbreviation, stories, suggestions
from indexer.knowledge.stories import Story

ARGUMENTS = "python/sglang/srt/server_args.py"


@pytest.fixture(scope="module")
def history() -> History:
    return load_history(SHIPPED)


@pytest.fixture(scope="module")
def story(history: History) -> Callable[[str], Story]:
    def tell(name: str) -> Story:
        (found,) = stories(history, name)
        return found

    return tell


def happened(story: Story, what: str) -> list[tuple[str, str]]:
    return [(event.version, event.text) for event in story.events if event.what == what]


def test_variable_that_is_taken_for_another(story: Callable[[str], Story]) -> None:
    found = story("SGL_ENABLE_JIT_DEEPGEMM")
    assert (found.last, found.current, found.taken_for) == (
        "0.5.3.post1",
        False,
        "SGLANG_ENABLE_JIT_DEEPGEMM",
    )
    told = "no setting of its own any more (last in 0.5.3.post1): use SGLANG_ENABLE_JIT_DEEPGEMM, which "
    told += "SGLang sets from it (python/sglang/srt/environ.py:237)"
    assert happened(found, "removed") == [("0.5.3.post2", told)]
    assert story("SGLANG_ENABLE_SPEC_V2").taken_for is None
    lines = CliRunner().invoke(command, ["SGL_ENABLE_JIT_DEEPGEMM"]).output.splitlines()
    assert "0.4.4 … 0.5.3.post1, now taken for SGLANG_ENABLE_JIT_DEEPGEMM" in lines[0]


def test_all_releases_since_speculation_began(history: History) -> None:
    assert history.versions[0] == "0.4.1"
    assert history.versions[-1] == "0.5.23"
    assert len(history.versions) == 89
    assert all(len(release.sha256 or "") == 64 for release in history.releases)


def test_history_is_small_enough_to_ship(history: History) -> None:
    assert SHIPPED.stat().st_size < 4_500 * len(history.versions)


def test_c01_mamba_scheduler_strategy(story: Callable[[str], Story]) -> None:
    told = story("mamba-scheduler-strategy")
    assert (told.last, told.current) == ("0.5.19", False)
    assert happened(told, "deprecated") == [("0.5.14", "deprecated, use --mamba-radix-cache-strategy")]
    assert happened(told, "removed")[0][0] == "0.5.20"
    successor = story("--mamba-radix-cache-strategy")
    assert successor.current
    assert (
        "0.5.14",
        "replaces --mamba-scheduler-strategy (the tree names it as the replacement)",
    ) in happened(successor, "renamed-from")


def test_c08_cuda_graph_max_bs(story: Callable[[str], Story]) -> None:
    told = story("--cuda-graph-max-bs")
    assert happened(told, "deprecated")[0][0] == "0.5.14"
    (version, text), *_ = happened(told, "removed")
    assert version == "0.5.20"
    assert "ambiguous now: could match --cuda-graph-max-bs-decode, --cuda-graph-max-bs-prefill" in text


def test_c09_ngram_window_flags(story: Callable[[str], Story], history: History) -> None:
    for name, line in (
        ("min-match-window-size", 4025),
        ("max-match-window-size", 4031),
        ("branch-length", 4056),
    ):
        told = story(f"speculative-ngram-{name}")
        assert (told.last, told.current) == ("0.5.9", False)
        assert happened(told, "renamed-to") == []
        assert line  # the registration's line; the history keeps the declaration's
    assert story("speculative-ngram-max-trie-depth").first == "0.5.10"


def test_c10_dflash_draft_window(story: Callable[[str], Story]) -> None:
    told = story("--speculative-dflash-draft-window-size")
    assert (told.first, told.last) == ("0.5.11", "0.5.19")
    assert happened(told, "deprecated") == [("0.5.13", "deprecated, use --speculative-draft-window-size")]
    assert story("--speculative-draft-window-size").first == "0.5.12"


def test_c12_data_parallel_size_changed_its_dest(story: Callable[[str], Story]) -> None:
    told = story("--data-parallel-size")
    assert told.current
    assert ("0.5.14", "dest data_parallel_size → dp_size") in happened(told, "changed")


def test_c13_flashinfer_mla(story: Callable[[str], Story]) -> None:
    told = story("--enable-flashinfer-mla")
    assert not told.current
    replaced = happened(told, "deprecated") + happened(told, "renamed-to")
    assert any("--attention-backend" in text for _, text in replaced)


def test_c15_max_loaded_loras(story: Callable[[str], Story], history: History) -> None:
    first = story("max_loaded_loras").first
    assert history.index("0.4.9") < history.index(first) <= history.index("0.4.10.post2")


def test_c18_linear_attention_verify_backend(story: Callable[[str], Story]) -> None:
    assert story("--linear-attn-verify-backend").first == "0.5.17"


def test_c19_scale(history: History) -> None:
    assert len(history.flags_at("0.5.17")) > 470
    assert len(history.flags_at("0.5.20")) > len(history.flags_at("0.5.17"))


def test_a02_c03_c04_spec_v2(story: Callable[[str], Story], history: History) -> None:
    """Default False, then True, then only a notice, then nothing."""
    told = story("SGLANG_ENABLE_SPEC_V2")
    assert happened(told, "changed") == [("0.5.11", "default False → True")]
    (undeclared,) = [event for event in told.events if event.what == "undeclared"]
    assert undeclared.version == "0.5.14"
    assert undeclared.text == "no setting any more: a warning says so here"
    assert (told.last, told.current) == ("0.5.13.post1", False)
    assert undeclared.at is not None
    assert (undeclared.at.path, undeclared.at.line) == (
        "python/sglang/srt/arg_groups/speculative_hook.py",
        69,
    )
    assert happened(told, "removed") == [("0.5.21", "the notice is gone too (last in 0.5.20)")]
    declared = {
        v: fact.declared_at for v in ("0.5.9", "0.5.10", "0.5.11", "0.5.12") for fact in [_env(history, v)]
    }
    assert [at.line for at in declared.values() if at] == [414, 442, 459, 470]


def _env(history: History, version: str):  # type: ignore[no-untyped-def]
    return next(fact for fact in history.env_vars_at(version) if fact.name == "SGLANG_ENABLE_SPEC_V2")


def test_algorithm_dflash(story: Callable[[str], Story], history: History) -> None:
    told = story("DFLASH")
    assert told.kind == "algorithm"
    assert told.current
    assert history.index(told.first) > history.index("0.5.9")


def test_eagle_topk(story: Callable[[str], Story]) -> None:
    told = story("speculative_eagle_topk")
    assert told.current
    assert happened(told, "changed")[-1][1] == "default 8 → unset" or told.events


def test_unknown_names_get_suggestions(history: History) -> None:
    assert stories(history, "speculative-num-stepz") == []
    assert suggestions(history, "speculative-num-stepz")[0] == "--speculative-num-steps"
    assert suggestions(history, "--speculative-num-s")[0] == "--speculative-num-steps"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize(
    "name", ["cuda-graph-max-bs", "--cuda-graph-max-bs", "cuda_graph_max_bs", "flag:cuda-graph-max-bs"]
)
def test_any_spelling_of_a_flag(name: str) -> None:
    output = run(name).output
    assert output.startswith("--cuda-graph-max-bs (flag): 0.4.1 … 0.5.19, gone since")
    assert f"[0.5.19 {ARGUMENTS}:" in output


def test_json() -> None:
    body = json.loads(run("cuda-graph-max-bs", "--json").output)
    (told,) = body["stories"]
    assert told["events"][0]["at"]["path"] == ARGUMENTS
    assert body["versions"] == ["0.4.1", "0.5.23"]


def test_unknown_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"no covered release .* did you mean --cuda-graph-max-bs"):
        run("--cuda-graph-max-bz")


def test_an_abbreviation_tells_the_story_of_what_argparse_takes_it_for(history: History) -> None:
    assert abbreviation(history, "tp") == ("--tp-size", "0.5.23", [])
    short = abbreviation(history, "--speculative-draft")  # b23 of the cases
    assert short is not None
    assert (short.option, short.version) == ("--speculative-draft-model-path", "0.5.1.post3")
    assert len(short.ambiguous) > 1
    assert abbreviation(history, "no-such-thing") is None
    told = CliRunner().invoke(command, ["tp"])
    assert told.output.startswith("tp is no option of its own: in 0.5.23 argparse takes it for --tp-size\n")
