"""What an installation without the extra says, and where files are written."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.cli.validate import command
from indexer.errors import CannotError
from indexer.knowledge.store import write_atomically


def test_a_missing_module_is_named_with_the_extra_that_brings_it(monkeypatch, tmp_path) -> None:
    for name in [one for one in sys.modules if one.startswith("indexer.validate.models")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    result = CliRunner().invoke(command, ["models", str(tmp_path)])
    assert isinstance(result.exception, CannotError)
    assert "numpy is not installed" in str(result.exception)
    assert "sglang-indexer[validate]" in (result.exception.fix or "")


def test_a_link_is_followed_and_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink() and target.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
