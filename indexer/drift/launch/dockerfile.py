"""Dockerfiles: ENTRYPOINT and CMD joined, RUN scripts, ENV and ARG."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import PurePosixPath

import tree_sitter_dockerfile
from tree_sitter import Language, Node, Parser

from indexer.drift.launch.located import Builder, Located, align
from indexer.drift.launch.model import FileLaunches, Launch, Setting, Word
from indexer.drift.launch.programs import find_launches, is_flag_list, soften
from indexer.drift.launch.read import kind_of
from indexer.drift.launch.shell import read_shell

_SETTING_NAME = re.compile(r"^(SGLANG|SGL)_[A-Z0-9_]+$")
_COMMENT_LINE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the grammar still hands out an integer
        return Parser(Language(tree_sitter_dockerfile.language()))


def read_dockerfile(text: Located) -> FileLaunches:
    """Read a Dockerfile; each build stage has its own ENTRYPOINT and CMD."""
    reader = _Reader(text)
    for node in _parser().parse(text.ascii()).root_node.named_children:
        reader.instruction(node)
    reader.stage_end()
    return reader.found


class _Reader:
    def __init__(self, text: Located) -> None:
        self.text = text
        self.found = FileLaunches()
        self.entrypoint: list[Word] | None = None
        self.command: list[Word] | None = None
        self.by_shell = False  # an ENTRYPOINT in shell form: no CMD reaches it
        self.variables: dict[str, Located] = {}

    def instruction(self, node: Node) -> None:
        kind = node.type
        if kind == "from_instruction":
            self.stage_end()
        elif kind in ("entrypoint_instruction", "cmd_instruction"):
            words = self.exec_form(node)
            if words is None:
                self.script(node)
            if kind == "entrypoint_instruction":
                self.entrypoint, self.by_shell = words, words is None
            else:
                self.command = words
        elif kind in ("run_instruction", "heredoc_block"):
            self.script(node)
        elif kind in ("copy_instruction", "add_instruction"):
            self.copied(node)
        elif kind == "env_instruction":
            for pair in node.named_children:
                self.environment(pair)

    def stage_end(self) -> None:
        words = (self.entrypoint or []) + (self.command or [] if not self.by_shell else [])
        launches = list(find_launches(words, open_end=self.command is None))
        self.found.launches += launches
        script = next((w for w in words if "sglang" in w.text and " " in w.text), None)
        if not launches and script is not None:
            begin = self.text.text.find(script.text[:20])
            if begin >= 0 and script.end - script.start == len(script.text):
                self._extend(read_shell(Located(script.text, [(0, script.start)]), variables=self.variables))
        elif not launches and is_flag_list(words):
            self.found.launches.append(
                Launch(program="fragment", words=words, open_end=True, partial=True, offset=words[0].start)
            )
        self.entrypoint = self.command = None
        self.by_shell = False

    def exec_form(self, node: Node) -> list[Word] | None:
        array = next((child for child in node.named_children if child.type == "json_string_array"), None)
        if array is None:
            return None
        words = []
        for child in array.named_children:
            if child.type == "json_string":
                raw = self.text.cut(child.start_byte + 1, child.end_byte - 1)
                try:
                    value = json.loads(f'"{raw.text}"', strict=False)
                except ValueError:
                    continue
                located = align(value, raw, double_quoted=True)
                words.append(soften(Word(value, located.at(0), located.literal_end())))
        return words

    def copied(self, node: Node) -> None:
        """Read the scripts that ``COPY <<EOF /run.sh`` writes."""
        *_, target = [None, *(child for child in node.named_children if child.type == "path")]
        for block in (child for child in node.named_children if child.type == "heredoc_block"):
            name = self.text.text[target.start_byte : target.end_byte] if target is not None else ""
            content = self.text.text[block.start_byte : block.end_byte].lstrip()
            if kind_of(PurePosixPath(name), content[:200].encode()) == "shell":
                self.script(block)

    def script(self, node: Node) -> None:
        """Read a shell form. Comment lines between continued lines belong to the Dockerfile."""
        begin = node.start_byte
        keyword = re.match(r"\s*[A-Za-z]+[ \t]+(?:--\w+=\S+[ \t]+)*", self.text.text[begin : node.end_byte])
        begin += keyword.end() if keyword and node.type != "heredoc_block" else 0
        piece = self.text.cut(begin, node.end_byte)
        builder, position = Builder(), 0
        for match in _COMMENT_LINE.finditer(piece.text):
            if match.start() == 0 or not piece.text[: match.start()].rstrip().endswith("\\"):
                continue
            builder.add_located(piece.cut(position, match.start()))
            position = min(match.end() + 1, len(piece))
        builder.add_located(piece.cut(position))
        self._extend(read_shell(builder.done(), variables=self.variables))

    def environment(self, pair: Node) -> None:
        name, value = pair.child_by_field_name("name"), pair.child_by_field_name("value")
        if name is None:
            return
        key = self.text.text[name.start_byte : name.end_byte]
        raw = self.text.cut(value.start_byte, value.end_byte) if value is not None else None
        if raw is not None:
            if raw.text[:1] in "\"'" and raw.text[-1:] == raw.text[:1]:
                raw = raw.cut(1, max(1, len(raw) - 1))
            self.variables[key] = raw
        if _SETTING_NAME.match(key):
            start = self.text.at(name.start_byte)
            self.found.settings.append(Setting(key, raw.text if raw else None, start, start + len(key)))

    def _extend(self, more: FileLaunches) -> None:
        self.found.launches += more.launches
        self.found.settings += more.settings
