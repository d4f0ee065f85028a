"""The cache keeps what is of use and drops the rest."""

from __future__ import annotations

import os
from pathlib import Path

from indexer.source.cache import forget_older


def test_of_what_earlier_code_kept_of_a_release_the_newest_few_stay(tmp_path: Path) -> None:
    names = [f"0.5.1-{number:02}.json" for number in range(8)]
    others = ["0.5.1.post1-00.json", "0.5.10-00.json"]
    for age, name in enumerate([*names, *others]):
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    forget_older(tmp_path / names[6])
    assert {path.name for path in tmp_path.iterdir()} == {*names[:4], names[6], *others}
