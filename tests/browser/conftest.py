"""The site of the default release, built once, served, and driven with Debian's chromium."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from indexer.errors import CannotError
from indexer.publish.build import build_site
from indexer.publish.server import site_server
from indexer.snapshots import default_version

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
_ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
_DROPPED = "net::ERR_ABORTED"


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site; test workers of one run share it."""
    if not Path(CHROMIUM).is_file():
        pytest.skip("there is no chromium (Debian: apt-get install chromium)")
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "browser-site"
    with FileLock(f"{shared}.lock"):
        if not shared.is_dir():
            version = default_version()
            try:
                list(build_site([version], version, shared))
            except CannotError as error:
                pytest.skip(f"sglang {version}: {error}")
    return shared


@pytest.fixture(scope="session")
def address(built_site: Path) -> Iterator[str]:
    server = site_server(built_site, 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser(address: str) -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: playwright.Browser, address: str) -> Iterator[playwright.Page]:
    """A page at 1440 px; console errors and failed requests fail the test.

    A request that the browser itself drops, since the page is left before it is answered, has not failed.
    """
    context = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    faults: list[str] = []
    opened.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("requestfailed", lambda one: None if one.failure == _DROPPED else faults.append(one.url))
    yield opened
    context.close()
    assert faults == []
