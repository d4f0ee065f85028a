"""What other releases have under a name that one has not."""

from __future__ import annotations

import pytest

from indexer.knowledge import history
from indexer.knowledge.elsewhere import elsewhere, names_elsewhere
from indexer.knowledge.history import load_history


@pytest.mark.parametrize(
    ("kind", "name", "version", "told"),
    [
        (
            "flag", "--mamba_scheduler-strategy", "0.5.23",
            "0.5.19 was the last release to have it, use --mamba-radix-cache-strategy",
        ),
        ("flag", "mamba-radix-cache-strategy", "0.5.9", "it came with 0.5.14"),
        ("env", "sglang-enable-spec-v2", "0.5.23", "0.5.13.post1 was the last release to have it"),
        (
            "env", "SGL_ENABLE_JIT_DEEPGEMM", "0.5.23",
            "it is only an old name, use SGLANG_ENABLE_JIT_DEEPGEMM, which SGLang sets from it "
            "(python/sglang/srt/environ.py:2305)",
        ),
        ("algorithm", "dflash", "0.5.9", "it came with 0.5.11"),
        ("flag", "tp-size", "9.9", "of the releases, 0.4.1 to 0.5.23 have it"),
    ],
)  # fmt: skip
def test_what_other_releases_have_is_told(kind: str, name: str, version: str, told: str) -> None:
    found = elsewhere(kind, name, version)
    assert found is not None and found.told == told


@pytest.mark.parametrize("kind", ["flag", "rule", "path"])
def test_what_no_release_has_is_nowhere(kind: str) -> None:
    assert elsewhere(kind, "nope", "0.5.23") is None


def test_only_names_the_release_has_not(version: str = "0.5.17") -> None:
    own = {option for flag in load_history().flags_at(version) for option in flag.option_strings}
    others = {one.name for one in names_elsewhere(version, "flag")}
    ever = {o for v in load_history().versions for f in load_history().flags_at(v) for o in f.option_strings}
    assert others == ever - own


def test_without_a_history_nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(history, "SHIPPED", tmp_path / "none.json")
    load_history.cache_clear()
    assert names_elsewhere("0.5.23") == []
