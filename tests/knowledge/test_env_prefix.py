"""Variables taken under an old prefix: the shapes by which it is told (sources of our own writing), and what
the shipped table says."""

from __future__ import annotations

import pytest

from indexer.knowledge.env_prefix import PrefixRewrite, rewritten
from indexer.knowledge.env_prefix_build import prefix_rewrites
from indexer.knowledge.facts import DeprecationFact, EnvFact
from indexer.knowledge.history import load_history
from indexer.knowledge.schema import Location
from tests.trees import MemoryTree

PATH = "python/sglang/env.py"
AT = Location(PATH, 1)
LOOP = """import os
import warnings
KEPT = {"OLD_B": 1, "C": 2}
def rename():
    for name, content in list(os.environ.items()):
        if name.startswith("OLD_") and name not in KEPT:
            other = name.replace("OLD_", "NEW_", 1)
            warnings.warn(other)
            os.environ[other] = content
rename()
"""


def read(source: str) -> list[PrefixRewrite]:
    return prefix_rewrites(MemoryTree({PATH: source}))


def test_what_is_rewritten_on_import() -> None:
    (found,) = read(LOOP)
    assert found == PrefixRewrite("OLD_", "NEW_", Location(PATH, 9), ["OLD_B"])
    assert [found.name_for(name) for name in ("OLD_A_OLD_", "OLD_B", "AN_OLD_C")] == [
        "NEW_A_OLD_",
        None,
        None,
    ]


def test_any_name_may_be_rewritten() -> None:
    (found,) = read(
        LOOP.replace(" and name not in KEPT", "").replace("list(os.environ.items())", "os.environ.items()")
    )
    assert found.but == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("\nrename()", "\nif maybe:\n    rename()"),
        ("\nrename()", ""),
        ("not in KEPT", "not in kept()"),
        ("and name not in KEPT", "or maybe"),
        ("and name not in KEPT", "and maybe"),
        ("KEPT = {", "KEPT = {maybe: 0, "),
        ("            os.environ[other] =", "            if maybe: os.environ[other] ="),
        ("= content", "= maybe"),
        ('"NEW_", 1)', '"NEW_")'),
        ("import os\n", "import os\n)"),
    ],
)  # fmt: skip
def test_what_may_not_happen_is_not_told(was: str, now: str) -> None:
    assert was in LOOP
    assert read(LOOP.replace(was, now)) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (None, EnvFact(name="SGLANG_X", declared_at=AT), True),
        (None, EnvFact(name="SGLANG_X", read_at=AT), True),
        (EnvFact(name="SGL_X", read_at=AT, notice="warning"), EnvFact(name="SGLANG_X", read_at=AT), True),
        # What is written only a library may read.
        (None, EnvFact(name="SGLANG_X"), True),
        (None, EnvFact(name="SGLANG_X", deprecated=DeprecationFact("SGLANG_Y")), True),
        # It is a setting itself; its new name is none.
        (EnvFact(name="SGL_X", read_at=AT), EnvFact(name="SGLANG_X", declared_at=AT), False),
        (None, None, False),
        (None, EnvFact(name="SGLANG_X", read_at=AT, notice="warning"), False),
        (None, EnvFact(name="SGLANG_X", deprecated=DeprecationFact("--y")), False),
    ],
)
def test_what_an_old_name_sets(old: EnvFact | None, new: EnvFact | None, told: bool) -> None:
    found = rewritten("SGL_X", "0.5.23", {"SGL_X": old, "SGLANG_X": new}.get)
    assert (found is not None) == told
    assert found is None or found.name == "SGLANG_X"


def test_what_to_use_where_the_new_name_is_deprecated_itself() -> None:
    found = load_history().env_rewritten("SGL_DISABLE_TP_MEMORY_INBALANCE_CHECK", "0.5.18")
    assert found is not None and found.told == (
        "use SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK: SGLang sets SGLANG_DISABLE_TP_MEMORY_INBALANCE_CHECK "
        "from it (python/sglang/srt/environ.py:1630)"
    )


def test_which_releases_rewrite() -> None:
    history = load_history()
    found = {v: one for v in history.versions if (one := history.env_rewritten("SGL_ENABLE_JIT_DEEPGEMM", v))}
    # 0.5.3 and 0.5.3.post1 rewrite it too, but read the old name themselves.
    assert list(found) == history.versions[history.index("0.5.3.post2") :]
    assert found["0.5.9"].at == Location("python/sglang/srt/environ.py", 546)
    assert found["0.5.23"].at == Location("python/sglang/srt/environ.py", 2305)
    assert {one.name for one in found.values()} == {"SGLANG_ENABLE_JIT_DEEPGEMM"}
