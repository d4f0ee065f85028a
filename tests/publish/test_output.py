"""The output folder: ours or refused, locked, swapped in whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from indexer.errors import CannotError, UsageError
from indexer.publish.output import MARKER, replaced_whole


def build(target: Path, content: str) -> None:
    with replaced_whole(target) as folder:
        (folder / "index.html").write_text(content)


def beside(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir() if not path.name.endswith(".lock"))


def test_a_second_build_replaces_the_first(tmp_path: Path) -> None:
    target = tmp_path / "site"
    build(target, "one")
    (target / "stale.html").write_text("stale")
    build(target, "two")
    assert (target / "index.html").read_text() == "two"
    assert not (target / "stale.html").exists()
    assert beside(target) == ["site"]


def test_a_failed_build_leaves_the_old_site(tmp_path: Path) -> None:
    target = tmp_path / "site"
    build(target, "one")
    with pytest.raises(KeyboardInterrupt), replaced_whole(target) as folder:
        (folder / "index.html").write_text("two")
        raise KeyboardInterrupt
    assert (target / "index.html").read_text() == "one"
    assert beside(target) == ["site"]


def test_a_folder_with_foreign_files_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter1.tex").write_text("years of work")
    with pytest.raises(UsageError, match="did not build"):
        build(target, "site")
    assert (target / "chapter1.tex").read_text() == "years of work"


def test_an_empty_folder_and_a_missing_parent_are_fine(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    build(tmp_path / "empty", "site")
    build(tmp_path / "a" / "b" / "site", "site")
    assert (tmp_path / "a" / "b" / "site" / MARKER).is_file()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(UsageError, match="not a folder"):
        build(tmp_path / "site", "site")
    with pytest.raises(CannotError, match="can't be written"):
        build(tmp_path / "site" / "below", "site")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_parent_is_one_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CannotError, match="can't be written"):
        build(tmp_path / "site", "site")


def test_two_builds_at_once_are_told(tmp_path: Path) -> None:
    target = tmp_path / "site"
    with replaced_whole(target), pytest.raises(CannotError, match="another build"):
        build(target, "second")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_a_killed_build_leaves_the_old_site_and_the_next_one_sweeps(tmp_path: Path) -> None:
    target = tmp_path / "site"
    build(target, "one")
    script = textwrap.dedent(
        f"""
        import time
        from pathlib import Path
        from indexer.publish.output import replaced_whole
        with replaced_whole(Path({str(target)!r})) as folder:
            (folder / "index.html").write_text("two")
            print("building", flush=True)
            time.sleep(60)
        """
    )
    victim = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert victim.stdout is not None
    victim.stdout.readline()
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    assert (target / "index.html").read_text() == "one"
    assert len(beside(target)) == 2
    build(target, "three")
    assert (target / "index.html").read_text() == "three"
    assert beside(target) == ["site"]


def test_a_swap_cut_in_the_middle_is_finished_by_the_next_build(tmp_path: Path) -> None:
    target = tmp_path / "site"
    build(target, "one")
    target.rename(tmp_path / f".site.old-{time.time_ns()}")
    with pytest.raises(RuntimeError), replaced_whole(target):
        raise RuntimeError
    assert (target / "index.html").read_text() == "one"
