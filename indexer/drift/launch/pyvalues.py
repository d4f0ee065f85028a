"""Python values: what an expression holds, as far as the text tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from indexer.drift.launch.expansion import split_words
from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import DYNAMIC, Keyword, Word
from indexer.drift.launch.programs import soften, starts_sglang

_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "\n": ""}
_NOT_FIELDS = frozenset({"server_args", "self"})


@dataclass(slots=True)
class Variable:
    """What a name holds: a list of words, a string, or the keys of a dict. ``used`` is True when some
    launch took it up; ``shared`` when another branch makes it the command of another program."""

    words: list[Word] | None = None
    text: Located | None = None
    keywords: list[Keyword] | None = None
    used: bool = False
    shared: bool = False

    def add(self, more: list[Word], conditional: bool) -> None:
        """Append words. Under a condition, words for a shared command may be the other program's: they count
        as not told."""
        assert self.words is not None
        if self.shared and conditional and more:
            more = [Word(DYNAMIC, more[0].start, more[0].start + 1, splits=True)]
        self.words = self.words + marked(more, conditional)


class Values:
    """Evaluates expressions of ``text`` with the variables set so far.

    The three hooks are told of expressions whose value goes where it isn't followed.
    """

    def __init__(self, text: Located) -> None:
        self.text = text
        self.variables: dict[str, Variable] = {}

    def expression(self, node: Node, conditional: bool) -> None:
        """Hook: an expression inside of a value."""
        raise NotImplementedError

    def words(self, words: list[Word]) -> None:
        """Hook: a list of words that became a string."""
        raise NotImplementedError

    def inside(self, node: Node) -> None:
        """Hook: a dict display."""
        raise NotImplementedError

    def source(self, node: Node) -> str:
        """Return the text of a node."""
        return self.text.text[node.start_byte : node.end_byte]

    def unknown(self, node: Node) -> Located:
        """Return a text that isn't told, at the place of a node."""
        return Located(DYNAMIC, [(0, self.text.at(node.start_byte))])

    def keyword(self, name: Node | None, quoted: bool = False) -> list[Keyword]:
        """Return a name as a keyword argument, none where it is no field."""
        if name is None:
            return []
        begin, end = (name.start_byte + 1, name.end_byte - 1) if quoted else (name.start_byte, name.end_byte)
        text = self.text.text[begin:end]
        if text in _NOT_FIELDS or not text.isidentifier():
            return []
        return [Keyword(text, None, False, self.text.at(begin), self.text.at(begin) + len(text))]

    def splat(self, node: Node) -> list[Keyword]:
        """Return the keywords of ``**node``."""
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

    def value(self, node: Node) -> Variable | None:
        """Return what an expression holds, None where it is neither list, string nor dict."""
        if node.type == "parenthesized_expression" and node.named_children:
            return self.value(node.named_children[0])
        mapping = self.mapping(node)
        if mapping is not None:
            self.inside(node)
            return Variable(keywords=mapping, used=True)
        if self.is_list(node):
            return Variable(words=self.items(node))
        text = self.string(node)
        return Variable(text=text) if text is not None else None

    def is_list(self, node: Node) -> bool:
        """Whether an expression is a list of words."""
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
        """Return a call's function as text, and its arguments."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = self.source(function) if function is not None else ""
        return name, list(arguments.named_children) if arguments is not None else []

    def split_of(self, node: Node) -> Located | None:
        """Return the string that ``.split()`` is called on."""
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
            return [word for child in choices for word in marked(self.items(child), True)]
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
        """Return the words of one list element."""
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
        """Return an argument that isn't told."""
        start = self.text.at(node.start_byte)
        return Word(DYNAMIC, start, start + 1, splits)

    def string(self, node: Node) -> Located | None:
        """Return a string-valued expression's text, with ``DYNAMIC`` for what isn't told."""
        kind = node.type
        if kind == "string":
            return self.literal(node)
        if kind == "concatenated_string":
            return concat([self.literal(child) for child in node.named_children if child.type == "string"])
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
            return concat([first or self.unknown(left), second or self.unknown(right)])
        if kind == "call":
            return self.string_call(node)
        return None

    def string_call(self, node: Node) -> Located | None:
        """Return the string of a call: ``join``, ``format``, ``strip``."""
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
        """Return a string literal's text, located."""
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
        """Append a literal's piece, escapes undone."""
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


def concat(parts: list[Located]) -> Located:
    """Return the pieces as one text."""
    builder = Builder()
    for part in parts:
        builder.add_located(part)
    return builder.done()


def marked(words: list[Word], conditional: bool) -> list[Word]:
    """Return the words, marked when they are there only under a condition."""
    if not conditional:
        return words
    return [Word(word.text, word.start, word.end, word.splits, 1) for word in words]
