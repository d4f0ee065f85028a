"""Building a file's ``Module`` from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node, Tree

from indexer.syntax.anchors import shape
from indexer.syntax.module import Assignment, Class, Function, Import, Module, Parameter, module_name
from indexer.syntax.parse import end_line, line, text

_LONGEST_VALUE = 4000


def index_module(path: str, source: bytes, tree: Tree) -> Module:
    """Return what the file imports and defines. Never raises on broken source."""
    name, is_package = module_name(path), path.endswith("/__init__.py")
    module = Module(path, name, is_package, [], [], [], [], tree.root_node.has_error)
    scopes: list[tuple[int, str, bool]] = []  # (end byte, qualified name, is a class)
    for node, kind in outline_nodes(tree.root_node, source):
        start = node.start_byte
        while scopes and scopes[-1][0] <= start:
            scopes.pop()
        scope, in_class = (scopes[-1][1], scopes[-1][2]) if scopes else ("", True)
        if kind in ("class_definition", "function_definition"):
            qualname = _join(scope, _field_text(node, "name"))
            if kind == "class_definition":
                module.classes.append(_class(node, qualname))
            else:
                module.functions.append(_function(node, qualname, bool(scopes) and in_class))
            scopes.append((node.end_byte, qualname, kind == "class_definition"))
        elif kind == "import_statement":
            module.imports.extend(_plain_imports(node, scope))
        elif kind == "import_from_statement":
            module.imports.extend(_from_imports(node, scope, name, is_package))
        elif in_class:
            module.assignments.extend(_assignments(node, scope, kind == "augmented_assignment"))
    return module


_BLOCKS = frozenset(
    [
        *("class_definition", "decorated_definition", "block", "ERROR"),
        *("if_statement", "elif_clause", "else_clause", "match_statement", "case_clause"),
        *("try_statement", "except_clause", "except_group_clause", "finally_clause"),
        *("with_statement", "for_statement", "while_statement"),
    ]
)
_KEPT = frozenset(
    [
        *("class_definition", "function_definition", "import_statement", "import_from_statement"),
        *("assignment", "augmented_assignment"),
    ]
)


_KEPT_IN_FUNCTIONS = tuple(shape(word, r"\b", before=r"\b") for word in ("import", "class", "def"))


def _may_hold_kept(source: bytes, body: Node) -> bool:
    return any(one.occurs(source, body.start_byte, body.end_byte) for one in _KEPT_IN_FUNCTIONS)


def outline_nodes(root: Node, source: bytes) -> Iterator[tuple[Node, str]]:
    """Yield the imports, definitions and outer assignments of a file with their types, in source order.

    Only statements are walked, which is several times faster than a query over every expression, and no
    function without a word that could start something kept. Assignments inside functions are left out.
    """
    stack = [(root, False)]
    while stack:
        node, in_function = stack.pop()
        kind = node.type
        if kind in _KEPT:
            yield node, kind
        if kind == "function_definition":
            body = node.child_by_field_name("body")
            if body is None or _may_hold_kept(source, body):
                stack.extend((child, True) for child in reversed(node.named_children))
        elif kind in _BLOCKS or node is root:
            inside = in_function and kind != "class_definition"
            stack.extend((child, inside) for child in reversed(node.named_children))
        elif kind == "expression_statement" and not in_function:
            stack.extend((child, False) for child in node.named_children[:1])


def _join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _field_text(node: Node, field: str) -> str:
    child = node.child_by_field_name(field)
    return text(child) if child else ""


def _decorators(node: Node) -> tuple[int, list[str]]:
    parent = node.parent
    if parent is None or parent.type != "decorated_definition":
        return line(node), []
    marks = [child for child in parent.named_children if child.type == "decorator"]
    return line(parent), [text(mark)[1:].strip() for mark in marks]


def _class(node: Node, qualname: str) -> Class:
    start, decorators = _decorators(node)
    arguments = node.child_by_field_name("superclasses")
    bases = [
        text(child)
        for child in (arguments.named_children if arguments else [])
        if child.type not in ("keyword_argument", "comment")
    ]
    return Class(qualname, line(node), end_line(node), start, bases, decorators)


def _function(node: Node, qualname: str, in_class: bool) -> Function:
    start, decorators = _decorators(node)
    parameters = node.child_by_field_name("parameters")
    returns = node.child_by_field_name("return_type")
    return Function(
        qualname,
        line(node),
        end_line(node),
        start,
        decorators,
        [_parameter(child) for child in parameters.named_children if child.type != "comment"]
        if parameters
        else [],
        text(returns) if returns else None,
        in_class,
    )


def _parameter(node: Node) -> Parameter:
    if node.type in ("identifier", "list_splat_pattern", "dictionary_splat_pattern"):
        return Parameter(text(node))
    name = node.child_by_field_name("name")
    if name is None:
        name = node.named_children[0] if node.named_children else node  # typed splat, or a lone ``*``
    annotation, default = node.child_by_field_name("type"), node.child_by_field_name("value")
    return Parameter(text(name), text(annotation) if annotation else None, text(default) if default else None)


def _plain_imports(node: Node, scope: str) -> list[Import]:
    result = []
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            module = _field_text(child, "name")
            result.append(Import(_field_text(child, "alias"), module, None, line(child), scope))
        else:
            first = text(child).split(".")[0]
            result.append(Import(first, first, None, line(child), scope))
    return result


def _from_imports(node: Node, scope: str, name: str, is_package: bool) -> list[Import]:
    module = absolute_module(_field_text(node, "module_name"), name, is_package)
    if any(child.type == "wildcard_import" for child in node.children):
        return [Import("*", module, None, line(node), scope)]
    result = []
    for child in node.children_by_field_name("name"):
        if child.type == "aliased_import":
            imported, local = _field_text(child, "name"), _field_text(child, "alias")
        else:
            imported = local = text(child)
        result.append(Import(local, module, imported, line(child), scope))
    return result


def absolute_module(written: str, name: str, is_package: bool) -> str:
    """Return the absolute name of a module as written after ``from`` in module ``name``."""
    level = len(written) - len(written.lstrip("."))
    if not level:
        return written
    parts = name.split(".")
    base = parts[: len(parts) - level + (1 if is_package else 0)]
    rest = written[level:].strip()
    return ".".join([*base, rest] if rest else base)


def _assignments(node: Node, scope: str, augmented: bool) -> list[Assignment]:
    targets, value = [], node
    while value.type in ("assignment", "augmented_assignment"):
        target = value.child_by_field_name("left")
        if target is not None:
            targets.append(target)
        right = value.child_by_field_name("right")
        if right is None:
            break
        value = right
    annotation = node.child_by_field_name("type")
    right = node.child_by_field_name("right")
    written = text(value) if right is not None else None
    if written is not None and len(written) > _LONGEST_VALUE:
        written = None
    return [
        Assignment(
            _join(scope, name),
            line(node),
            end_line(node),
            text(annotation) if annotation else None,
            written if plain else None,
            augmented,
        )
        for target in targets
        for name, plain in _names(target)
    ]


def _names(target: Node) -> list[tuple[str, bool]]:
    """Return the names a target binds; False for one bound to a part of the value."""
    if target.type in ("identifier", "attribute"):
        return [(text(target), True)]
    if target.type in ("pattern_list", "tuple_pattern", "list_pattern"):
        return [(text(child), False) for child in target.named_children if child.type == "identifier"]
    return []
