"""Pagefind's indexes in the user's cache: the same records are not indexed twice.

An entry is named by the records and the version of Pagefind, so that it needs no other sign of being old.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from importlib.metadata import version
from pathlib import Path

from indexer.source.cache import cache_folder, keep

_MOST = 12
"""Indexes kept, some 5 MB each: the pinned releases, for two checkouts of this program."""


def kept_index(records: list[str]) -> Path:
    """Return where the index of these records lies, once it has been made."""
    digest = hashlib.blake2b(version("pagefind").encode(), digest_size=12)
    for record in records:
        digest.update(b"\0" + record.encode())
    return cache_folder("site-search") / f"{digest.hexdigest()}.zip"


def unpacked(kept: Path, folder: Path) -> bool:
    """Unpack a kept index into ``folder``; return False where there is none that can be read."""
    try:
        with zipfile.ZipFile(kept) as archive:
            archive.extractall(folder)
        kept.touch()
    except FileNotFoundError:
        return False
    except (OSError, zipfile.BadZipFile):
        kept.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        return False
    return True


def keep_index(kept: Path, folder: Path) -> None:
    """Keep the index that was made in ``folder``, and forget those that were not used for longest."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    keep(kept, packed.getvalue())
    entries = sorted(kept.parent.glob("*.zip"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in entries[_MOST:]:
        old.unlink(missing_ok=True)
