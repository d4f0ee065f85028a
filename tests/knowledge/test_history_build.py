from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.cli import history as history_command
from indexer.errors import CannotError, UsageError
from indexer.knowledge import history_build
from indexer.knowledge.history import History, load_history
from indexer.knowledge.history_build import build_history, releases_to_cover
from indexer.knowledge.history_file import Release, encode
from indexer.knowledge.history_fold import fold
from indexer.source import pip
from tests.trees import ARGUMENTS


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the wheels of 9.1 (steps 1) and 9.2 (steps 2), and no package index."""
    monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    folder = tmp_path / "wheels"
    folder.mkdir()
    for version, default in (("9.1", 1), ("9.2", 2)):
        with zipfile.ZipFile(folder / f"sglang-{version}-py3-none-any.whl", "w") as archive:
            archive.writestr("sglang/__init__.py", "")
            archive.writestr("sglang/srt/server_args.py", ARGUMENTS.format(default=default))
            archive.writestr(f"sglang-{version}.dist-info/METADATA", f"Name: sglang\nVersion: {version}\n")
    return folder


def test_builds_then_resumes_then_mends(wheels: Path) -> None:
    built = build_history(["9.1", "9.2"])
    assert built.failed == {}
    history = History(built.history)
    assert [history.flags_at(version)[0].default for version in history.versions] == [1, 2]
    assert all(len(release.sha256 or "") == 64 for release in history.releases)

    for wheel in wheels.glob("*.whl"):
        wheel.unlink()  # what was read is not read again
    finished: list[str] = []
    again = build_history(["9.1", "9.2"], done=finished.append)
    assert encode(again.history) == encode(built.history)
    assert finished == ["9.1", "9.2"]

    (entry,) = (wheels.parent / "history").glob("9.1-*.json")
    entry.write_text("{")
    told: list[str] = []
    broken = build_history(["9.1", "9.2"], tell=told.append)
    assert told == ["the cache entry of 9.1 is damaged, reading the release again"]
    assert list(broken.failed) == ["9.1"]  # its wheel is gone, and there is no index
    assert History(broken.history).versions == ["9.2"]


def test_command_writes_nothing_when_a_release_fails(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pip, "released_versions", lambda name: ["0.4.0", "9.1", "9.2", "9.3"])
    output = tmp_path / "history.json"
    with pytest.raises(CannotError, match=r"1 of 3 releases can't be read \(9\.3: .*nothing was written"):
        CliRunner().invoke(
            history_command.command, ["build", "--from", "9.1", "-o", str(output)], catch_exceptions=False
        )
    assert not output.exists()
    arguments = ["build", "--from", "9.1", "-o", str(output), "--allow-gaps"]
    result = CliRunner().invoke(history_command.command, arguments, catch_exceptions=False)
    assert result.exit_code == 1
    assert load_history(output).versions == ["9.1", "9.2"]
    with pytest.raises(UsageError, match=r"no release 9\.3 \(it covers 9\.1 to 9\.2\)"):
        load_history(output).index("9.3")


def test_a_narrower_build_does_not_overwrite_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pip, "released_versions", lambda name: ["9.1", "9.2"])
    target = tmp_path / "history.json"
    target.write_bytes(encode(fold([Release("9.1"), Release("9.2")], [])))
    monkeypatch.setattr("indexer.knowledge.history.SHIPPED", target)
    with pytest.raises(UsageError, match="covers 1 releases outside the range"):
        CliRunner().invoke(history_command.command, ["build", "--to", "9.1"], catch_exceptions=False)


def test_range_of_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pip, "released_versions", lambda name: ["0.3.9", "0.4.1", "0.5.9", "0.5.10"])
    assert releases_to_cover() == ["0.4.1", "0.5.9", "0.5.10"]
    assert releases_to_cover("0.5.9", "v0.5.9") == ["0.5.9"]
    with pytest.raises(UsageError, match=r"no release of sglang lies between 0\.6 and now"):
        releases_to_cover("0.6")
    assert history_build.FIRST_RELEASE == "0.4.1"
