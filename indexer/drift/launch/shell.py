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

from indexer.drift.launch.assignments import Assignments
from indexer.drift.launch.expansion import Scope, Variable, merge, word_of
from indexer.drift.launch.fields import Fields, drop, join, split
from indexer.drift.launch.heredoc import (
    commands_behind,
    descend,
    heredoc_content,
    heredoc_kind,
    is_shell,
)
from indexer.drift.launch.located import Located
from indexer.drift.launch.model import FileLaunches, Launch, Word
from indexer.drift.launch.programs import (
    find_launches,
    is_direct,
    is_flag_list,
    starts_sglang,
    without_placeholders,
)

MAX_DEPTH = 8
"""Nesting of functions, ``bash -c`` strings and here-documents that is followed."""
MAX_WORDS = 4000
MAX_STEPS = 20000
"""Commands looked at in one file: functions that call each other would otherwise multiply."""
_TALKERS = frozenset({
    "echo", "printf", "grep", "egrep", "fgrep", "rg", "sed", "awk", "cat", "log", "info", "warn", "warning",
    "error", "err", "die", "fail", "usage", "note", "log_info", "log_error", "log_warn", "pgrep", "pkill",
    "killall", "read", "test", "[", "[[", ":", "true", "false", "trap",
})  # fmt: skip
"""Commands whose strings are text, not programs."""
_APPENDING = frozenset(["xargs", "parallel"])
_LOOPS = frozenset(["while_statement", "for_statement", "c_style_for_statement"])
_SAYS = re.compile(r"(echo|printf)\b")
_SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh"])
_PYTHON = re.compile(r"(^|/)python[\d.]*$")
_BROKEN_CONTINUATION = re.compile(r"(?<=[^\\]\\)[ \t]+(?=\n[ \t]*--?[A-Za-z])")
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
    evaluator.script(_continued(without_placeholders(text)))
    evaluator.finish()
    return evaluator.found


def _continued(text: Located) -> Located:
    """Join lines as they were meant where a blank follows the backslash: no command begins with an option,
    and what is wrong with the options below is worth telling too."""
    return drop(text, _BROKEN_CONTINUATION) if _BROKEN_CONTINUATION.search(text.text) else text


class _Evaluator(Assignments):
    def __init__(self, inner: Inner | None) -> None:
        super().__init__()
        self.functions: dict[str, tuple[Node, Located]] = {}
        self.called: set[str] = set()
        self.inner = inner
        self.depth = 0
        self.steps = 0
        self.direct = True  # False in a text that is handed to a program we don't know

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
        elif kind == "pipeline":
            self.pipeline(node)
        elif kind in ("if_statement", "case_statement"):
            self.branches(node)
        elif kind == "list":
            self.chain(node)
        elif kind == "subshell":
            self.subshell(node)
        elif kind in ("for_statement", "c_style_for_statement"):
            variable = node.child_by_field_name("variable")
            if variable is not None:
                self.scope.variables.pop(self.source(variable), None)
            self.block(node)
        elif kind in ("comment", "test_command", "heredoc_body", "word", "string"):
            return
        else:
            self.block(node)

    def subshell(self, node: Node) -> None:
        """``( … )`` and ``$( … )``: what is set in there is forgotten behind them."""
        outer = self.scope
        self.scope = Scope(dict(outer.variables), outer.arguments)
        self.block(node)
        for name, variable in self.scope.variables.items():
            if variable is not outer.variables.get(name) and not variable.used:
                self.leftover(variable)
        self.scope = outer

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
        before, given = dict(self.scope.variables), self.scope.arguments
        ends, left = [before], [given]
        for run in runs:
            self.scope.variables, self.scope.arguments = dict(before), given
            run()
            ends.append(self.scope.variables)
            left.append(self.scope.arguments)
        known = [Variable([one], array=True) for one in left if one is not None]
        all_known = len(known) == len(left)
        self.scope.arguments = (
            self.alternatives(merge(known), quoted=True, as_list=True) if all_known else None
        )
        merged: dict[str, Variable] = {}
        for name in {name for end in ends for name in end}:
            held = [end[name] for end in ends if name in end]
            if name not in before and (len(runs) < 2 or len(held) < len(runs)):
                held.append(Variable([[]], array=held[0].array))  # where none of these runs it isn't set
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
        content = heredoc_content(node, self.text)
        if content is None:
            return
        around = node.parent if node.parent is not None else node
        target = next((self.source(c) for c in descend(around) if c.type == "file_redirect"), "")
        behind = commands_behind(node)
        piped = [child for child in behind if child.type == "pipeline"]
        self.written(content, [command, *piped] if command is not None else piped, target)
        for child in behind:
            self.statement(child)

    def written(self, content: Located, commands: Sequence[Node], target: str = "") -> None:
        """Read text that goes to commands, or to a file."""
        kind = heredoc_kind(" | ".join(map(self.source, commands)), target)
        if kind == "shell":
            self.script(content)
        elif kind and self.inner is not None:
            more = self.inner(content, kind)
            if not starts_sglang(content.text):
                more.notes.clear()  # a text about something else may be broken
            _extend(self.found, more)

    def pipeline(self, node: Node) -> None:
        """``echo '…' | bash``: what is said runs behind the pipe."""
        self.block(node)
        first, behind = node.named_children[0], node.named_children[1:]
        runs = any(is_shell(self.source(command)) for command in behind)  # not: | tee -a log
        if first.type != "command" or not _SAYS.match(self.source(first)) or not runs:
            return
        for said in first.named_children[1:]:
            if "string" in said.type and starts_sglang(self.source(said)):
                self.script(join(self.expand(said)))

    # --- commands ---------------------------------------------------------------------------

    def command(self, node: Node) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            if self.steps == MAX_STEPS + 1:
                self.found.notes.append(f"more than {MAX_STEPS} commands: the rest is not read")
            return
        fields: Fields = []
        name = node.child_by_field_name("name")
        again = name is not None and self.source(name) == "eval"  # quotes in variables count
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.setting_of(child)
            elif child.type == "command_name":
                fields += self.expand(child.named_children[0]) if child.named_children else []
            elif child.type == "herestring_redirect":
                self.written(join(self.expand(child.named_children[0])), [node])
            elif not child.type.endswith("redirect"):
                fields += self.expand(child, quoted=again)
            if len(fields) > MAX_WORDS:
                if any("sglang" in word.text for word in self.words(fields)):
                    self.found.notes.append(f"a command of more than {MAX_WORDS} words")
                return
        for child in descend(node):
            if child.type == "command_substitution":
                self.subshell(child)
        if name is not None and self.source(name) in ("shift", "set"):
            self.rearrange(node, fields)
        elif fields:
            self.run(fields)

    def rearrange(self, node: Node, fields: Fields) -> None:
        """Follow ``shift`` and ``set -- …``; behind one in a loop the arguments are unknown."""
        given = [word.text for word in self.words(fields)]
        if given[0] == "set" and "--" not in given:
            return
        around = node.parent
        while around is not None and around.type not in (*_LOOPS, "function_definition"):
            around = around.parent
        if around is not None and around.type in _LOOPS:
            self.scope.arguments = None
        elif given[0] == "set":
            self.scope.arguments = fields[given.index("--") + 1 :]
        else:
            count = given[1] if len(given) > 1 else "1"
            self.scope.arguments = self.arguments_behind(int(count)) if count.isdigit() else None

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
        launches = list(find_launches(words, open_end=name in _APPENDING))
        for launch in launches:
            launch.direct = self.direct and is_direct(words, launch)
        self.found.launches += launches
        if launches or name in _TALKERS:
            return
        for before, piece in pairwise(fields):
            nested = re.search(r"\s", piece.text.strip()) and starts_sglang(piece.text)
            if nested or (before.text in ("-c", "-lc", "-ec", "-xc") and name in _SHELLS):
                outer, self.direct = self.direct, self.direct and name in (*_SHELLS, "ssh")
                self.script(piece)
                self.direct = outer

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
        return [word_of(piece) for piece in fields]


def _extend(found: FileLaunches, more: FileLaunches) -> None:
    found.launches += more.launches
    found.settings += more.settings
    found.versions += more.versions
    found.notes += more.notes


def strip_prompts(text: Located) -> Located:
    """Drop console prompts (``$ ``) at the beginning of lines."""
    return drop(text, _PROMPT) if _PROMPT.search(text.text) else text
