"""The words of a message, from a release that is at hand."""

from __future__ import annotations

import zipfile
from pathlib import Path

import msgspec
import pytest

from indexer.knowledge.message_texts import message_text
from indexer.knowledge.messages import MessageFile, MessageHistory, digest, fold_messages
from indexer.knowledge.schema import Location, Rule

PATH = "sglang/srt/server_args.py"
SOURCE = """\
class Args:
    def check(self):
        if self.k != 1:
            raise ValueError(
                f"top k {self.k} must be "
                "one for this backend"
            )
        logger.warning("another thing is said")
"""
TEMPLATE = "top k {self.k} must be one for this backend"


def history(line: int, *versions: str) -> tuple[str, MessageHistory]:
    at = Location(f"python/{PATH}", line)
    rules = {version: [Rule("r", "error", at, "Args.check", message=TEMPLATE)] for version in versions}
    file = msgspec.json.decode(fold_messages(rules), type=MessageFile)
    return digest("error", TEMPLATE) or "", MessageHistory(file)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path))
    (tmp_path / "wheels").mkdir()
    return tmp_path / "wheels"


def wheel(folder: Path, version: str) -> Path:
    path = folder / f"sglang-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(PATH, SOURCE)
        archive.writestr(f"sglang-{version}.dist-info/METADATA", f"Name: sglang\nVersion: {version}\n")
    return path


def test_from_the_newest_release_at_hand(wheels: Path) -> None:
    wheel(wheels, "0.5.1")
    key, messages = history(4, "0.5.0", "0.5.1", "0.5.2")
    found = message_text(key, "error", messages)
    assert found is not None
    assert (found.text, found.version, found.at.line) == (TEMPLATE, "0.5.1", 4)
    assert found.function == "Args.check"


def test_nothing_where_none_is_at_hand_or_it_is_damaged(wheels: Path) -> None:
    key, messages = history(4, "0.5.1")
    assert message_text(key, "error", messages) is None
    wheel(wheels, "0.5.1").write_bytes(b"no zip")
    assert message_text(key, "error", messages) is None


def test_no_other_message_is_taken_for_it(wheels: Path) -> None:
    wheel(wheels, "0.5.1")
    key, messages = history(2, "0.5.1")  # a line on which nothing is said
    assert message_text(key, "error", messages) is None


@pytest.mark.release
@pytest.mark.slow
def test_every_message_of_a_release_is_read_back() -> None:
    from indexer.knowledge.message_words import load_message_words
    from indexer.knowledge.messages import load_messages
    from indexer.source.wheels import cached_wheel

    messages = load_messages()
    if messages is None or cached_wheel("sglang", "0.5.23") is None:
        pytest.skip("needs the wheel of 0.5.23")
    current = [one for one in load_message_words().messages if messages.place_of(one.key, "0.5.23")][::20]
    texts = [message_text(one.key, one.kind, messages) for one in current]
    assert sum(text is not None for text in texts) >= 0.95 * len(current)
