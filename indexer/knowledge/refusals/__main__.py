"""``python -m indexer.knowledge.refusals OUT.json`` writes the steps of every covered release that ship."""

from __future__ import annotations

import sys
from pathlib import Path

from indexer.knowledge.history import load_history
from indexer.knowledge.refusals.steps import spellings, steps_of
from indexer.knowledge.rehearsal import Step, encode, fold
from indexer.knowledge.release_rules import release_rules


def main(target: Path) -> None:
    """Read the rules of every release of the shipped history (kept from run to run) and fold them."""
    history = load_history()
    steps: dict[str, list[Step]] = {}
    algorithms: dict[str, list[str]] = {}
    for version in history.versions:
        read = release_rules(version)
        fields = [field.name for field in history.fields_at(version)]
        steps[version] = steps_of(read.rules, fields, read.algorithms)
        algorithms[version] = sorted({name for one in read.algorithms for name in spellings(one)})
        print(f"{version}: {len(steps[version])} steps of {len(read.rules)} rules", file=sys.stderr)
    target.write_bytes(encode(fold(steps, algorithms)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
