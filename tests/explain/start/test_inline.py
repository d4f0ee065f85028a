"""A block that computes a local number becomes a function of its own."""

from __future__ import annotations

from indexer.explain.start.inline import NAME, AppendedTree, find_inline_ratio
from tests.trees import MemoryTree

PATH = "python/sglang/srt/runner.py"
SOURCE = """
class Runner:
    def pools(self, size):
        count = size
        if self.hybrid is not None:
            more = 0
            if self.args.buffered:
                more = 2
            ratio = 3 + more
            count = min(count, self.args.max_mamba_cache_size // ratio)
        return count
"""


def test_the_block_is_found_and_runs_by_itself() -> None:
    tree = MemoryTree({PATH: SOURCE})
    source, at = find_inline_ratio(tree, PATH)
    assert (at.path, at.line, at.end_line) == (PATH, 5, 10)
    names: dict = {}
    # The text is ours above, so it may be run here.
    exec(source.replace("max_num_reqs)", "count)").replace("max_num_reqs", "count"), names)

    class Args:
        buffered, max_mamba_cache_size = True, 100

    class Self:
        args = Args

    assert names[NAME](Self, 50) == 5
    assert AppendedTree(tree, PATH, source).text(PATH).startswith(SOURCE)


def test_a_number_set_elsewhere_is_not_taken() -> None:
    outside = SOURCE.replace("            ratio = 3 + more\n", "").replace("more = 0", "more = ratio")
    assert find_inline_ratio(MemoryTree({PATH: outside}), PATH) is None
