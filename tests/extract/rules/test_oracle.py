"""Rules against what the real resolver did: every refusal's line, every log line, every changed field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.search.messages import MessageIndex

RAISED_BY_OTHERS = ("transformers", "torch", "not compiled", "does not recognize", "between instances of")
"""Words of exceptions that no statement of SGLang raises: a TypeError, a library's own refusal."""
LOGGED_BY_OTHERS = ("RoPE scaling factor", "Triton is not supported on current platform")
"""Log lines of transformers, and of kernel modules while they are imported."""

QUICK = ["0.5.9-h200", "0.5.17-cpu"]
SLOW = [
    "0.5.17-b200",
    "0.5.23-h200",
    "more/0.5.5-h200",
    "more/0.5.12-h200",
    "more/0.5.14-h200",
    "more/0.5.20-h200",
]


def _cases(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as lines:
        yield from (case for line in lines if "meta" not in (case := json.loads(line)))


def _refusal(case: dict) -> dict | None:
    if not case.get("ok"):
        return case["exception"] if case.get("stage") == "resolve" else None
    return case["check_server_args"] if isinstance(case.get("check_server_args"), dict) else None


@pytest.mark.release
@pytest.mark.oracle
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW)])
def test_rules_know_what_the_real_resolver_did(name: str, shared: Path, rules_of) -> None:
    path = shared / "oracle" / "resolve" / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip(f"no {path.name}")
    rules = rules_of(path.name.rsplit("-", 1)[0])
    index = MessageIndex.of(rules)
    written = {
        target.partition(".")[0] for rule in rules if rule.kind == "override" for target in rule.targets
    }
    lost: set[str] = set()
    said: dict[str, bool] = {}
    for case in _cases(path):
        refusal = _refusal(case)
        if refusal is not None and not any(word in refusal["message"] for word in RAISED_BY_OTHERS):
            place, _, line = refusal["raised_at"].rpartition(":")
            if not any(
                rule.exception == refusal["class"]
                and rule.at.path == f"python/{place}"
                and rule.at.line <= int(line) <= (rule.at.end_line or rule.at.line)
                for rule in rules
            ):
                lost.add(f"{refusal['raised_at']} {refusal['message'][:60]}")
        for text in case.get("warnings") or []:
            if text not in said:
                found = index.find(text, limit=1)
                said[text] = bool(found) and found[0].how == "message"
        lost.update(name for name in case.get("changed_by_resolver") or {} if name not in written)
    silent = [text[:80] for text, known in said.items() if not known]
    lost.update(text for text in silent if not any(word in text for word in LOGGED_BY_OTHERS))
    assert not lost, sorted(lost)
