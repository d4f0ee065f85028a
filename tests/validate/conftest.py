"""A model folder for the stand-in server, made once."""

from pathlib import Path

import pytest

from indexer.validate.models import write_models


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one small model."""
    folder = tmp_path_factory.mktemp("models")
    write_models(folder, ["dense-succ"])
    return folder


@pytest.fixture
def standin() -> Path:
    """Return the folder whose ``sglang`` and ``torch`` stand in for the real ones."""
    return Path(__file__).parent / "standin"
