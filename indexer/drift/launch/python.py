"""Python: lists of arguments, command strings, and the keywords of ``Engine`` and ``ServerArgs``.

Values are followed through assignments, ``+``, ``*``, ``append``/``extend`` and ``join`` as far as
the text tells; the rest is ``DYNAMIC``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Keyword, Launch, Word
from indexer.drift.launch.programs import find_launches, is_flag_list, soften, starts_sglang
from indexer.drift.launch.shell import read_shell, split_words

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
_NOT_FIELDS = frozenset({"server_args", "self"})
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""}
_CONDITIONAL = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "match_statement"}
)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_python.language()))


@dataclass(slots=True)
class _Variable:
    words: list[Word] | None = None
    text: Located | None = None
    keywords: list[Keyword] | None = None
    used: bool = False


def read_python(text: Located) -> FileLaunches:
    """Read Python source. What doesn't parse is skipped, the rest counts."""
    reader = _Reader(text)
    reader.block(_parser().parse(text.ascii()).root_node, conditional=False)
    reader.finish()
    return reader.found


class _Reader:
    def __init__(self, text: Located) -> None:
        self.text = text
        self.found = FileLaunches()
        self.variables: dict[str, _Variable] = {}
        self.from_sglang: set[str] = set()
        self._settings_seen: set[int] = set()

    def source(self, node: Node) -> str:
        return self.text.text[node.start_byte : node.end_byte]

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
                    self.assignment(child)
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
        elif kind not in ("comment", "import_statement"):
            self.expression(node, conditional)

    def assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None:
            return
        if right.type == "assignment":
            self.assignment(right)
            return
        name = self.source(left) if left is not None else ""
        value = self.value(right)
        if value is not None and left is not None and left.type in ("identifier", "attribute"):
            self.replace(name, value)
        else:
            self.setting(left, right)
            self.expression(right, False)
            if name:
                self.variables.pop(name, None)

    def replace(self, name: str, value: _Variable) -> None:
        old = self.variables.get(name)
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
            variable.words = variable.words + _marked(self.items(right), conditional)
        elif variable.text is not None:
            more = self.string(right)
            variable.text = _concat([variable.text, more if more is not None else _unknown(self, right)])

    def finish(self, outer: set[int] | None = None) -> None:
        """Tell what the variables hold that nothing took up."""
        for variable in self.variables.values():
            if not variable.used and id(variable) not in (outer or ()):
                self.emit(variable)
                variable.used = True

    def emit(self, variable: _Variable) -> None:
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
                variable.words = variable.words + _marked(more, conditional)
                return
        if _TALKERS.search(name):
            return
        if last in _ENGINES and (
            stem in ("sgl", "sglang", "sgl.srt.server_args") or name in self.from_sglang
        ):
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

    def keyword(self, name: Node | None, quoted: bool = False) -> list[Keyword]:
        if name is None:
            return []
        begin, end = (name.start_byte + 1, name.end_byte - 1) if quoted else (name.start_byte, name.end_byte)
        text = self.text.text[begin:end]
        if text in _NOT_FIELDS or not text.isidentifier():
            return []
        return [Keyword(text, None, False, self.text.at(begin), self.text.at(begin) + len(text))]

    def splat(self, node: Node) -> list[Keyword]:
        if node.type == "identifier":
            variable = self.variables.get(self.source(node))
            return variable.keywords or [] if variable is not None else []
        return self.mapping(node) or []

    def mapping(self, node: Node) -> list[Keyword] | None:
        """Return the keys of a dict display or ``dict(...)`` call."""
        if node.type == "dictionary":
            found: list[Keyword] = []
            for child in node.named_children:
                key = child.child_by_field_name("key") if child.type == "pair" else None
                if key is not None and key.type == "string":
                    found += self.keyword(key, quoted=True)
                elif child.type == "dictionary_splat":
                    found += self.splat(child.named_children[0])
            return found
        function = node.child_by_field_name("function") if node.type == "call" else None
        if function is not None and self.source(function) == "dict":
            arguments = node.child_by_field_name("arguments")
            return [
                keyword
                for child in (arguments.named_children if arguments is not None else [])
                if child.type == "keyword_argument"
                for keyword in self.keyword(child.child_by_field_name("name"))
            ]
        return None

    # --- values -----------------------------------------------------------------------------

    def value(self, node: Node) -> _Variable | None:
        if node.type == "parenthesized_expression" and node.named_children:
            return self.value(node.named_children[0])
        mapping = self.mapping(node)
        if mapping is not None:
            self.inside(node)
            return _Variable(keywords=mapping, used=True)
        if self.is_list(node):
            return _Variable(words=self.items(node))
        text = self.string(node)
        return _Variable(text=text) if text is not None else None

    def inside(self, node: Node) -> None:
        """Look into the values of a dict display."""
        for child in node.named_children:
            value = child.child_by_field_name("value") if child.type == "pair" else None
            key = child.child_by_field_name("key") if child.type == "pair" else None
            if value is not None:
                self.setting(key, value)
                self.expression(value, False)

    def is_list(self, node: Node) -> bool:
        kind = node.type
        if kind in ("list", "tuple"):
            return True
        if kind == "identifier":
            variable = self.variables.get(self.source(node))
            return variable is not None and variable.words is not None
        if kind == "binary_operator":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            return bool(
                left is not None and right is not None and (self.is_list(left) or self.is_list(right))
            )
        if kind == "conditional_expression":
            return any(self.is_list(child) for child in node.named_children)
        if kind == "call":
            name, arguments = self.callee(node)
            if name in ("list", "tuple", "sorted") and arguments:
                return self.is_list(arguments[0])
            return name == "shlex.split" or (
                name.endswith(".split") and not arguments and self.split_of(node) is not None
            )
        return False

    def callee(self, node: Node) -> tuple[str, list[Node]]:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = self.source(function) if function is not None else ""
        return name, list(arguments.named_children) if arguments is not None else []

    def split_of(self, node: Node) -> Located | None:
        function = node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        return self.string(owner) if owner is not None else None

    def items(self, node: Node) -> list[Word]:
        """Return the words of a list-valued expression."""
        kind = node.type
        if kind in ("list", "tuple"):
            return [word for child in node.named_children for word in self.element(child)]
        if kind == "parenthesized_expression" and node.named_children:
            return self.items(node.named_children[0])
        if kind == "identifier":
            variable = self.variables.get(self.source(node))
            if variable is not None and variable.words is not None:
                variable.used = True
                return variable.words
        if kind == "binary_operator":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                return self.items(left) + self.items(right)
        if kind == "conditional_expression":
            choices = node.named_children[0::2]
            return [word for child in choices for word in _marked(self.items(child), True)]
        if kind == "call":
            name, arguments = self.callee(node)
            if name in ("list", "tuple", "sorted") and arguments:
                return self.items(arguments[0])
            text = self.string(arguments[0]) if name == "shlex.split" and arguments else None
            text = self.split_of(node) if name.endswith(".split") and text is None else text
            if text is not None:
                return split_words(text)
        return [self.hidden(node, splits=True)]

    def element(self, node: Node) -> list[Word]:
        if node.type in ("list_splat", "parenthesized_list_splat"):
            return self.items(node.named_children[0])
        if node.type in ("comment",):
            return []
        return [self.word(node)]

    def word(self, node: Node) -> Word:
        """Return one list element as the argument it becomes."""
        text = self.string(node)
        if text is not None:
            return soften(Word(text.text, text.at(0), text.literal_end()))
        if node.type in ("integer", "float", "unary_operator", "true", "false"):
            source = self.source(node)
            start = self.text.at(node.start_byte)
            if node.type == "unary_operator" and not re.match(r"^-[\d.]+$", source):
                return self.hidden(node, splits=False)
            return Word(source, start, start + len(source))
        if node.type == "call":
            name, arguments = self.callee(node)
            if name in ("str", "repr") and len(arguments) == 1:
                return self.word(arguments[0])
        if node.type in ("list", "tuple", "binary_operator", "call", "conditional_expression"):
            self.expression(node, False) if node.type in ("list", "tuple") else None
        return self.hidden(node, splits=False)

    def hidden(self, node: Node, *, splits: bool) -> Word:
        start = self.text.at(node.start_byte)
        return Word(DYNAMIC, start, start + 1, splits)

    def string(self, node: Node) -> Located | None:
        """Return a string-valued expression's text, with ``DYNAMIC`` for what isn't told."""
        kind = node.type
        if kind == "string":
            return self.literal(node)
        if kind == "concatenated_string":
            return _concat([self.literal(child) for child in node.named_children if child.type == "string"])
        if kind == "parenthesized_expression" and len(node.named_children) == 1:
            return self.string(node.named_children[0])
        if kind == "identifier":
            variable = self.variables.get(self.source(node))
            if variable is not None and variable.text is not None:
                variable.used = True
                return variable.text
            return None
        if kind == "binary_operator":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is None or right is None or operator is None or self.source(operator) not in ("+", "%"):
                return None
            first, second = self.string(left), self.string(right)
            if self.source(operator) == "%":
                return first
            if first is None and second is None:
                return None
            return _concat([first or _unknown(self, left), second or _unknown(self, right)])
        if kind == "call":
            return self.string_call(node)
        return None

    def string_call(self, node: Node) -> Located | None:
        name, arguments = self.callee(node)
        function = node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        if owner is None:
            return None
        if name.endswith((".format", ".strip", ".rstrip", ".lstrip")):
            return self.string(owner)
        if name.endswith(".join") and len(arguments) == 1 and self.is_list(arguments[0]):
            words = self.items(arguments[0])
            if any(starts_sglang(word.text) for word in words):
                self.words(words)
                return Located("", [(0, self.text.at(node.start_byte))])
        return None

    def literal(self, node: Node) -> Located:
        builder = Builder()
        raw = "r" in self.source(node.children[0]).lower() if node.children else False
        position = node.children[0].end_byte if node.children else node.start_byte
        end = node.children[-1].start_byte if len(node.children) > 1 else node.end_byte
        formatted = "f" in self.source(node.children[0]).lower() if node.children else False
        for child in node.named_children:
            if child.type == "interpolation":
                self.plain(builder, position, child.start_byte, raw, formatted)
                value = child.named_children[0] if child.named_children else None
                known = self.string(value) if value is not None and value.type == "identifier" else None
                if known is not None:
                    builder.add_located(known)
                else:
                    builder.add(DYNAMIC, self.text.at(child.start_byte))
                position = child.end_byte
        self.plain(builder, position, end, raw, formatted)
        done = builder.done()
        return done if done.text else Located("", [(0, self.text.at(end))])

    def plain(self, builder: Builder, begin: int, end: int, raw: bool, formatted: bool) -> None:
        text = self.text.text[begin:end]
        if raw or ("\\" not in text and not (formatted and ("{{" in text or "}}" in text))):
            builder.add_located(self.text.cut(begin, end))
            return
        for match in re.finditer(r"\\(.)|(\{\{|\}\})|([^\\{}]+|[{}])", text, re.DOTALL):
            offset = self.text.at(begin + match.start())
            if match[1] is not None:
                builder.add(_SIMPLE_ESCAPES.get(match[1], match[0]), self.text.at(begin + match.start(1)))
            elif match[2] is not None:
                builder.add(match[2][0] if formatted else match[2], offset)
            else:
                builder.add(match[3], offset)

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
            self.found.launches += [launch for launch in more.launches if launch.program != "fragment"]
            self.found.settings += more.settings
        elif text.text.lstrip().startswith("--") and "--" in text.text:
            words = split_words(text)
            if is_flag_list(words) and len(words) > 1:
                self.found.launches.append(
                    Launch(program="fragment", words=words, open_end=True, partial=True, offset=text.at(0))
                )

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


def _unknown(reader: _Reader, node: Node) -> Located:
    return Located(DYNAMIC, [(0, reader.text.at(node.start_byte))])


def _concat(parts: list[Located]) -> Located:
    builder = Builder()
    for part in parts:
        builder.add_located(part)
    return builder.done()


def _marked(words: list[Word], conditional: bool) -> list[Word]:
    if not conditional:
        return words
    return [Word(word.text, word.start, word.end, word.splits, 1) for word in words]
