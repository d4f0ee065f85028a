"""Shell: a small evaluator over tree-sitter-bash that knows what a file can know.

Variables, arrays, functions with arguments, here-documents and ``bash -c`` are followed; whatever the
file doesn't tell is ``DYNAMIC``. A branch not taken can't be known, so every branch is walked and its
words are marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from indexer.drift.launch.expansion import Expander, Scope, Variable, merge, word_of
from indexer.drift.launch.fields import (
    Fields,
    drop,
    empty,
    join,
    split,
)
from indexer.drift.launch.located import Located
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Launch, Setting, Word
from indexer.drift.launch.programs import (
    find_launches,
    is_flag_list,
    starts_sglang,
    without_placeholders,
)

MAX_DEPTH = 8
"""Nesting of functions, ``bash -c`` strings and here-documents that is followed."""
MAX_WORDS = 4000
MAX_STEPS = 20000
"""Commands looked at in one file: functions that call each other would otherwise multiply."""
_SETTING = re.compile(r"^(?:--env=|-e)?((?:SGLANG|SGL)_[A-Z0-9_]+)=(.*)$", re.DOTALL)
_TALKERS = frozenset(
    [
        "echo",
        "printf",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "sed",
        "awk",
        "cat",
        "log",
        "info",
        "warn",
        "warning",
        "error",
        "err",
        "die",
        "fail",
        "usage",
        "note",
        "log_info",
        "log_error",
        "log_warn",
        "pgrep",
        "pkill",
        "killall",
        "read",
        "test",
        "[",
        "[[",
        ":",
        "true",
        "false",
        "trap",
    ]
)
"""Commands whose strings are text, not programs."""
_SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh"])
_PYTHON = re.compile(r"(^|/)python[\d.]*$")
_PROMPT = re.compile(r"^[ \t]*(?:\$|>|%|#)[ \t]+(?=\S)", re.MULTILINE)

Inner = Callable[[Located, str], FileLaunches]
"""Reads text in another language: ``(text, kind)``."""


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def read_shell(
    text: Located, *, variables: dict[str, Located] | None = None, inner: Inner | None = None
) -> FileLaunches:
    """Read shell text. ``variables`` are set by the surroundings (make, ENV); ``inner`` reads
    here-documents in other languages."""
    evaluator = _Evaluator(inner)
    for name, value in (variables or {}).items():
        evaluator.scope.variables[name] = Variable([[value]], array=False)
    evaluator.script(without_placeholders(text))
    evaluator.finish()
    return evaluator.found


class _Evaluator(Expander):
    def __init__(self, inner: Inner | None) -> None:
        super().__init__()
        self.found = FileLaunches()
        self.functions: dict[str, tuple[Node, Located]] = {}
        self.called: set[str] = set()
        self.inner = inner
        self.depth = 0
        self.steps = 0
        self._seen_settings: set[tuple[str, int]] = set()

    # --- scripts and statements -------------------------------------------------------------

    def script(self, text: Located) -> None:
        """Evaluate a script in the current scope."""
        if self.depth >= MAX_DEPTH:
            return
        outer, self.text = self.text, text
        self.depth += 1
        self.block(_parser().parse(text.ascii()).root_node)
        self.depth -= 1
        self.text = outer

    def finish(self) -> None:
        """Look into functions that nothing called, then into variables that no launch used."""
        for name, (body, text) in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                outer, self.text = self.text, text
                self.scope.arguments = None
                self.block(body)
                self.text = outer
        for variable in self.scope.variables.values():
            if not variable.used:
                self.leftover(variable)

    def leftover(self, variable: Variable) -> None:
        for fields in variable.alternatives:
            words = self.words(
                [piece for one in fields for piece in split(one)] if not variable.array else fields
            )
            if is_flag_list(words):
                self.found.launches.append(
                    Launch(program="fragment", words=words, open_end=True, partial=True)
                )

    def block(self, node: Node) -> None:
        for child in node.named_children:
            self.statement(child)

    def statement(self, node: Node) -> None:
        kind = node.type
        if kind == "command":
            self.command(node)
        elif kind in ("variable_assignment", "variable_assignments"):
            self.assignments(node)
        elif kind in ("declaration_command", "unset_command"):
            self.declaration(node)
        elif kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                self.functions[self.source(name)] = (body, self.text)
        elif kind == "redirected_statement":
            self.redirected(node)
        elif kind in ("if_statement", "case_statement"):
            self.branches(node)
        elif kind == "list":
            self.chain(node)
        elif kind in ("for_statement", "c_style_for_statement"):
            variable = node.child_by_field_name("variable")
            if variable is not None:
                self.scope.variables.pop(self.source(variable), None)
            self.block(node)
        elif kind in ("comment", "test_command", "heredoc_body", "word", "string"):
            return
        else:
            self.block(node)

    def chain(self, node: Node) -> None:
        """``a && b``: what ``b`` sets is set only perhaps."""
        children = node.named_children
        if children:
            self.statement(children[0])
        for child in children[1:]:
            self.perhaps([lambda child=child: self.statement(child)])  # type: ignore[misc]

    def branches(self, node: Node) -> None:
        bodies: list[list[Node]] = [[]]
        for child in node.named_children:
            if child.type in ("elif_clause", "else_clause", "case_item"):
                bodies.append(list(child.named_children))
            else:
                bodies[0].append(child)
        condition, first = bodies[0][:1], bodies[0][1:]
        for child in condition:
            self.statement(child)

        def run(nodes: list[Node]) -> Callable[[], None]:
            def walk() -> None:
                for child in nodes:
                    self.statement(child)

            return walk

        self.perhaps([run(nodes) for nodes in [first, *bodies[1:]]])

    def perhaps(self, runs: Sequence[Callable[[], object]]) -> None:
        """Run each alternative on the same starting variables and keep what all of them set."""
        before = dict(self.scope.variables)
        ends = [before]
        for run in runs:
            self.scope.variables = dict(before)
            run()
            ends.append(self.scope.variables)
        merged: dict[str, Variable] = {}
        for name in {name for end in ends for name in end}:
            held = [end[name] for end in ends if name in end]
            merged[name] = merge(held)
        self.scope.variables = merged

    def redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child.type == "heredoc_redirect":
                self.heredoc(child, body)
        if body is not None:
            self.statement(body)

    def heredoc(self, node: Node, command: Node | None) -> None:
        body = next((c for c in node.named_children if c.type == "heredoc_body"), None)
        if body is None:
            return
        begin = node.start_byte + self.text.text[node.start_byte : body.start_byte].rfind("\n") + 1
        content = self.text.cut(max(begin, 0), body.end_byte)
        start = next((c for c in node.named_children if c.type == "heredoc_start"), None)
        if start is not None and self.source(start)[:1] not in ("'", '"', "\\"):
            content = drop(content, re.compile(r"\\(?=[$`\\])"))
        around = node.parent if node.parent is not None else node
        target = next((self.source(c) for c in _descend(around) if c.type == "file_redirect"), "")
        said = (self.source(command) if command is not None else "") + " " + target
        kind = _heredoc_kind(said, target)
        if kind == "shell":
            self.script(content)
        elif kind and self.inner is not None:
            _extend(self.found, self.inner(content, kind))

    # --- commands ---------------------------------------------------------------------------

    def command(self, node: Node) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            if self.steps == MAX_STEPS + 1:
                self.found.notes.append(f"more than {MAX_STEPS} commands: the rest is not read")
            return
        fields: Fields = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.setting_of(child)
            elif child.type == "command_name":
                fields += self.expand(child.named_children[0]) if child.named_children else []
            elif not child.type.endswith("redirect"):
                fields += self.expand(child)
            if len(fields) > MAX_WORDS:
                if any("sglang" in word.text for word in self.words(fields)):
                    self.found.notes.append(f"a command of more than {MAX_WORDS} words")
                return
        for child in _descend(node):
            if child.type == "command_substitution":
                self.block(child)
        if fields:
            self.run(fields)

    def run(self, fields: Fields) -> None:
        words = self.words(fields)
        name = words[0].text.rsplit("/", 1)[-1]
        for word in words:
            self.note_setting(word)
        if name in self.functions and self.depth < MAX_DEPTH:
            self.called.add(name)
            self.call(name, fields[1:])
            return
        if name in ("read", "mapfile", "readarray", "getopts"):
            for word in words[1:]:
                self.scope.variables.pop(word.text, None)
            return
        if name == "eval":
            self.script(join(fields[1:]))
            return
        launches = list(find_launches(words))
        self.found.launches += launches
        if launches or name in _TALKERS:
            return
        for before, piece in pairwise(fields):
            nested = re.search(r"\s", piece.text.strip()) and starts_sglang(piece.text)
            if nested or (before.text in ("-c", "-lc", "-ec", "-xc") and name in _SHELLS):
                self.script(piece)

    def call(self, name: str, arguments: Fields) -> None:
        body, text = self.functions[name]
        outer_text, outer = self.text, self.scope
        self.text, self.scope = text, Scope(self.scope.variables, arguments)
        self.depth += 1
        self.block(body)
        self.depth -= 1
        variables = self.scope.variables
        self.text, self.scope = outer_text, outer
        self.scope.variables = variables

    def words(self, fields: Fields) -> list[Word]:
        result = []
        for piece in fields:
            result.append(word_of(piece))
        return result

    # --- assignments ------------------------------------------------------------------------

    def assignments(self, node: Node) -> None:
        for child in [node] if node.type == "variable_assignment" else node.named_children:
            self.setting_of(child)
            self.assign(child)

    def declaration(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.setting_of(child)
                self.assign(child)

    def assign(self, node: Node) -> None:
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name_node is None:
            return
        name = self.source(name_node)
        if name_node.type == "subscript":
            self.scope.variables.pop(name.split("[")[0], None)
            return
        appends = any(child.type == "+=" for child in node.children)
        if value is None:
            fields: Fields = [empty(self.text, node.end_byte)]
        elif value.type == "array":
            fields = [piece for child in value.named_children for piece in self.expand(child)]
        else:
            fields = [join(self.expand(value, quoted=True), "")]
        array = value is not None and value.type == "array"
        old = self.scope.variables.get(name)
        if not appends or old is None:
            new = [fields]
        elif array or old.array:
            new = [alternative + fields for alternative in old.alternatives]
        else:
            new = [[join([*alternative, *fields], "")] for alternative in old.alternatives]
        self.scope.variables[name] = Variable(new, array or (appends and old is not None and old.array))

    def setting_of(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and re.match(r"(SGLANG|SGL)_[A-Z0-9_]+$", self.source(name)):
            text = join(self.expand(value, quoted=True), "").text if value is not None else ""
            start = self.text.at(name.start_byte)
            self.add_setting(self.source(name), text, start, start + len(self.source(name)))

    def note_setting(self, word: Word) -> None:
        match = _SETTING.match(word.text)
        if match:
            start = word.start + match.start(1)
            self.add_setting(match[1], match[2], start, start + len(match[1]))

    def add_setting(self, name: str, value: str, start: int, end: int) -> None:
        if (name, start) not in self._seen_settings:
            self._seen_settings.add((name, start))
            self.found.settings.append(Setting(name, None if DYNAMIC in value else value, start, end))


def _descend(node: Node) -> list[Node]:
    found, stack = [], list(node.named_children)
    while stack:
        child = stack.pop()
        found.append(child)
        stack += child.named_children
    return found


def _heredoc_kind(said: str, target: str) -> str | None:
    """Return the language of a here-document from the command and the file it goes to."""
    name = target.strip("> \"'").rsplit("/", 1)[-1].lower()
    if name.endswith((".yaml", ".yml", ".json")) or re.search(r"\bkubectl\b|\bhelm\b", said):
        return "yaml"
    if name.endswith(".py"):
        return "python"
    if "dockerfile" in name:
        return "dockerfile"
    if name.endswith(".service"):
        return "systemd"
    if name or re.search(r"\b(ba|z|da|k)?sh\b|\bssh\b|\bsrun\b|\bsbatch\b|\bdocker\b", said):
        return "shell"
    if re.search(r"\bpython[\d.]*\b", said):
        return "python"
    if re.search(r"\bdocker build\b|-f\s*-", said):
        return "dockerfile"
    return None


def _extend(found: FileLaunches, more: FileLaunches) -> None:
    found.launches += more.launches
    found.settings += more.settings
    found.versions += more.versions
    found.notes += more.notes


def strip_prompts(text: Located) -> Located:
    """Drop console prompts (``$ ``) at the beginning of lines."""
    return drop(text, _PROMPT) if _PROMPT.search(text.text) else text
