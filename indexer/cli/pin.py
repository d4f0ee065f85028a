"""``indexer pin``: add a SGLang release to the pins."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("pin")
@click.argument("version")
@click.option(
    "--default", "make_default", is_flag=True, help="Make it the version meant where none is named."
)
@click.option(
    "--file",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Pins file to change.  [default: sglang.pins.toml in the working folder]",
)
def command(version: str, make_default: bool, file: Path | None) -> None:
    """Fetch the release VERSION with your pip and record its wheel's name and sha256."""
    from indexer.source.pins import FILE_NAME, Pin, load_pins, save_pins
    from indexer.source.wheels import fetch_wheel, file_sha256, normal_version

    version = normal_version(version)
    target = file or Path(FILE_NAME)
    pins = load_pins(target if target.is_file() else None)
    wheel = fetch_wheel("sglang", version)
    pin = Pin(version, wheel.name, file_sha256(wheel))
    known = pins.get(version)
    pins.release = [other for other in pins.release if other.version != version] + [pin]
    if make_default:
        pins.default = version
    save_pins(pins, target)
    change = "is pinned already" if known == pin else "has a new hash" if known else "pinned"
    click.echo(f"sglang {version} {change}: {pin.artifact} sha256 {pin.sha256} ({target})")
