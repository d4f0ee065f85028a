"""The shapes by which ``sglang serve`` is told; sources of our own writing."""

from __future__ import annotations

from indexer.extract.other_parsers import diffusion_options
from indexer.extract.serve_command import serve_rule
from indexer.knowledge.schema import ServeRule
from tests.trees import MemoryTree

SERVE = """
def serve(args, words):
    if words and not words[0].startswith("-"):
        words = ["--model-path", words[0], *words[1:]]
    if words[0] == "--model-type":
        words = words[2:]
"""
ASKS = """
def path_of(words):
    raise Exception("Error: --model-path is required.")
"""
DIFFUSION = """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--steps", type=int, default=3)
        parser.add_argument("--kind", type=str, choices=["a", "b"])
        parser.add_argument("--quick", action="store_true")

    @staticmethod
    def parts(words):
        return [w for w in words if w.startswith("--parts.") or w.endswith("-part")]

    @classmethod
    def from_cli_args(cls, args, unknown):
        if unknown:
            raise SystemExit(f"error: unrecognized arguments: {unknown}")
"""


TREE = MemoryTree(
    {
        "python/sglang/cli/serve.py": SERVE,
        "python/sglang/cli/utils.py": ASKS,
        "python/sglang/multimodal_gen/runtime/server_args.py": DIFFUSION,
    }
)


def test_what_the_command_does() -> None:
    assert serve_rule(TREE) == ServeRule(
        positional=True,
        model_type=True,
        refuses=True,
        taken=["--parts.", "-part"],
        at="python/sglang/cli/utils.py:3",
    )


def test_an_older_command_has_less() -> None:
    command = "def serve(args, words):\n    known, rest = parser.parse_known_args(words)\n"
    older = MemoryTree(
        {
            "python/sglang/cli/serve.py": command,
            "python/sglang/cli/utils.py": ASKS,
            "python/sglang/multimodal_gen/runtime/server_args.py": "def from_cli_args(args):\n    pass\n",
        }
    )
    at = "python/sglang/cli/utils.py:3"
    assert serve_rule(older) == ServeRule(positional=False, model_type=False, refuses=False, taken=[], at=at)


def test_a_command_of_an_unknown_shape_has_no_definite_rule() -> None:
    path = "python/sglang/cli/serve.py"
    rule = serve_rule(MemoryTree({path: "from elsewhere import serve\n"}))
    assert rule == ServeRule(positional=None, model_type=None, refuses=None, taken=[], at=path)


def test_the_diffusion_parsers_options() -> None:
    assert diffusion_options(TREE) == {"--steps": "int", "--kind": "", "--quick": ""}


def test_no_command() -> None:
    assert serve_rule(MemoryTree({"python/sglang/utils.py": "x = 1\n"})) is None
