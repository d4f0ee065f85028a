"""Finding the files shipped beside the code: queries, site templates, the pins, the history."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_path(name: str) -> Path:
    """Return the path of a shipped file or folder (``queries``, ``site``, ``sglang.pins.toml``).

    In an installed wheel they lie in ``indexer/_data/``, in a checkout beside ``indexer/``.

    Raises:
        FileNotFoundError: neither place has it (a broken installation).
    """
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        candidate = root / name
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"{name} is missing from this installation of sglang-indexer")
