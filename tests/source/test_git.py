from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from indexer.errors import CannotError, UsageError
from indexer.source import ARGUMENTS_FILE, open_source

IDENTITY = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]


def run(folder: Path, *arguments: str) -> str:
    command = ["git", *IDENTITY, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the tag v9.8 and a later commit."""
    root = tmp_path / "repo"
    arguments = root / ARGUMENTS_FILE
    arguments.parent.mkdir(parents=True)
    arguments.write_text("OLD = 1\n")
    (root / "python/sglang/version.py").write_text('__version__ = "9.8"\n')
    (root / "python/sglang/link.py").symlink_to("version.py")
    (root / "README.md").write_text("not in the package\n")
    run(root, "init", "-q", "-b", "main")
    run(root, "config", "uploadpack.allowFilter", "true")
    run(root, "add", ".")
    run(root, "commit", "-q", "-m", "one")
    run(root, "tag", "v9.8")
    arguments.write_text("NEW = 2\n")
    run(root, "commit", "-q", "-am", "two")
    return root


def test_tag_is_a_version_and_the_work_tree_is_left_alone(checkout: Path) -> None:
    tree = open_source(checkout=checkout, rev="9.8")
    assert (tree.version, tree.origin, tree.dirty) == ("9.8", "git", False)
    assert tree.text(ARGUMENTS_FILE) == "OLD = 1\n"
    assert tree.paths() == (ARGUMENTS_FILE, "python/sglang/version.py")
    assert (checkout / ARGUMENTS_FILE).read_text() == "NEW = 2\n"
    commit = run(checkout, "rev-parse", "v9.8")
    assert tree.commit == commit
    assert tree.permalink(ARGUMENTS_FILE, 1) == (
        f"https://github.com/sgl-project/sglang/blob/{commit}/{ARGUMENTS_FILE}#L1"
    )


def test_head_between_releases_names_its_commit(checkout: Path) -> None:
    tree = open_source(checkout=checkout)
    assert tree.version == f"9.8+g{run(checkout, 'rev-parse', 'HEAD')[:9]}"
    assert tree.text(ARGUMENTS_FILE) == "NEW = 2\n"


def test_uncommitted_changes_are_told_and_not_read(checkout: Path) -> None:
    (checkout / ARGUMENTS_FILE).write_text("DIRTY = 3\n")
    tree = open_source(checkout=checkout)
    assert tree.dirty
    assert tree.text(ARGUMENTS_FILE) == "NEW = 2\n"


def test_same_content_has_the_same_hash_whatever_the_origin(checkout: Path) -> None:
    from_git = open_source(checkout=checkout).blob_hash(ARGUMENTS_FILE)
    assert open_source(folder=checkout).blob_hash(ARGUMENTS_FILE) == from_git


def test_a_link_is_refused(checkout: Path) -> None:
    with pytest.raises(CannotError, match="is a link"):
        open_source(checkout=checkout).read("python/sglang/link.py")


def test_stated_version_goes_before(checkout: Path) -> None:
    assert open_source("1.2.3", checkout=checkout).version == "1.2.3"


@pytest.mark.parametrize(("rev", "said"), [("nope", "has no revision 'nope'"), ("--x", "is not a revision")])
def test_bad_revision(checkout: Path, rev: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_source(checkout=checkout, rev=rev)


def test_not_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a git repository"):
        open_source(checkout=tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        open_source(checkout=tmp_path / "nothing")


def test_repository_of_something_else(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("")
    run(tmp_path, "add", ".")
    run(tmp_path, "commit", "-q", "-m", "one")
    with pytest.raises(CannotError, match="is not a SGLang tree that can be indexed"):
        open_source(checkout=tmp_path)


class TestClone:
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SGLANG_INDEXER_CACHE", str(tmp_path / "cache"))

    def test_fetches_only_the_package_and_is_used_again(self, checkout: Path, tmp_path: Path) -> None:
        url = checkout.as_uri()
        tree = open_source(clone=url, rev="v9.8")
        assert tree.text(ARGUMENTS_FILE) == "OLD = 1\n"
        (clone,) = (tmp_path / "cache" / "clones").glob("*/python")
        checkout.rename(tmp_path / "moved away")
        assert open_source(clone=url, rev="v9.8").text(ARGUMENTS_FILE) == "OLD = 1\n"
        assert clone.is_dir()

    def test_a_branch_that_moved_is_followed(self, checkout: Path) -> None:
        url = checkout.as_uri()
        assert open_source(clone=url, rev="main").text(ARGUMENTS_FILE) == "NEW = 2\n"
        (checkout / ARGUMENTS_FILE).write_text("NEWER = 3\n")
        run(checkout, "commit", "-q", "-am", "three")
        assert open_source(clone=url, rev="main").text(ARGUMENTS_FILE) == "NEWER = 3\n"

    def test_mistakes(self, checkout: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="has no tag or branch 'v1'"):
            open_source(clone=checkout.as_uri(), rev="v1")
        with pytest.raises(CannotError, match="could not be cloned"):
            open_source(clone=(tmp_path / "nothing").as_uri(), rev="v1")
        with pytest.raises(UsageError, match="--clone needs --rev"):
            open_source(clone=checkout.as_uri())
        with pytest.raises(UsageError, match="can run commands"):
            open_source(clone="ext::sh -c true", rev="v1")
