"""Shell expansion: what a word becomes, as far as the file tells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from indexer.drift.launch.fields import (
    ANSI_C_ESCAPE,
    STRING_ESCAPE,
    WORD_ESCAPE,
    Fields,
    branch,
    branched,
    drop,
    empty,
    glue,
    join,
    split,
    splits,
    unescape,
    unknown,
)
from indexer.drift.launch.located import Located
from indexer.drift.launch.model import Word
from indexer.drift.launch.programs import soften


@dataclass(slots=True)
class Variable:
    """What a variable may hold: one list of fields per branch that sets it."""

    alternatives: list[Fields]
    array: bool
    used: bool = False


@dataclass(slots=True)
class Scope:
    """The variables that are set, and the arguments of the function that runs."""

    variables: dict[str, Variable] = field(default_factory=dict)
    arguments: Fields | None = None


class Expander:
    """Expands nodes of ``text`` with the variables of ``scope``."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.text = Located("")

    def source(self, node: Node) -> str:
        """Return the text of a node."""
        return self.text.text[node.start_byte : node.end_byte]

    def expand(self, node: Node, *, quoted: bool = False) -> Fields:
        """Return the fields that a node becomes."""
        kind = node.type
        here = self.text.cut(node.start_byte, node.end_byte)
        if kind in ("word", "number", "variable_name"):
            return [unescape(here, WORD_ESCAPE)]
        if kind == "raw_string":
            return [here.cut(1, max(1, len(here) - 1))]
        if kind == "ansi_c_string":
            return [unescape(here.cut(2, max(2, len(here) - 1)), ANSI_C_ESCAPE)]
        if kind in ("string", "translated_string"):
            return self.string(node)
        if kind == "concatenation":
            return self.concatenation(node, quoted)
        if kind in ("simple_expansion", "expansion"):
            return self.variable(node, quoted)
        if kind == "comment":
            return []
        return [unknown(here, splits=not quoted and kind in ("command_substitution", "brace_expression"))]

    def string(self, node: Node) -> Fields:
        """Return the fields of a double-quoted string: one, but for ``"${A[@]}"``."""
        parts: list[Fields] = []
        position = node.start_byte + (2 if node.type == "translated_string" else 1)
        end = node.end_byte - 1
        for child in node.named_children:
            if child.start_byte < position or child.type == "string_content":
                continue
            parts.append([unescape(self.text.cut(position, child.start_byte), STRING_ESCAPE)])
            parts.append(self.expand(child, quoted=True))
            position = child.end_byte
        parts.append([unescape(self.text.cut(position, max(position, end)), STRING_ESCAPE)])
        fields = glue(parts)
        only_list = (
            len(node.named_children) == 1 and len(parts) == 3 and not parts[0][0].text + parts[2][0].text
        )
        if only_list and _is_list_expansion(self.source(node.named_children[0])):
            return parts[1]
        return fields

    def concatenation(self, node: Node, quoted: bool) -> Fields:
        """Return the fields of adjoining pieces."""
        return glue([self.expand(child, quoted=quoted) for child in node.named_children])

    def variable(self, node: Node, quoted: bool) -> Fields:
        """Return the fields of ``$X``, ``${X}`` or ``${X:-default}``."""
        here = self.text.cut(node.start_byte, node.end_byte)
        source = here.text
        as_list = _is_list_expansion(source)
        hidden: Fields = [unknown(here, splits=not quoted or as_list)]
        if source in ("$@", "$*", "${@}", "${*}"):
            return list(self.scope.arguments) if self.scope.arguments is not None else hidden
        if sliced := _SLICE.match(source):
            behind = self.arguments_behind(int(sliced[1]) - 1)
            return hidden if behind is None else behind
        match = re.match(r"\$\{?(\w+)(?:\[[@*]\])?(.*?)\}?$", source, re.DOTALL)
        if not match:
            return hidden
        name, rest = match[1], match[2]
        if rest.startswith((":+", "+")):
            given = self.default(node, quoted)
            return hidden if given is None else [branched(piece) for piece in given]
        defaults = rest.startswith((":-", "-"))
        if name.isdigit():
            arguments, at = self.scope.arguments or [], int(name) - 1
            if 0 <= at < len(arguments) and (defaults or not rest):
                return [arguments[at]]
            return (self.default(node, quoted) if defaults else None) or hidden
        variable = self.scope.variables.get(name)
        if variable is None and (defaults or rest.startswith((":=", "="))):
            fields = self.default(node, quoted)
            if fields and not defaults:
                self.scope.variables[name] = Variable([fields], array=False)
            return fields or hidden
        if rest and not defaults:
            return hidden
        if variable is None:
            return hidden
        return self.alternatives(variable, quoted, as_list) or (
            [] if not quoted else [empty(self.text, node.start_byte)]
        )

    def arguments_behind(self, count: int) -> Fields | None:
        """Return the arguments without the first ``count``; None where it isn't known which these are."""
        known = self.scope.arguments
        if known is None or count < 0 or any(splits(piece) or branch(piece) for piece in known[:count]):
            return None
        return known[count:]

    def default(self, node: Node, quoted: bool) -> Fields | None:
        """Return the text of ``${X:-text}``: where nothing sets ``X`` it is what runs by default."""
        values = [
            c for c in node.named_children[1:] if c.type not in ("variable_name", "special_variable_name")
        ]
        if len(values) != 1:
            return None
        fields = self.expand(values[0], quoted=quoted)
        return fields if quoted else [piece for one in fields for piece in split(one)]

    def alternatives(self, variable: Variable, quoted: bool, as_list: bool) -> Fields:
        """Return the fields of a variable; what only some branches set is marked."""
        variable.used = True
        several = len(variable.alternatives) > 1
        if quoted and not as_list:
            texts = {" ".join(piece.text for piece in fields) for fields in variable.alternatives}
            first = join(variable.alternatives[0], " ")
            return [first] if len(texts) == 1 else [unknown(first, splits=False)]
        lists = [
            fields if variable.array and (as_list or quoted) else [p for one in fields for p in split(one)]
            for fields in variable.alternatives
        ]
        common = (
            set.intersection(*({piece.at(0) for piece in fields} for fields in lists)) if lists else set()
        )
        result: Fields = []
        done: set[int] = set()
        for fields in sorted(lists, key=len, reverse=True):
            fresh = [piece for piece in fields if piece.at(0) not in done]
            done |= {piece.at(0) for piece in fields}
            result += [piece if piece.at(0) in common or not several else branched(piece) for piece in fresh]
        return result


def merge(held: list[Variable]) -> Variable:
    """Return a variable that holds what it may hold after any of several branches."""
    alternatives: list[Fields] = []
    seen: set[tuple[tuple[str, int], ...]] = set()
    for variable in held:
        for fields in variable.alternatives:
            key = tuple((piece.text, piece.at(0)) for piece in fields)
            if key not in seen and len(alternatives) < 12:
                seen.add(key)
                alternatives.append(fields)
    merged = Variable(alternatives, any(v.array for v in held), used=any(v.used for v in held))
    return held[0] if len(alternatives) == len(held[0].alternatives) else merged


_SLICE = re.compile(r"\$\{[@*]:\s*(\d+)\}$")


def _is_list_expansion(source: str) -> bool:
    return (
        _SLICE.match(source) is not None
        or source in ("$@", "${@}", "$*", "${*}")
        or "[@]" in source
        or "[*]" in source
    )


def word_of(piece: Located) -> Word:
    """Return a field as an argument."""
    return soften(Word(piece.text, piece.at(0), piece.literal_end(), splits(piece), branch(piece)))


def split_words(text: Located) -> list[Word]:
    """Split one string into words as ``shlex`` does; comments and line ends count as blanks."""
    words = []
    for piece in split(drop(text, re.compile(r"\\(?=\n)"))):
        words.append(word_of(piece))
    return words
