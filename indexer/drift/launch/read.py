"""From a file to its launches: safe reading, choice of the reader, and the versions it names."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePath

from indexer.drift.launch.located import Located, whole
from indexer.drift.launch.model import FileLaunches
from indexer.drift.launch.versions import version_hints

MAX_BYTES = 4 * 1024 * 1024
"""Larger files are no launch files; reading them would only cost time."""

_BY_SUFFIX = {
    ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".ksh": "shell", ".slurm": "shell", ".sbatch": "shell",
    ".job": "shell", ".env": "shell", ".envrc": "shell", ".command": "shell",
    ".py": "python", ".pyi": "python", ".ipynb": "notebook",
    ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".jsonc": "json", ".tpl": "yaml", ".gotmpl": "yaml",
    ".md": "markdown", ".mdx": "markdown", ".markdown": "markdown",
    ".service": "systemd", ".mk": "make", ".mak": "make", ".just": "just", ".dockerfile": "dockerfile",
    ".containerfile": "dockerfile",
    ".js": "javascript", ".mjs": "javascript", ".jsx": "javascript", ".ts": "javascript",
    ".tsx": "javascript",
}  # fmt: skip
_BY_NAME = {
    "makefile": "make",
    "gnumakefile": "make",
    "justfile": "just",
    ".justfile": "just",
    ".env": "shell",
}
_DOCKER_NAME = re.compile(r"^(dockerfile|containerfile)([._-].*)?$|[._-]dockerfile$", re.IGNORECASE)
_SHEBANG = re.compile(rb"^#!.*\b(bash|sh|zsh|ksh|dash|python[\d.]*|just)\b")
KINDS = tuple(sorted({*_BY_SUFFIX.values(), *_BY_NAME.values()}))
"""What a file can be read as."""


class Unreadable(Exception):
    """The file can't be read as a launch file; the text says why."""


def kind_of(path: PurePath, head: bytes = b"") -> str | None:
    """Return which reader a file needs, by name and then by shebang; None where there is none."""
    name = path.name.lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if _DOCKER_NAME.search(name):
        return "dockerfile"
    suffix = path.suffix.lower()
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if name.endswith((".j2", ".jinja", ".jinja2", ".tmpl", ".template")):
        return kind_of(PurePath(name.rsplit(".", 1)[0]), head)
    match = _SHEBANG.match(head)
    if match:
        program = match[1].decode()
        return "python" if program.startswith("python") else "just" if program == "just" else "shell"
    return None


_LOOKS = (
    ("systemd", re.compile(r"(?:[ \t]*(?:[#;][^\n]*)?\n)*\[(?:Unit|Service|supervisord|program:[^\]\n]+)\]")),
    ("json", re.compile(r"\s*(?:\{|\[\s*(?:[\]{\"\d-]|\[\s*[\[{\"\d-]|(?:true|false|null)\b))")),
    ("dockerfile", re.compile(r"(?:\s*#[^\n]*\n)*\s*(?:FROM|ARG)[ \t]+\S+", re.IGNORECASE)),
    ("python", re.compile(r"(?:import|from)[ \t]+\w+|def[ \t]+\w+\(", re.MULTILINE)),
    ("yaml", re.compile(r"(?:\s*#[^\n]*\n)*(?:---|[\w.-]+:(?:[ \t]|\n))")),
)
"""What a text of a kind begins with."""


def guess_kind(text: str) -> str:
    """Return what a text without a name is best read as; shell, where nothing speaks for another kind."""
    named = kind_of(PurePath("-"), text[:200].encode())
    if named is not None:
        return named
    if "\n```" in f"\n{text}":
        return "markdown"
    return next((kind for kind, look in _LOOKS if look.match(text)), "shell")


def load(path: Path) -> tuple[str, str]:
    """Return ``(text, kind)`` of a file; where its name tells no kind, its content does.

    Raises:
        Unreadable: it is too large, binary, not UTF-8, or not a plain file.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a plain file")
        if status.st_size > MAX_BYTES:
            raise Unreadable(f"larger than {MAX_BYTES // (1024 * 1024)} MiB")
        raw = path.read_bytes()
    except OSError as error:
        raise Unreadable(os.strerror(error.errno) if error.errno else str(error)) from error
    text = decode(raw)
    return text, kind_of(path, raw[:200]) or guess_kind(text)


def decode(raw: bytes) -> str:
    """Return the text of a file's bytes; a byte-order mark stays a character, so offsets hold.

    Raises:
        Unreadable: binary, or not UTF-8.
    """
    if b"\0" in raw[:8192]:
        raise Unreadable("binary")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 (byte {error.start})") from error


def read_launches(text: str, kind: str) -> FileLaunches:
    """Return the launches, settings and versions in a text of a kind."""
    found = _inner(whole(text), kind)
    found.versions = sorted([*found.versions, *version_hints(text)], key=lambda hint: hint.start)
    return found


def _inner(text: Located, kind: str) -> FileLaunches:
    # Readers are imported when a file needs them: one file must not pay for all.
    if kind == "shell":
        from indexer.drift.launch.shell import read_shell

        return read_shell(text, inner=_inner)
    if kind == "python":
        from indexer.drift.launch.python import read_python

        return read_python(text)
    if kind in ("yaml", "json"):
        from indexer.drift.launch.tree import read_tree

        return read_tree(text, json=kind == "json")
    if kind == "javascript":
        from indexer.drift.launch.javascript import read_javascript

        return read_javascript(text)
    if kind == "dockerfile":
        from indexer.drift.launch.dockerfile import read_dockerfile

        return read_dockerfile(text)
    if kind == "markdown":
        from indexer.drift.launch.markdown import read_markdown

        return read_markdown(text, _inner)
    if kind == "notebook":
        from indexer.drift.launch.notebook import read_notebook

        return read_notebook(text, _inner)
    if kind == "systemd":
        from indexer.drift.launch.unit import read_unit

        return read_unit(text)
    from indexer.drift.launch.make import read_justfile, read_makefile

    return read_makefile(text) if kind == "make" else read_justfile(text)
