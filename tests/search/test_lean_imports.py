"""Whoosh is imported without the network and asyncio, and nobody else is given the stand-ins."""

from __future__ import annotations

import subprocess
import sys

import pytest

from indexer.search.lean_imports import lean_imports

_HEAVY = ("asyncio", "urllib.request", "http.client", "email", "whoosh.lang.morph_en")


def printed(code: str) -> str:
    """Run code in a process of its own, where nothing is imported yet."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_what_a_search_never_calls_is_not_loaded() -> None:
    code = f"import sys, indexer.search.index; print([n for n in {_HEAVY!r} if n in sys.modules])"
    assert printed(code) == "[]\n"


def test_others_import_the_real_modules_afterwards() -> None:
    code = (
        "import indexer.search.index, urllib.request, cached_property;"
        "print(urllib.request.urlretrieve.__module__, cached_property.__version__ > '')"
    )
    assert printed(code) == "urllib.request True\n"


def test_a_loaded_module_is_left_alone() -> None:
    real = pytest.importorskip("urllib.request")
    with lean_imports():
        assert sys.modules["urllib.request"] is real
    assert sys.modules["urllib.request"] is real
