"""``indexer serve``: show the built site in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from indexer.cli.build import DEFAULT_FOLDER
from indexer.errors import CannotError, UsageError


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=DEFAULT_FOLDER)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free one."
)
def command(folder: Path, port: int) -> None:
    """Serve a built site on the loopback interface until Ctrl-C."""
    from indexer.publish.server import site_server

    if not (folder / "index.html").is_file():
        raise UsageError(f"{folder} holds no built site", "run `indexer build` first")
    try:
        server = site_server(folder, port)
    except OSError as error:
        raise CannotError(f"port {port}: {error.strerror}", "name another with --port, or 0") from error
    with server:
        click.echo(f"http://127.0.0.1:{server.server_address[1]}/  (Ctrl-C ends)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo()
