"""``show`` and ``search`` as a user runs them, over a small snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexer.cli import cli
from indexer.errors import IndexerError, UsageError
from indexer.knowledge.store import save_snapshot
from indexer.snapshots import cached_path
from tests.small_site import small_snapshot


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path))
    save_snapshot(small_snapshot(), cached_path("1.0"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*arguments, "--version", "1.0"])


def test_show_flag_for_a_reader_fits_80_columns() -> None:
    result = run("show", "flag", "speculative_draft_steps")
    assert result.exit_code == 0
    assert "How many steps the draft model takes." in result.output
    assert "python/sglang/srt/server_args.py:2" in result.output
    assert "error      steps are needed" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("algorithm", "quick", "QUICK → FAST"),
        ("model", "TinyForCausalLM", "GDN"),
        ("rule", "steps-needed", "self.args.draft_steps is None"),
        ("path", "decode", "● FastWorker.run"),
        ("env", "TINY_DEBUG", "EnvBool"),
        ("flag", "backend", "unknown: depends on the machine"),
        ("flag", "old-steps", "use --speculative-draft-steps"),
    ],
)
def test_show_every_kind(kind: str, name: str, told: str) -> None:
    result = run("show", kind, name)
    assert result.exit_code == 0
    assert told in result.output


def test_show_json_of_a_flag() -> None:
    record = json.loads(run("show", "flag", "backend", "--json").output)
    assert record["id"] == "flag:backend"
    assert record["choices_at"][0]["at"]["line"] == 8


def test_show_of_an_unknown_name_is_a_usage_error_with_suggestions() -> None:
    result = run("show", "flag", "bakend")
    assert isinstance(result.exception, IndexerError)
    assert result.exception.exit_code == 2
    assert "did you mean backend" in str(result.exception)


def test_show_of_a_name_that_other_releases_have_says_which() -> None:
    gone = run("show", "flag", "--mamba-scheduler-strategy").exception
    assert isinstance(gone, IndexerError) and gone.exit_code == 2
    assert "0.5.7 to 0.5.19 have it; see: indexer history mamba-scheduler-strategy" in str(gone)


def test_show_of_a_model_by_its_folder_or_its_name_on_hugging_face(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text('{"architectures": ["TinyForCausalLM"]}')
    assert "TinyForCausalLM" in run("show", "model", str(tmp_path / "m")).output
    error = run("show", "model", "org/Tiny-8B").exception
    assert isinstance(error, IndexerError) and error.exit_code == 2
    assert "config.json names (perhaps TinyForCausalLM)" in str(error)
    (tmp_path / "m" / "config.json").write_text("{}")
    assert "names no architectures" in str(run("show", "model", str(tmp_path / "m")).exception)


def test_search_for_a_reader_and_as_json() -> None:
    result = run("search", "specualtive", "draft", "steps")
    assert result.exit_code == 0
    assert "'specualtive' taken as 'speculative'" in result.output
    answer = json.loads(run("search", "draft steps", "--json").output)
    assert answer["hits"][0]["id"] == "flag:speculative-draft-steps"
    assert answer["hits"][0]["cited"]["line"] == 2


def test_an_option_string_is_a_name() -> None:
    assert "--speculative-draft-steps" in run("show", "flag", "--speculative-draft-steps").output
    assert "--speculative-draft-steps" in run("search", "--speculative-draft-steps", "--limit", "1").output


def test_search_without_hits_says_so() -> None:
    result = run("search", "zzzzqqqq")
    assert result.exit_code == 1
    assert "nothing known about 'zzzzqqqq' in SGLang 1.0" in result.output


def test_search_that_only_has_some_of_the_words_says_so() -> None:
    result = run("search", "postgres", "draft", "walrus")
    assert result.exit_code == 1
    assert "nothing known about 'postgres draft walrus' (postgres, walrus) in SGLang 1.0; nearest:" in (
        result.output
    )
    assert "--speculative-draft-steps" in result.output
    answer = run("search", "--speculative-draft-walrus", "--json")
    assert answer.exit_code == 1
    told = json.loads(answer.output)
    assert told["confident"] is False and told["hits"] and told["unknown"] == ["walrus"]
    assert json.loads(run("search", "draft steps", "--json").output)["confident"] is True


def test_search_for_what_other_releases_have_says_which() -> None:
    result = run("search", "--mamba-scheduler-strategy")
    assert result.exit_code == 0
    assert "has no flag --mamba-scheduler-strategy: of the releases, 0.5.7 to 0.5.19 have it" in result.output
    assert "see: indexer history mamba-scheduler-strategy" in result.output
    assert run("search", "--mamba-scheduler-strategy", "--kind", "env").output.count("history") == 0


def test_search_for_a_message_of_other_releases_names_the_command() -> None:
    pasted = "Spec v2 currently only supports topk = 1 for speculative decoding."
    result = run("search", pasted)
    assert "SGLang 1.0 does not say this; it is a message of 0.5.7 … 0.5.10.post1" in result.output
    assert f"indexer history --message '{pasted}'" in result.output
    told = json.loads(run("search", pasted, "--json").output)
    assert told["said_before"].startswith("a message of 0.5.7 … 0.5.10.post1: indexer history --message")


def test_a_damaged_search_index_is_rebuilt(tmp_path: Path) -> None:
    assert run("search", "backend").exit_code == 0
    [folder] = (tmp_path / "search").iterdir()
    for file in folder.iterdir():
        file.write_bytes(b"damaged")
    assert "--backend" in run("search", "backend").output


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("path", "decode  "),
        ("flag", "--speculative-draft-steps  How many steps the draft model takes."),
        ("algorithm", "FAST  also QUICK"),
        ("model", "TinyForCausalLM  GDN state"),
        ("env", "TINY_DEBUG"),
        ("rule", "steps-needed"),
    ],
)
def test_show_without_a_name_lists_the_kind(kind: str, line: str) -> None:
    result = run("show", kind)
    assert result.exit_code == 0
    assert any(" ".join(one.split()).startswith(" ".join(line.split())) for one in result.output.splitlines())
    assert line.split()[0].lstrip("-") in [
        one["name"] for one in json.loads(run("show", kind, "--json").output)
    ]


def test_show_of_what_nothing_is_like_names_the_commands_that_list_and_search() -> None:
    error = run("show", "flag", "nonsense").exception
    assert isinstance(error, IndexerError) and error.exit_code == 2
    assert "none is like it; `indexer show flag` lists them" in str(error)


@pytest.mark.parametrize(
    "words", [("show", "flag", ""), ("show", "flag", "--"), ("search", ""), ("search", "-")]
)
def test_an_empty_name_is_a_usage_error(words: tuple[str, ...]) -> None:
    error = run(*words).exception
    assert isinstance(error, (IndexerError, SystemExit))
    assert getattr(error, "exit_code", getattr(error, "code", None)) == 2


def test_a_version_behind_the_name_is_the_version() -> None:
    told = CliRunner().invoke(cli, ["show", "flag", "backend@1.0"])
    assert "flag · SGLang 1.0" in told.output
    error = run("show", "flag", "backend@2.0").exception
    assert isinstance(error, IndexerError) and "say different versions" in str(error)


@pytest.mark.parametrize("kind", ["flags", "FLAG", "Flags"])
def test_a_kind_in_the_plural_or_in_capitals(kind: str) -> None:
    assert "--backend" in run("show", kind, "backend").output


@pytest.mark.parametrize(
    ("kind", "told"), [("algorithm", "an algorithm"), ("env", "an env"), ("flag", "a flag")]
)
def test_show_without_a_name_says_of_what(kind: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"no name of {told} to show"):
        CliRunner().invoke(cli, ["show", kind, "--version", "1.0", "--", "--"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["flag", "backend", "--arch", "TinyForCausalLM"], "--arch and --algorithm are for one code path"),
        (["path", "--algorithm", "FAST"], "--arch and --algorithm are for one code path"),
        (["path", "decode", "--algorithm", "FASTER"], "no algorithm 'FASTER'"),
        (["path", "decode", "--arch", "Tinny"], "no model 'Tinny'"),
        (
            ["path", "decode", "--arch", "TinyForCausalLM"],
            "TinyForCausalLM has no recurrent state",
        ),
    ],
)
def test_a_code_path_is_only_followed_for_what_the_release_has(words: list[str], told: str) -> None:
    error = run("show", *words).exception
    assert isinstance(error, UsageError) and told in str(error)


def test_a_code_path_is_followed_for_one_model_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["TinyForCausalLM", "OtherForCausalLM"]}')
    error = run("show", "path", "decode", "--arch", str(tmp_path)).exception
    assert isinstance(error, UsageError) and "names TinyForCausalLM and OtherForCausalLM" in str(error)
