"""How many GPUs a launch takes of a node, by the release's own numbering."""

from __future__ import annotations

import pytest

from indexer.explain.ranks import gpus_needed
from tests.trees import MemoryTree

ENGINE = """
def launch(args):
    gpu_id = first(args)
    for pp_rank in range(2):
        for tp_rank in range(2):
            gpu_id = (
                args.base_gpu_id
                + (pp_rank % pp_size_per_node) * tp_size_per_node
                + (tp_rank % tp_size_per_node) * here().gpu_id_step
            )
"""
CONTROLLER = """
def launch(self, base_gpu_id):
    gpu_id = args.base_gpu_id + base_gpu_id + tp_rank % tp_size_per_node
"""
TREE = MemoryTree(
    {
        "python/sglang/srt/entrypoints/engine.py": ENGINE,
        "python/sglang/srt/managers/data_parallel_controller.py": CONTROLLER,
    }
)


@pytest.mark.parametrize(
    ("values", "gpus", "processes", "line"),
    [
        ({"tp_size": 8}, 8, 8, 6),
        ({"tp_size": 4, "pp_size": 2}, 8, 8, 6),
        ({"tp_size": 16, "nnodes": 2}, 8, 8, 6),
        ({"tp_size": 2, "base_gpu_id": 3, "gpu_id_step": 2}, 6, 2, 6),
        ({"tp_size": 2, "dp_size": 3}, 6, 6, 3),
        ({"tp_size": 8, "dp_size": 8, "enable_dp_attention": True}, 8, 8, 3),
        ({"tp_size": 8, "attn_dp_size": 8}, 8, 8, 6),
    ],
)
def test_the_highest_number_that_is_given_out(values, gpus, processes, line) -> None:
    needed = gpus_needed(TREE, values)
    assert needed is not None
    assert (needed.gpus, needed.processes, needed.at.line) == (gpus, processes, line)


@pytest.mark.parametrize(
    "values",
    [{"tp_size": {"unknown": "x"}}, {"tp_size": 2, "use_ray": True}, {"tp_size": 0}, {"tp_size": True}],
)
def test_what_is_not_known_is_not_counted(values) -> None:
    assert gpus_needed(TREE, values) is None


def test_a_numbering_of_another_shape_is_not_read() -> None:
    odd = MemoryTree({"python/sglang/srt/entrypoints/engine.py": "gpu_id = place(tp_rank)\n"})
    assert gpus_needed(odd, {"tp_size": 2}) is None
