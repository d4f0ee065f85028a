from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.cli.pin import command
from indexer.errors import UsageError
from indexer.source import wheels
from indexer.source.pins import Pin, Pins, load_pins, save_pins
from tests.source.test_wheels import make_wheel


def test_shipped_pins_are_whole() -> None:
    pins = load_pins()
    assert pins.default == pins.versions[0]
    assert all(
        len(pin.sha256) == 64 and pin.artifact.startswith(f"sglang-{pin.version}-") for pin in pins.release
    )


def test_saved_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "pins.toml"
    save_pins(Pins("0.5.9", [Pin("0.5.9", "a.whl", "1"), Pin("0.5.10", "b.whl", "2")]), path)
    assert load_pins(path).versions == ["0.5.10", "0.5.9"]
    assert [p.name for p in tmp_path.iterdir()] == ["pins.toml"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("default = ", "Invalid value"),
        ('default = "1"', "default is '1', which no"),
        ("release = []", "Object missing required field `default`"),
        ('default = "1"\n[[release]]\nversion = 1\n', r"\$\.release\[0\]\.version"),
    ],
)
def test_bad_file_names_the_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "pins.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        load_pins(path)


def test_pin_adds_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path)
    monkeypatch.setattr(wheels, "fetch_wheel", lambda name, version: wheel)
    pins = tmp_path / "pins.toml"
    save_pins(Pins("9.8", [Pin("9.8", "old.whl", "1")]), pins)
    result = CliRunner().invoke(command, ["v9.9", "--default", "--file", str(pins)], catch_exceptions=False)
    assert "sglang 9.9 pinned" in result.output
    saved = load_pins(pins)
    assert (saved.default, saved.versions) == ("9.9", ["9.9", "9.8"])
    again = CliRunner().invoke(command, ["9.9", "--file", str(pins)], catch_exceptions=False)
    assert "is pinned already" in again.output
