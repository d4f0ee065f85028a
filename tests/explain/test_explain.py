"""The command: answers, exit codes, JSON, batch, bad input."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from indexer.cli.explain import command
from indexer.errors import UsageError

pytestmark = pytest.mark.release

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "vocab_size": 32000,
    "intermediate_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 8,
    "head_dim": 128, "max_position_embeddings": 8192, "torch_dtype": "bfloat16", "rms_norm_eps": 1e-05,
}  # fmt: skip


@pytest.fixture
def llama(tmp_path, release_tree):
    release_tree("0.5.9")
    folder = tmp_path / "llama"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    return folder


def _batch(tmp_path, questions):
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in questions))
    result = CliRunner().invoke(command, ["--version", "0.5.9", "--batch", str(file)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_batch_answers_every_line_with_its_id(tmp_path, llama):
    common = {"model": str(llama), "gpu": "H200", "gpus": 8}
    ngram = ["--speculative-algorithm", "NGRAM"]
    answers = _batch(
        tmp_path,
        [
            {"id": "plain", "argv": [], **common},
            {"id": "ngram", "argv": ngram, **common},
            {"id": "typo", "argv": ["--speculative-algorithmus", "NGRAM"], **common},
            {"id": "bare", "argv": ["--speculative-algorithm", "EAGLE", "--speculative-num-steps", "3",
                                    "--speculative-draft-model-path", str(llama)], **common},
            {"id": "gpu", "argv": [], "model": str(llama), "gpu": "H300"},
            {"id": "away", "argv": ["--model-path", "org/somewhere"], "gpu": "H200"},
        ],
    )  # fmt: skip
    by_id = {answer["id"]: answer for answer in answers}
    assert list(by_id) == ["plain", "ngram", "typo", "bare", "gpu", "away"]
    assert by_id["plain"]["outcome"] == by_id["ngram"]["outcome"] == "starts"
    assert by_id["ngram"]["fields"]["disable_overlap_schedule"]["resolved"] is True
    assert by_id["ngram"]["fields"]["disable_overlap_schedule"]["by"][0]["at"]["line"] > 1000
    assert by_id["typo"]["outcome"] == "refused"
    assert "unrecognized arguments" in by_id["typo"]["refusal"]["message"]
    assert by_id["bare"]["outcome"] == "refused"
    assert by_id["bare"]["refusal"]["exception"] == "TypeError"
    assert by_id["gpu"]["outcome"] == by_id["away"]["outcome"] == "unknown"
    assert "org/somewhere" in json.dumps(by_id["away"]["unknowns"])


def test_no_gpu_named_tries_what_there_is(tmp_path, llama):
    (answer,) = _batch(
        tmp_path, [{"id": 1, "argv": ["--speculative-algorithm", "NGRAM"], "model": str(llama)}]
    )
    assert answer["outcome"] != "refused"
    assert any("GPU" in fact["what"] or "SM" in fact["what"] for fact in answer["unknowns"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version", "0.5.9"],
        ["--version", "0.5.9", "--model", "nowhere", "--", "--port", "1"],
        ["--version", "0.5.9", "--", "vllm", "serve"],
        ["--version", "0.5.9", "--env", "X", "--", "--port", "1"],
        ["--version", "0.5.9", "--gpu", "H300", "--", "--model-path", "m"],
    ],
)
def test_bad_questions_are_usage_errors(arguments, release_tree):
    release_tree("0.5.9")
    result = CliRunner().invoke(command, arguments)
    assert isinstance(result.exception, UsageError), result.exception


def test_nothing_is_certain_where_a_path_was_not_finished():
    from indexer.explain.explanation import MAY, UNKNOWN
    from indexer.explain.join import join
    from indexer.explain.resolve import PathResult
    from indexer.interpret.explore import Exploration, ExploredPath

    finished = PathResult(True, "check", asked={"x": 1}, resolved={"x": 2})
    stopped = PathResult(None, "resolve", asked={"x": 1}, reason="iteration of something unknown")
    paths = [ExploredPath(finished, []), ExploredPath(stopped, [])]
    answer = join("0.0", Exploration(paths, complete=True), [])
    assert answer.outcome == UNKNOWN
    assert answer.fields["x"].certainty == MAY


def test_refused_by_different_rules_is_still_refused():
    from indexer.explain.explanation import MAY, REFUSED
    from indexer.explain.join import join
    from indexer.explain.resolve import PathResult
    from indexer.interpret.explore import Exploration, ExploredPath

    one = PathResult(False, "resolve", exception="ValueError", message="a", at=("a.py", 3, "f"))
    other = PathResult(False, "check", exception="AssertionError", message="", at=("b.py", 9, "g"))
    paths = [ExploredPath(one, []), ExploredPath(other, [])]
    answer = join("0.0", Exploration(paths, complete=True), [])
    assert answer.outcome == REFUSED
    assert [(refusal.at.line, refusal.certainty) for refusal in answer.refusals] == [(3, MAY), (9, MAY)]
    cut = join("0.0", Exploration(paths, complete=False), [])
    assert cut.outcome != REFUSED and len(cut.refusals) == 2


def test_what_a_package_decides_is_asked_or_told(tmp_path, shared):
    model = str(shared / "oracle" / "models" / "qwen3-next")
    question = {"argv": ["--speculative-algorithm", "NEXTN"], "model": model, "gpu": "H200", "gpus": 8}
    told = {"packages": {"nvidia-cudnn-cu12": "9.16.0"}}
    (answer,) = _batch(tmp_path, [{"id": "told", **question, **told}])
    assert answer["outcome"] == "starts"
    assert answer["fields"]["disable_radix_cache"] == {
        **answer["fields"]["disable_radix_cache"],
        "asked": False,
        "resolved": True,
        "certainty": "will",
    }


def test_an_accepted_launch_that_can_not_serve_is_a_finding(llama):
    def run(*words: str, gpus: str = "2", versions: tuple[str, ...] = ("0.5.9",)):
        named = [word for version in versions for word in ("--version", version)]
        asked = [*named, "--gpu", "H200", "--gpus", gpus, "--model", str(llama), "--", "--tp-size", *words]
        return CliRunner().invoke(command, asked)

    assert run("2").exit_code == 0
    short = run("4")
    assert short.exit_code == 1
    assert short.stdout.startswith("SGLang 0.5.9: its arguments are accepted, but the server can't serve\n")
    table = run("4", versions=("0.5.9", "0.5.9"))
    assert table.exit_code == 1 and "accepted, but the server starts 4 processes" in table.stdout
    assert run("2", versions=("0.5.9", "0.5.9")).exit_code == 0


def test_a_folder_that_stands_for_an_id_is_nowhere_in_the_answer(tmp_path, llama):
    argv = ["--speculative-algorithm", "NGRAM"]
    asked = {"gpu": "H200", "gpus": 8, "model": str(llama)}
    with_id, with_folder = _batch(
        tmp_path,
        [
            {"argv": ["--model-path", "org/Llama", *argv], **asked},
            {"argv": ["--model-path", str(llama), *argv], **asked},
        ],
    )
    assert with_id["fields"]["tokenizer_path"]["resolved"] == "org/Llama"
    assert with_id["assumed"].pop() == f"the model org/Llama is what {llama} holds"
    assert str(llama) not in json.dumps(with_id)
    same = json.loads(json.dumps(with_folder).replace(str(llama), "org/Llama"))
    assert with_id == same, "all else is as if the launch named the folder"
