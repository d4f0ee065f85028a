"""``report`` of a model whose configuration can't be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.cli.report import command
from indexer.errors import CannotError


@pytest.mark.parametrize("content", ["", '{"architectures": [', "[1]", "\x00"])
def test_a_broken_configuration_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(CannotError, match=r"config\.json is no model's configuration"):
        CliRunner().invoke(command, ["--model", str(tmp_path)], catch_exceptions=False)
