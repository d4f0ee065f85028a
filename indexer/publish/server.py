"""A small file server for looking at a built site; loopback only."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Handler(SimpleHTTPRequestHandler):
    """Serves files without logging, always fresh, with the types that WebAssembly search needs."""

    extensions_map = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".txt": "text/plain; charset=utf-8",
        ".json": "application/json; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def site_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of ``folder`` on ``port`` of the loopback interface (0: any free port).

    Raises:
        OSError: the port is taken or not allowed.
    """
    handler = partial(_Handler, directory=str(folder))
    return ThreadingHTTPServer(("127.0.0.1", port), handler)
