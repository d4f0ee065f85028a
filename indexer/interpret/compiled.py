"""A module compiled into chunks that can be run one by one, in any order.

A chunk is one top-level statement (an import of several names is several). The outline says which
names a chunk binds, so that a name can be bound when it is first looked up, without running the
rest of the module. Compiled modules are kept in the user's cache (``code_cache``).
"""

from __future__ import annotations

import ast
import marshal
from collections.abc import Iterator
from types import CodeType

from indexer.interpret.rewrite import Rewriter, UnsupportedSyntax
from indexer.interpret.signals import Unsupported

MARK = "@"
"""First letter of the file name of every interpreted code object."""


class Chunk:
    """One top-level statement: the names it binds, its line, whether it registers something."""

    __slots__ = ("_code", "binds", "line", "payload", "registers")

    def __init__(self, binds: tuple[str, ...], line: int, registers: bool, payload: bytes) -> None:
        self.binds, self.line, self.registers, self.payload = binds, line, registers, payload
        self._code: CodeType | None = None

    def code(self) -> CodeType:
        if self._code is None:
            self._code = marshal.loads(self.payload)
        return self._code


class CompiledModule:
    """The chunks of a module, the names they bind, star imports, and postponed annotations."""

    __slots__ = ("annotations", "binders", "chunks", "doc", "path", "stars")

    def __init__(
        self,
        path: str,
        chunks: list[Chunk],
        annotations: dict[str, bytes],
        stars: list[tuple[str, int]],
        doc: str | None,
    ) -> None:
        self.path, self.chunks, self.annotations, self.stars, self.doc = path, chunks, annotations, stars, doc
        self.binders: dict[str, list[int]] = {}
        for index, chunk in enumerate(chunks):
            for name in chunk.binds:
                self.binders.setdefault(name, []).append(index)


def compile_module(source: str, path: str) -> CompiledModule:
    """Parse, rewrite and compile a module.

    Raises:
        Unsupported: the source has a syntax error or a construct that is not rewritten.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unsupported(f"{path}: {error}") from error
    postponed = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )
    filename = MARK + path
    chunks: list[Chunk] = []
    stars: list[tuple[str, int]] = []
    annotations: dict[str, bytes] = {}
    for statement in _split(tree.body):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            stars.append((statement.module or "", statement.level))
            continue
        binds = tuple(dict.fromkeys(_bound(statement)))
        registers = _registers(statement)
        rewriter = Rewriter(postponed)
        try:
            rewritten = rewriter.visit(statement)
            body = rewritten if isinstance(rewritten, list) else [rewritten]
            code = _compile(ast.Module(body, []), filename, "exec")
            for text, expression in rewriter.annotations.items():
                annotations[text] = marshal.dumps(_compile(ast.Expression(expression), filename, "eval"))
        except (UnsupportedSyntax, SyntaxError, ValueError, RecursionError) as error:
            raise Unsupported(f"{path}:{statement.lineno}: {error}") from error
        chunks.append(Chunk(binds, statement.lineno, registers, marshal.dumps(code)))
    return CompiledModule(path, chunks, annotations, stars, ast.get_docstring(tree, clean=False))


def compile_expression(text: str, path: str) -> CodeType:
    """Compile one expression (a string annotation) the way a module is compiled."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _compile(ast.Expression(Rewriter().visit(tree.body)), MARK + path, "eval")
    except (SyntaxError, ValueError, UnsupportedSyntax, RecursionError) as error:
        raise Unsupported(f"{path}: annotation {text!r}: {error}") from error


def _compile(tree: ast.Module | ast.Expression, filename: str, mode: str) -> CodeType:
    return compile(ast.fix_missing_locations(tree), filename, mode, dont_inherit=True, optimize=0)


def _split(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and len(statement.names) > 1:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                continue
            for alias in statement.names:
                if isinstance(statement, ast.Import):
                    single: ast.stmt = ast.Import([alias])
                else:
                    single = ast.ImportFrom(statement.module, [alias], statement.level)
                yield ast.copy_location(single, statement)
        else:
            yield statement


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the module names that running a statement binds or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or (
                alias.name.partition(".")[0] if isinstance(statement, ast.Import) else alias.name
            )
        return
    if isinstance(statement, ast.If) and _is_type_checking(statement.test):
        for child in statement.orelse:
            yield from _bound(child)
        return
    for node in _shallow(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _bound(node)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            root = _root_name(node)
            if root:
                yield root
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # ``NAMES.append(...)``, ``TABLE.update(...)`` at module level change what the name holds.
            root = _root_name(node.func)
            if root and isinstance(statement, (ast.Expr, ast.For, ast.If, ast.Try, ast.With)):
                yield root
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _root_name(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _shallow(statement: ast.stmt) -> Iterator[ast.AST]:
    """Walk a statement without entering functions, classes, lambdas and comprehensions."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if node is not statement and isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        ):
            continue
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            stack.extend(reversed(node.orelse))
            continue
        stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _registers(statement: ast.stmt) -> bool:
    """Tell whether a statement's effect is a registration elsewhere, not a binding."""

    def named_register(node: ast.expr) -> bool:
        function = node.func if isinstance(node, ast.Call) else node
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return "register" in name.lower()

    definitions = [
        node
        for node in (statement, *getattr(statement, "body", ()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    if any(named_register(decorator) for node in definitions for decorator in node.decorator_list):
        return True
    if isinstance(statement, (ast.Expr, ast.For, ast.If, ast.Try, ast.With)):
        return any(isinstance(node, ast.Call) and named_register(node) for node in _shallow(statement))
    return False
