"""Pages of the evidence: the matrix and what a record's page says of a launch."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from indexer.publish.excerpts import SourceText
from indexer.publish.pages import evidence
from indexer.publish.render import Renderer, value_of
from indexer.publish.site import VersionSite
from indexer.validate.matrix import build_matrix
from indexer.validate.records import load
from tests.small_site import small_snapshot, small_tree

RECORDS = {record.id: record for record in load(Path(__file__).parents[2] / "evidence")}
OVERRIDDEN = "0.5.23-nvidia-h200-gdn-succ.nextn.3-1-4.triton"
COMPACT = "0.5.23-nvidia-h200-dense-succ.dspark.draft-dspark.triton.sglang_ragged_verify_mode-compact"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site whose evidence is two real records."""
    matrix = build_matrix([RECORDS[OVERRIDDEN], RECORDS[COMPACT]], small_snapshot())
    site = VersionSite(small_snapshot(), SourceText(small_tree()), {}, ["1.0"], "1.0", evidence=matrix)
    root = tmp_path_factory.mktemp("site")
    renderer = Renderer(site)
    for page in evidence.pages(site):
        renderer.write(page, {root: ""})
    return root / "evidence"


def test_a_record_says_what_was_asked_and_got(folder: Path) -> None:
    """The overridden value, the line that decides it, and what was measured."""
    text = (folder / f"{OVERRIDDEN}.html").read_text()
    rows = text[text.index('id="overrides"') : text.index('id="numbers"')]
    assert "NEXTN" in rows and "EAGLE" in rows and "speculative_hook.py" in rows.replace("<wbr>", "")
    assert "4.00 tokens a verify step" in text and "16 requests at a time" in text
    assert "Undefined" not in text


def test_a_record_shows_its_environment_and_draft(folder: Path) -> None:
    """The command can be repeated as it stands."""
    text = (folder / f"{COMPACT}.html").read_text()
    assert "SGLANG_RAGGED_VERIFY_MODE=compact python -m sglang.launch_server" in text
    assert "draft: dspark" in text


def test_the_matrix_opens_both(folder: Path) -> None:
    """Each record has its page and its data, and the matrix names its subjects."""
    text = (folder / "index.html").read_text()
    assert "DSPARK" in text and "NEXTN" in text
    assert {path.name for path in folder.glob("*.json")} >= {f"{OVERRIDDEN}.json", f"{COMPACT}.json"}


def test_a_wrong_name_in_a_template_is_an_error() -> None:
    """A value that is not there stops the build."""
    with pytest.raises(jinja2.UndefinedError):
        value_of(jinja2.StrictUndefined(name="resolved"))
