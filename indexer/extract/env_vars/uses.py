"""Uses of environment variables in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from tree_sitter import Node, Tree

from indexer.syntax.anchors import ancestor, anchors, enclosing_symbol, is_written, root_and_source, shape
from indexer.syntax.facts import Extractor
from indexer.syntax.nodes import positional_arguments
from indexer.syntax.parse import line, string_value, text

_HINTS = (b"nvs.", b"environ", b"getenv", b"env_", b"_env")
_FIELD = shape("nvs", r"\s*\.\s*([A-Z][A-Z0-9_]+)\b(?:\s*\.\s*(\w+))?")
_RAW = (shape("environ", r"\b"), shape("getenv", r"\b"))
_HELPER = shape("env", r"\w*\s*\(\s*(?=[\"'A-Za-z_])")
_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}$")
_SAID = re.compile(r"(?:(?:\w*logg?(?:er|ing)?|warnings)\.\w+|\w*warn\w*|print|log_\w+)\(")
_GONE = re.compile(r"\b(?:deprecated|removed|renamed|replaced|retired|obsolete|ignored|no longer)\b")
_IS_SET = re.compile(r"\bis\s+not\s+None$|^[^=<>!]*\bin\s+os\.environ$")
_WRITES = ("set", "override", "clear", "setdefault", "pop", "update")

SPECULATION = (b"speculative", b"spec_algorithm", b"target_verify", b"draft", b"spec_info")
HYBRID = (b"mamba", b"gdn", b"linear_attn", b"hybrid", b"ssm_state", b"kda", b"lightning", b"sconv")


class EnvUse(msgspec.Struct, array_like=True, frozen=True):
    """One use. ``how`` is the reader (``get``, ``is_set``, ``getenv``, ``get_bool_env_var``); ``default``
    the source of a raw read's default; ``context`` what the function around it deals with; ``notice`` is
    ``warning`` or ``error`` where all that is done about a variable that is set is to say that it is gone."""

    name: str
    line: int
    how: str
    written: bool
    symbol: str | None
    default: str | None
    context: list[str]
    notice: str | None = None


class EnvUses(msgspec.Struct, array_like=True):
    """All uses in one file."""

    uses: list[EnvUse]


def find_env_uses(path: str, source: bytes, tree: Tree) -> EnvUses:
    """Return every use of an environment variable in a file."""
    root = tree.root_node
    found: dict[tuple[str, int], EnvUse] = {}
    for use in (*_field_uses(source, root), *_raw_uses(source, root), *_helper_uses(source, root)):
        found.setdefault((use.name, use.line), use)
    return EnvUses(sorted(found.values(), key=lambda one: (one.line, one.name)))


ENV_USES = Extractor("env-uses", find_env_uses, EnvUses, EnvUses([]), _HINTS)


def _use(name: str, node: Node, how: str, written: bool, default: str | None = None) -> EnvUse:
    symbol, notice = enclosing_symbol(node), None if written else _notice(node)
    return EnvUse(name, line(node), how, written, symbol, default, _context(node), notice)


def _notice(node: Node) -> str | None:
    """Return how it is said that a variable is gone where it is set, if nothing else follows from it."""
    statement = ancestor(node, "if_statement", "function_definition", "module")
    test = statement.child_by_field_name("condition") if statement is not None else None
    body = statement.child_by_field_name("consequence") if statement is not None else None
    if test is None or body is None or not _asks_whether_set(test) or not _within(node, test):
        return None
    if statement is not None and statement.child_by_field_name("alternative") is not None:
        return None  # it decides whether something else is done
    done = [one for one in body.named_children if one.type != "comment"]
    if not done or not all(one.type == "raise_statement" or _SAID.match(text(one)) for one in done):
        return None
    if not _GONE.search(text(body)):
        return None  # a library reads it, or it must not go with something else
    return "error" if any(one.type == "raise_statement" for one in done) else "warning"


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _asks_whether_set(test: Node) -> bool:
    """Whether a test is that one variable is set and nothing else: ``getenv("X") is not None``."""
    while test.type == "parenthesized_expression" and test.named_children:
        test = test.named_children[0]
    return test.type == "call" or (test.type == "comparison_operator" and bool(_IS_SET.search(text(test))))


def _context(node: Node) -> list[str]:
    function = ancestor(node, "function_definition")
    body = (function.text or b"").lower() if function else _users_of_constant(node)
    found = []
    if any(word in body for word in SPECULATION):
        found.append("speculation")
    if any(word in body for word in HYBRID):
        found.append("hybrid")
    return found


def _users_of_constant(node: Node) -> bytes:
    """Return the functions of the file that use the module constant a use is assigned to."""
    statement = ancestor(node, "assignment")
    left = statement.child_by_field_name("left") if statement else None
    if left is None or left.type != "identifier" or not left.text:
        return b""
    root, source = root_and_source(left)
    word = shape(text(left), r"\b", before=r"\b")
    users = (ancestor(one, "function_definition") for _, one in anchors(word, source, root))
    return b"\n".join((one.text or b"").lower() for one in users if one is not None)


def _field_uses(source: bytes, root: Node) -> Iterator[EnvUse]:
    """Yield ``envs.NAME.get()`` and its kin."""
    for match, node in anchors(_FIELD, source, root):
        method = match.group(2).decode() if match.group(2) else "value"
        yield _use(match.group(1).decode(), node, method, method in _WRITES)


def _raw_uses(source: bytes, root: Node) -> Iterator[EnvUse]:
    """Yield ``os.getenv("X")``, ``os.environ.get("X")``, ``os.environ["X"]``, ``"X" in os.environ``."""
    for node in (node for pattern in _RAW for _, node in anchors(pattern, source, root)):
        how = text(node)
        holder = node.parent if node.parent is not None and node.parent.type == "attribute" else node
        around = holder.parent
        if around is None:
            continue
        if around.type == "attribute":  # os.environ.get / .setdefault / .pop
            method = text(around.child_by_field_name("attribute") or around)
            call = around.parent
            if call is not None and call.type == "call":
                yield from _call_use(call, f"environ.{method}", method in _WRITES)
        elif around.type == "call" and around.child_by_field_name("function") == holder:
            yield from _call_use(around, how, False)
        elif around.type == "subscript":
            key = around.child_by_field_name("subscript")
            name = _key(key) if key else None
            if name:
                yield _use(name, node, "environ[]", is_written(around))
        elif around.type == "comparison_operator":
            name = _key(around.named_children[0])
            if name:
                yield _use(name, node, "in environ", False)


def _helper_uses(source: bytes, root: Node) -> Iterator[EnvUse]:
    """Yield ``get_bool_env_var("X", "false")`` and other helpers with *env* in their name."""
    for _, node in anchors(_HELPER, source, root):
        name = text(node)
        call = ancestor(node, "call")
        if call is not None and name not in ("getenv", "putenv") and "deprecated" not in name:
            function = call.child_by_field_name("function")
            if function is not None and text(function).endswith(name):
                yield from _call_use(call, name, name.startswith(("set_", "temp_set")))


def _call_use(call: Node, how: str, written: bool) -> Iterator[EnvUse]:
    arguments = positional_arguments(call)
    name = _key(arguments[0]) if arguments else None
    if name:
        default = text(arguments[1]) if len(arguments) > 1 else None
        yield _use(name, call, how, written, default)


def _key(node: Node) -> str | None:
    """Return a variable's name: a literal, or a constant of this file."""
    value = string_value(node)
    if value is None and node.type == "identifier":
        value = _constant(node)
    return value if value and _NAME.match(value) else None


def _constant(node: Node) -> str | None:
    """Return the string a name of this file is assigned at module level."""
    root, _ = root_and_source(node)
    wanted = text(node)
    for statement in root.named_children:
        inner = statement.named_children[0] if statement.named_children else None
        if inner is None or inner.type != "assignment":
            continue
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        if left is not None and right is not None and text(left) == wanted:
            return string_value(right)
    return None
