"""Pagefind's indexes in the user's cache: the same records are not indexed twice.

An entry is named by the records and by the version and options of Pagefind, so that it needs no other sign
of being old.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from indexer.source.cache import cache_folder, keep

_MOST = 12
"""Indexes kept, some 5 MB each: the pinned releases, for two checkouts of this program."""


def kept_index(records: Sequence[str], options: Sequence[str] = ()) -> Path:
    """Return where the index that is made of these records with these options lies, once it has been made."""
    digest = hashlib.blake2b(" ".join([version("pagefind"), *options]).encode(), digest_size=12)
    for record in records:
        digest.update(b"\0" + record.encode())
    return cache_folder("site-search") / f"{digest.hexdigest()}.zip"


def unpacked(kept: Path, folder: Path) -> bool:
    """Unpack a kept index into ``folder``; return False where there is none that can be read."""
    try:
        with zipfile.ZipFile(kept) as archive:
            archive.extractall(folder)
    except FileNotFoundError:
        return False
    except (OSError, zipfile.BadZipFile):
        with suppress(OSError):
            kept.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        return False
    with suppress(OSError):  # another build may have removed it by now, or the cache is read-only
        os.utime(kept)
    return True


def keep_index(kept: Path, folder: Path) -> None:
    """Keep the index that was made in ``folder``, and forget those that were not used for longest."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    keep(kept, packed.getvalue())
    with suppress(OSError):  # another build may remove the same ones
        entries = sorted(kept.parent.glob("*.zip"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in entries[_MOST:]:
            old.unlink(missing_ok=True)
