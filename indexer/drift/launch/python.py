"""Python: lists of arguments, command strings, and the keywords of ``Engine`` and ``ServerArgs``.

Values are followed through assignments, ``+``, ``*``, ``append``/``extend`` and ``join`` as far as
the text tells; the rest is ``DYNAMIC``.
"""

from __future__ import annotations

import re
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from indexer.drift.launch.expansion import split_words
from indexer.drift.launch.located import Located
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Keyword, Launch, Word
from indexer.drift.launch.programs import find_launches, is_flag_list, starts_sglang
from indexer.drift.launch.pyvalues import Values, Variable, concat, marked
from indexer.drift.launch.shell import read_shell

_TALKERS = re.compile(
    r"(^|\.)(print|debug|info|warning|warn|error|exception|log|add_argument|help|echo|fail|skip|skipTest|skipIf"
    r"|\w*(Error|Exception|Warning|Exit))$"
)
_SERVER_MODULES = re.compile(
    r"^sglang(\.(api|srt\.server_args|srt\.entrypoints(\.\w+)*|srt\.server|lang\.backend\.runtime_endpoint))?$"
)
"""Where the server's own ``Engine`` and ``ServerArgs`` are imported from; other packages of SGLang
have classes of the same names."""
_ENGINES = frozenset({"Engine", "Runtime", "ServerArgs"})
_CONDITIONAL = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "match_statement"}
)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_python.language()))


def read_python(text: Located) -> FileLaunches:
    """Read Python source. What doesn't parse is skipped, the rest counts."""
    reader = _Reader(text)
    reader.block(_parser().parse(text.ascii()).root_node, conditional=False)
    reader.finish()
    return reader.found


def _entries(words: list[Word]) -> list[str]:
    return [launch.entry for launch in find_launches(words)]


class _Reader(Values):
    def __init__(self, text: Located) -> None:
        super().__init__(text)
        self.found = FileLaunches()
        self.from_sglang: set[str] = set()
        self.packages = {"sglang", "sgl"}
        self._perhaps: list[range] = []  # places of strings that are added under a condition

    # --- statements -------------------------------------------------------------------------

    def block(self, node: Node, *, conditional: bool) -> None:
        for child in node.named_children:
            self.statement(child, conditional)

    def statement(self, node: Node, conditional: bool) -> None:
        kind = node.type
        if kind == "import_from_statement":
            module = node.child_by_field_name("module_name")
            if module is not None and _SERVER_MODULES.match(self.source(module)):
                self.from_sglang |= {
                    self.source(n).split(" as ")[-1].strip() for n in node.named_children[1:]
                }
        elif kind == "import_statement":
            for alias in re.finditer(r"\bsglang\s+as\s+(\w+)", self.source(node)):
                self.packages.add(alias[1])
        elif kind == "function_definition":
            outer = self.variables
            self.variables = dict(outer)
            body = node.child_by_field_name("body")
            if body is not None:
                self.block(body, conditional=False)
            self.finish(set(map(id, outer.values())))
            self.variables = outer
        elif kind == "expression_statement":
            for child in node.named_children:
                if child.type == "assignment":
                    self.assignment(child, conditional)
                elif child.type == "augmented_assignment":
                    self.augmented(child, conditional)
                elif child.type not in ("string", "concatenated_string"):
                    self.expression(child, conditional)
        elif kind in ("class_definition", "block", "with_statement", "decorated_definition"):
            self.block(node, conditional=conditional)
        elif kind in _CONDITIONAL or kind.endswith("_clause"):
            for child in node.named_children:
                if child.type == "block" or child.type.endswith("_clause"):
                    self.block(child, conditional=True)
                else:
                    self.expression(child, True)
        elif kind == "assert_statement":
            self.expression(node.named_children[0], conditional)  # the rest is its message
        elif kind != "comment":
            self.expression(node, conditional)

    def assignment(self, node: Node, conditional: bool) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None:
            return
        if right.type == "assignment":
            self.assignment(right, conditional)
            return
        name = self.source(left) if left is not None else ""
        value = self.value(right)
        if value is not None and left is not None and left.type in ("identifier", "attribute"):
            self.replace(name, value, conditional)
        else:
            self.setting(left, right)
            self.expression(right, False)
            if name:
                self.variables.pop(name, None)

    def replace(self, name: str, value: Variable, conditional: bool) -> None:
        """Set a name. A string that another branch sets otherwise is told by neither, but for what both
        begin with."""
        old = self.variables.get(name)
        if conditional and old is not None and value.text is not None and old.text is not None:
            same = len(old.text)
            if value.text.text.startswith(old.text.text) and 0 < same < len(value.text):
                self._perhaps.append(range(value.text.at(same), value.text.at(len(value.text) - 1) + 1))
            else:
                value = Variable(text=Located(DYNAMIC, [(0, value.text.at(0))]))
        if conditional and old is not None and old.words and value.words:
            value.shared = _entries(old.words) != _entries(value.words)
        if old is not None and not old.used:
            self.emit(old)
        self.variables[name] = value

    def augmented(self, node: Node, conditional: bool) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        variable = self.variables.get(self.source(left))
        if variable is None:
            value = self.value(right)
            if value is not None and value.words is not None:
                self.emit(value)
            else:
                self.expression(right, conditional)
        elif variable.words is not None:
            variable.add(self.items(right), conditional)
        elif variable.text is not None:
            more = self.string(right)
            if conditional:
                self._perhaps.append(range(self.text.at(right.start_byte), self.text.at(right.end_byte)))
            variable.text = concat([variable.text, more if more is not None else self.unknown(right)])

    def finish(self, outer: set[int] | None = None) -> None:
        """Tell what the variables hold that nothing took up."""
        for variable in self.variables.values():
            if not variable.used and id(variable) not in (outer or ()):
                self.emit(variable)
                variable.used = True

    def emit(self, variable: Variable) -> None:
        if variable.words:
            self.words(variable.words)
        elif variable.text is not None:
            self.command_string(variable.text)

    # --- expressions ------------------------------------------------------------------------

    def expression(self, node: Node, conditional: bool) -> None:
        """Look for launches inside an expression whose value goes somewhere we don't follow."""
        kind = node.type
        if kind in ("list", "tuple", "binary_operator"):
            value = self.value(node)
            if value is not None:
                self.emit(value)
                if value.words is not None or value.text is not None:
                    return
        if kind in ("string", "concatenated_string"):
            text = self.string(node)
            if text is not None:
                self.command_string(text)
            return
        if kind == "call":
            self.call(node, conditional)
            return
        if kind == "identifier":
            return  # a list's words are told at the end, with everything that is appended until then
        for child in node.named_children:
            self.expression(child, conditional)

    def call(self, node: Node, conditional: bool) -> None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        name = self.source(function)
        stem, _, last = name.rpartition(".")
        if last in ("append", "extend", "insert") and stem in self.variables:
            variable = self.variables[stem]
            if variable.words is not None:
                values = arguments.named_children
                more = self.items(values[-1]) if last == "extend" and values else []
                if last != "extend" and values:
                    more = [self.word(values[-1])]
                variable.add(more, conditional)
                return
        if _TALKERS.search(name):
            return
        if last in _ENGINES and (stem in self.packages or name in self.from_sglang):
            self.keywords(arguments)
            return
        value = self.value(node)
        if value is not None and (value.words or value.text is not None):
            self.emit(value)
            return
        self.setting_call(name, arguments)
        for child in arguments.named_children:
            inner = child.child_by_field_name("value") if child.type == "keyword_argument" else child
            if inner is not None:
                self.expression(inner, conditional)
        self.expression(function, conditional)

    def keywords(self, arguments: Node) -> None:
        found: list[Keyword] = []
        for child in arguments.named_children:
            if child.type == "keyword_argument":
                found += self.keyword(child.child_by_field_name("name"))
            elif child.type == "dictionary_splat":
                found += self.splat(child.named_children[0])
        if found:
            launch = Launch(
                program="server", keywords=found, partial=True, offset=self.text.at(arguments.start_byte)
            )
            self.found.launches.append(launch)

    def inside(self, node: Node) -> None:
        """Look into the values of a dict display."""
        for child in node.named_children:
            value = child.child_by_field_name("value") if child.type == "pair" else None
            key = child.child_by_field_name("key") if child.type == "pair" else None
            if value is not None:
                self.setting(key, value)
                self.expression(value, False)

    # --- results ----------------------------------------------------------------------------

    def words(self, words: list[Word]) -> None:
        launches = list(find_launches(words))
        self.found.launches += launches
        if launches:
            return
        script = next((w for w in words if starts_sglang(w.text) and " " in w.text), None)
        if script is not None and script.end - script.start == len(script.text):
            begin = script.start
            self.command_string(Located(script.text, [(0, begin)]))
        elif is_flag_list(words):
            self.found.launches.append(
                Launch(program="fragment", words=words, open_end=True, partial=True, offset=words[0].start)
            )

    def command_string(self, text: Located) -> None:
        if starts_sglang(text.text) and re.search(r"\s", text.text.strip()):
            more = read_shell(text)
            for launch in more.launches if self._perhaps else ():
                launch.words = [word for one in launch.words for word in marked([one], self._is_perhaps(one))]
            self.found.launches += [launch for launch in more.launches if launch.program != "fragment"]
            self.found.settings += more.settings
        elif text.text.lstrip().startswith("--") and "--" in text.text:
            words = split_words(text)
            if is_flag_list(words) and len(words) > 1:
                self.found.launches.append(
                    Launch(program="fragment", words=words, open_end=True, partial=True, offset=text.at(0))
                )

    def _is_perhaps(self, word: Word) -> bool:
        return any(word.start in place for place in self._perhaps)

    def setting(self, left: Node | None, right: Node) -> None:
        """``os.environ["SGLANG_X"] = "1"`` and ``{"SGLANG_X": "1"}``."""
        if left is not None:
            self._add_setting(left, right)

    def setting_call(self, name: str, arguments: Node) -> None:
        if name.endswith((".setdefault", "putenv", "setenv")) and arguments.named_children:
            values = arguments.named_children
            self._add_setting(values[0], values[1] if len(values) > 1 else values[0])

    def _add_setting(self, place: Node, value: Node) -> None:
        from indexer.drift.launch.model import Setting

        match = re.search(r"(?<=[\"'])(SGLANG|SGL)_[A-Z0-9_]+(?=[\"'])", self.source(place))
        if match:
            start = self.text.at(place.start_byte + match.start())
            text = self.string(value) if value.type == "string" else None
            known = text.text if text is not None else None
            self.found.settings.append(Setting(match.group(), known, start, start + len(match.group())))
