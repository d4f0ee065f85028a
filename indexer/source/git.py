"""A git repository, read through GitPython: blobs of one commit, the work tree left alone."""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
from functools import cached_property
from pathlib import Path

import git

from indexer.errors import CannotError, UsageError
from indexer.source.cache import cache_folder, exclusive
from indexer.source.packages import SGLANG
from indexer.source.stated import stated_version
from indexer.source.tree import MAX_FILE_BYTES, PACKAGE_ROOT, SourceTree

PROJECT_FILE = "python/pyproject.toml"


class GitTree(SourceTree):
    """The tree of one commit."""

    origin = "git"

    def __init__(self, repo: git.Repo, commit: git.Commit, version: str | None = None) -> None:
        self._repo = repo
        self._commit = commit
        self.commit: str = commit.hexsha
        self.version = version or self._own_version()
        self.dirty = not repo.bare and repo.is_dirty(untracked_files=False)
        self.permalink_base = SGLANG.permalink(self.commit, "")

    @property
    def location(self) -> str:
        return f"{self._repo.working_dir or self._repo.git_dir} at {self._commit.hexsha[:10]}"

    @cached_property
    def _entries(self) -> dict[str, tuple[int, str, int]]:
        """Path → (mode, blob id, size), from one ``git ls-tree``."""
        listing = self._repo.git.ls_tree(
            "-r", "-l", "-z", "--full-tree", self.commit, "--", PACKAGE_ROOT + "/"
        )
        entries = {}
        for record in filter(None, listing.split("\0")):
            head, path = record.split("\t", 1)
            mode, kind, blob, size = head.split()
            if kind == "blob":
                entries[path] = (int(mode, 8), blob, int(size))
        return entries

    def paths(self) -> tuple[str, ...]:
        return self._paths

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        plain = (p for p, (mode, _, _) in self._entries.items() if not stat.S_ISLNK(mode))
        return tuple(sorted(p for p in plain if p.endswith(".py")))

    def read(self, path: str) -> bytes:
        try:
            mode, blob, size = self._entries[path]
        except KeyError:
            raise FileNotFoundError(path) from None
        if stat.S_ISLNK(mode):
            raise CannotError(f"{path} at {self.commit[:10]} is a link; links are not followed")
        if size > MAX_FILE_BYTES:
            raise CannotError(f"{path} has {size:,} bytes, more than {MAX_FILE_BYTES:,}")
        try:
            _, _, _, stream = self._repo.git.stream_object_data(blob)
            return stream.read()
        except (git.GitCommandError, ValueError, OSError) as error:
            raise CannotError(f"{path} at {self.commit[:10]} can't be read ({error})") from error

    def permalink(self, path: str, line: int | None = None, end_line: int | None = None) -> str | None:
        return SGLANG.permalink(self.commit, path, line, end_line)

    def metadata(self) -> str | None:
        try:
            return self._repo.git.show(f"{self.commit}:{PROJECT_FILE}")
        except git.GitCommandError:
            return None

    def _own_version(self) -> str:
        """A release tag on the commit, else the stated version with the commit, else the commit."""
        for tag in self._repo.git.tag("--points-at", self.commit).split():
            if re.fullmatch(r"v\d[\w.]*", tag):
                return tag[1:]
        short = self.commit[:9]
        stated = stated_version(self, self.metadata())
        return f"{stated}+g{short}" if stated else short


def open_checkout(path: Path, rev: str | None = None, version: str | None = None) -> GitTree:
    """Return the tree of a local repository at ``rev`` (None: HEAD).

    Raises:
        UsageError: no such folder, not a repository, or no such revision.
    """
    if not path.exists():
        raise UsageError(f"there is no folder {path}")
    try:
        repo = git.Repo(path, search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
        raise UsageError(f"{path} is not a git repository", "use --folder for plain files") from error
    return GitTree(repo, _commit(repo, rev or "HEAD", str(path)), version)


def _commit(repo: git.Repo, rev: str, where: str) -> git.Commit:
    if rev.startswith("-"):
        raise UsageError(f"{rev!r} is not a revision")
    for candidate in (rev, f"v{rev}"):
        try:
            return repo.commit(candidate)
        except (git.BadName, git.GitCommandError, ValueError, IndexError):
            continue
    raise UsageError(
        f"{where} has no revision {rev!r}", "fetch it first (git fetch --tags), or see `git tag`"
    )


def open_clone(url: str, rev: str | None, version: str | None = None) -> GitTree:
    """Return the tree of a tag or branch of a remote repository, cloned into the cache.

    The clone is shallow and fetches only the package's own blobs.

    Raises:
        UsageError: no revision is given, or the repository has none of that name.
        CannotError: git or the network failed.
    """
    if rev is None:
        raise UsageError("--clone needs --rev", "name a tag or branch, such as v0.5.23")
    if rev.startswith("-") or url.startswith("-"):
        raise UsageError(f"{url!r} at {rev!r} is no repository and revision")
    key = hashlib.sha256(f"{url}\n{rev}".encode()).hexdigest()[:20]
    target = cache_folder("clones") / key
    with exclusive(target):
        if (target / ".git").is_dir():
            repo = git.Repo(target)
            _refresh(repo, rev)
        else:
            repo = _clone(url, rev, target)
    return GitTree(repo, repo.head.commit, version)


def _clone(url: str, rev: str, target: Path) -> git.Repo:
    from indexer.progress import busy

    # The lock is held: a folder of this name is what a killed process left.
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    options = ["--depth=1", "--filter=blob:none", "--sparse", f"--branch={rev}", "--no-tags"]
    try:
        with busy(f"Cloning {url} at {rev}"):
            repo = git.Repo.clone_from(url, partial, multi_options=options, allow_unsafe_protocols=False)
            # A sparse checkout makes git fetch the blobs we read in one go instead of one by one.
            repo.git.sparse_checkout("set", PACKAGE_ROOT)
            repo.close()
        partial.rename(target)
    except git.UnsafeProtocolError as error:
        raise UsageError(
            f"{url} uses a transport that can run commands", "use https, ssh or a path"
        ) from error
    except git.GitCommandError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise _clone_failure(url, rev, error, partial) from error
    return git.Repo(target)


def _refresh(repo: git.Repo, rev: str) -> None:
    """Follow a branch that has moved; a repository that can't be reached is used as it lies."""
    try:
        repo.git.fetch("--depth=1", "--filter=blob:none", "origin", rev)
        if repo.git.rev_parse("FETCH_HEAD^{commit}") != repo.head.commit.hexsha:
            repo.git.checkout("--detach", "FETCH_HEAD")
    except git.GitCommandError:
        return


def _clone_failure(url: str, rev: str, error: git.GitCommandError, target: Path) -> CannotError | UsageError:
    # What users paste should not hold where their cache lies.
    text = str(error.stderr).replace(str(target), "the cache")
    if "Remote branch" in text and "not found" in text:
        return UsageError(f"{url} has no tag or branch {rev!r}", "tags look like v0.5.23")
    reason = next((line for line in text.splitlines() if "fatal:" in line), text.strip())
    return CannotError(
        f"{url} could not be cloned ({reason.split('fatal:')[-1].strip(' ' + chr(39))})",
        "check the address and network",
    )
