"""Where a package's files stand in its repository, so that a wheel's paths can be cited."""

from __future__ import annotations

from typing import NamedTuple


class Package(NamedTuple):
    """A package whose wheels are read.

    ``tree_prefix`` goes before a wheel's member names to make the tree's paths; ``repository_prefix``
    goes before a tree's path in a permalink.
    """

    name: str
    tree_prefix: str = ""
    repository: str | None = None
    repository_prefix: str = ""

    def permalink(
        self, ref: str, path: str, line: int | None = None, end_line: int | None = None
    ) -> str | None:
        """Return the web address of ``path`` at the tag or commit ``ref``."""
        if self.repository is None:
            return None
        url = f"{self.repository}/blob/{ref}/{self.repository_prefix}{path}"
        if line:
            url += f"#L{line}"
            if end_line and end_line != line:
                url += f"-L{end_line}"
        return url


SGLANG = Package("sglang", tree_prefix="python/", repository="https://github.com/sgl-project/sglang")
_KNOWN = {
    "sglang": SGLANG,
    "transformers": Package(
        "transformers", repository="https://github.com/huggingface/transformers", repository_prefix="src/"
    ),
}


def package(name: str) -> Package:
    """Return what is known of ``name``; an unknown package has no permalinks."""
    return _KNOWN.get(name, Package(name))
