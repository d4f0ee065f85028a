"""Rewrites a module's syntax tree so that everything delicate goes through the runtime.

The result is compiled and run in a sealed namespace. Python's own ``ast`` is used here instead of
tree-sitter: it is the input of ``compile``, has string literals and f-strings already decoded, and
gives the line numbers that tracebacks of the real program show.

What is rewritten, and why:

- calls, so that a host function never sees an unknown value by accident;
- ``is`` and ``in``, which Python answers without asking the unknown operand;
- f-strings, so that a text with an unknown part is unknown, not wrong;
- ``* ** << %``, so that a hostile tree can't ask for unbounded memory;
- ``except`` clauses, so that they can't catch the interpreter's own signals, nor errors that Python raised
  only because a value is not known;
- ``assert``, so that it is reported at the line CPython 3.11 reports;
- attribute names that lead out of the sandbox, and every store to an attribute;
- loops and steps of iterators, which count against the path's budget.

Names of the runtime start with ``@``, which no source can spell.
"""

from __future__ import annotations

import ast
from typing import Any, cast

FORBIDDEN_ATTRIBUTES = frozenset(
    {
        *("__globals__", "__code__", "__closure__", "__builtins__", "__import__", "__loader__", "__spec__"),
        *("__subclasses__", "__subclasshook__", "__objclass__", "_abc_registry_clear", "_abc_caches_clear"),
        *("gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code", "tb_frame", "co_code"),
        *("f_globals", "f_locals", "f_builtins", "f_back", "f_code", "__weakref__"),
        *("_evaluate", "__forward_code__", "_convert_", "from_callable"),  # run text, read host modules
    }
)
"""Attributes through which Python code could leave the sandbox."""

GUARDED_ATTRIBUTES = frozenset(
    {
        *("__dict__", "__get__", "__self__", "__func__", "__wrapped__"),
        *("__getattribute__", "__getattr__", "__setattr__", "__delattr__"),
        *("format", "format_map", "register"),
        *("__base__", "__bases__", "__mro__", "mro", "__getstate__", "__reduce__", "__reduce_ex__"),
        *("__kwdefaults__", "_member_map_", "_member_names_", "_value2member_map_"),
    }
)
"""Attributes that the runtime looks at before it hands them out (``safety.guarded_attribute``)."""

_NATIVE_ACCESS = ("__getattribute__", "__setattr__")
"""Methods that classes with attributes of their own making call for every attribute there is."""

_OPERATORS = {ast.Mult: "@mul", ast.Pow: "@pow", ast.LShift: "@lshift", ast.Mod: "@mod"}


class UnsupportedSyntax(Exception):
    """Source that is not rewritten (``except*``)."""


def assert_line(test: ast.expr, statement_line: int) -> int:
    """Return the line CPython 3.11 reports for a failing ``assert``: the last comparison's."""
    line = statement_line

    def visit(node: ast.expr) -> None:
        nonlocal line
        if isinstance(node, ast.Compare):
            line = node.lineno
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                visit(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            visit(node.operand)
        elif isinstance(node, ast.IfExp):
            for part in (node.test, node.body, node.orelse):
                visit(part)

    visit(test)
    return line


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class Rewriter(ast.NodeTransformer):
    """The transformation; one instance per module."""

    def __init__(self, postponed_annotations: bool = False) -> None:
        self._in_class = [False]
        self._postponed = postponed_annotations
        self.annotations: dict[str, ast.expr] = {}
        """Postponed annotations of class bodies: source text to rewritten expression."""

    # -- helpers ----------------------------------------------------------------------------------

    @property
    def _in_function(self) -> bool:
        return len(self._in_class) > 1 and not self._in_class[-1]

    @staticmethod
    def _name(name: str, like: ast.AST) -> ast.Name:
        return ast.copy_location(ast.Name(name, ast.Load()), like)

    def _runtime(self, name: str, args: list[ast.expr], like: ast.AST, line: int | None = None) -> ast.Call:
        call = ast.copy_location(ast.Call(self._name(name, like), args, []), like)
        if line is not None and line != call.lineno:
            call.lineno = line
            call.col_offset = 0
        return call

    def _constant(self, value: Any, like: ast.AST) -> ast.Constant:
        return ast.copy_location(ast.Constant(value), like)

    # -- expressions ------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not node.args:
            return node  # zero-argument super() looks at its caller's frame
        line = function.end_lineno if isinstance(function, ast.Attribute) else node.lineno
        if isinstance(function, ast.Attribute) and function.attr in _NATIVE_ACCESS and not node.keywords:
            arguments = [self.visit(part) for part in (function.value, *node.args)]
            return self._runtime(f"@{function.attr}", arguments, node, line)
        self.generic_visit(node)
        call = ast.copy_location(
            ast.Call(self._name("@call", node), [node.func, *node.args], node.keywords), node
        )
        if line != call.lineno:
            call.lineno, call.col_offset = cast(int, line), 0
        return call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        stored = not isinstance(node.ctx, ast.Load)
        closed = node.attr in FORBIDDEN_ATTRIBUTES or node.attr.startswith("_rt_")
        if closed or (stored and node.attr == "__class__"):
            node.value = self._runtime("@forbidden", [node.value, self._constant(node.attr, node)], node)
            return node
        if not stored:
            if node.attr in GUARDED_ATTRIBUTES:
                return self._runtime("@attribute", [node.value, self._constant(node.attr, node)], node)
            return node
        node.value = self._runtime("@store", [node.value], node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        operands = [node.left, node.comparators[0]]
        match node.ops[0]:
            case ast.Is():
                return self._runtime("@is", operands, node)
            case ast.IsNot():
                return self._runtime("@is_not", operands, node)
            case ast.In():
                return self._runtime("@in", operands, node)
            case ast.NotIn():
                return self._runtime("@not_in", operands, node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return self._runtime("@not", [node.operand], node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        helper = _OPERATORS.get(type(node.op))
        if helper and not (isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)):
            return self._runtime(helper, [node.left, node.right], node)
        if helper and not isinstance(node.op, ast.Mod):
            return self._runtime(helper, [node.left, node.right], node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Attribute) and node.target.attr in GUARDED_ATTRIBUTES:
            # The operand's own ``__radd__`` would be handed what a plain read is refused.
            node.value = self._runtime(
                "@forbidden", [node.value, self._constant(node.target.attr, node)], node
            )
            return node
        helper = _OPERATORS.get(type(node.op))
        if helper and isinstance(node.target, ast.Name):
            left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            return ast.copy_location(
                ast.Assign([node.target], self._runtime(helper, [left, node.value], node)), node
            )
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        if not any(isinstance(part, ast.FormattedValue) for part in node.values):
            return node
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec: ast.expr = self._constant("", part)
                if part.format_spec is not None:
                    spec = self.visit(part.format_spec)
                items = [self.visit(part.value), self._constant(part.conversion, part), spec]
                parts.append(ast.copy_location(ast.Tuple(items, ast.Load()), part))
            else:
                parts.append(part)
        return self._runtime("@text", parts, node)

    # -- statements -------------------------------------------------------------------------------

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        line = assert_line(node.test, node.lineno)
        self.generic_visit(node)
        error = self._runtime("@AssertionError", [node.msg] if node.msg else [], node, line)
        failed = ast.copy_location(ast.Raise(error, None), node)
        failed.lineno, failed.col_offset = line, 0
        test = self._runtime("@not", [node.test], node)
        return ast.copy_location(ast.If(test, [failed], []), node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        self.generic_visit(node)
        for handler in node.handlers:
            handler.body.insert(
                0, ast.copy_location(ast.Expr(self._runtime("@genuine", [], handler)), handler)
            )
        if node.handlers:
            first = node.handlers[0]
            passing = ast.ExceptHandler(
                self._name("@signals", first), None, [ast.copy_location(ast.Raise(None, None), first)]
            )
            node.handlers.insert(0, ast.copy_location(passing, first))
        return node

    def visit_TryStar(self, node: ast.AST) -> ast.AST:
        raise UnsupportedSyntax(f"except* at line {getattr(node, 'lineno', 0)}")

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, self._tick(node))
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, self._tick(node))
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, self._tick(node))
        return node

    def _tick(self, node: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Expr(self._runtime("@tick", [], node)), node)

    def visit_Match(self, node: ast.Match) -> ast.AST:
        self.generic_visit(node)
        node.subject = self._runtime("@known", [node.subject], node)
        if any(isinstance(part, ast.MatchClass) and part.patterns for part in ast.walk(node)):
            # ``__match_args__`` may name any attribute, and Python reads it without asking the runtime.
            name = self._constant("__match_args__", node)
            node.subject = self._runtime("@forbidden", [node.subject, name], node)
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self.generic_visit(node)
        for name in node.kwd_attrs:
            if name in FORBIDDEN_ATTRIBUTES | GUARDED_ATTRIBUTES or name.startswith("_rt_"):
                raise UnsupportedSyntax(f"pattern on {name} at line {node.lineno}")
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        assigns: list[ast.stmt] = []
        for alias in node.names:
            args: list[ast.expr] = [
                self._constant(alias.name, node),
                self._constant(alias.asname is not None, node),
            ]
            bound = alias.asname or alias.name.partition(".")[0]
            target = ast.copy_location(ast.Name(bound, ast.Store()), node)
            assigns.append(
                ast.copy_location(ast.Assign([target], self._runtime("@import", args, node)), node)
            )
        return assigns if len(assigns) > 1 else assigns[0]  # type: ignore[return-value]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        if node.module == "__future__":
            return ast.copy_location(ast.Pass(), node)
        module = [self._constant(node.module or "", node), self._constant(node.level, node)]
        if node.names[0].name == "*":
            return ast.copy_location(ast.Expr(self._runtime("@import_star", list(module), node)), node)
        assigns: list[ast.stmt] = []
        for alias in node.names:
            args = [*module, self._constant(alias.name, node)]
            target = ast.copy_location(ast.Name(alias.asname or alias.name, ast.Store()), node)
            value = self._runtime("@import_from", list(args), node)
            assigns.append(ast.copy_location(ast.Assign([target], value), node))
        return assigns if len(assigns) > 1 else assigns[0]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        node.value = self._noted(node.value, returned=True)
        return node

    def _noted(self, value: Any, returned: bool = False) -> Any:
        """Passes and providers return what they decide; the line of each decision is kept."""
        if not (isinstance(value, ast.Dict) and value.keys and all(_is_text(key) for key in value.keys)):
            return value
        lines = ast.Dict(
            [self._constant(key.value, value) for key in value.keys],  # type: ignore[union-attr]
            [self._constant(key.lineno, value) for key in value.keys],  # type: ignore[union-attr]
        )
        operands: list[ast.expr] = [value, ast.copy_location(lines, value), self._constant(returned, value)]
        return self._runtime("@made", operands, value)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """In a function, note the line of ``name = {"key": …}`` and of ``name["key"] = …``."""
        self.generic_visit(node)
        if not self._in_function or len(node.targets) != 1:
            return node
        (target,) = node.targets
        if isinstance(target, ast.Name):
            node.value = self._noted(node.value)
        if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)):
            return node
        if not _is_text(target.slice):
            return node
        line = self._constant(target.slice.lineno, node)
        operands: list[ast.expr] = [self._name(target.value.id, node), target.slice, line]
        return [node, ast.copy_location(ast.Expr(self._runtime("@wrote", operands, node)), node)]

    # -- definitions ------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: Any) -> ast.AST:
        # Annotations of functions decide nothing in the code that is run, and evaluating them would
        # bind half of the tree.
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            argument.annotation = None
        for starred in (arguments.vararg, arguments.kwarg):
            if starred is not None:
                starred.annotation = None
        node.returns = None
        self._in_class.append(False)
        body = [self.visit(statement) for statement in node.body]
        self._in_class.pop()
        node.body = [item for part in body for item in (part if isinstance(part, list) else [part])]
        if node.name in ("__next__", "__getitem__"):  # native code may ask for items without end
            node.body.insert(0, self._tick(node))
        node.args = self.visit(arguments)
        node.decorator_list = [self._decorator(decorator) for decorator in node.decorator_list]
        return node

    def _decorator(self, decorator: ast.expr) -> ast.expr:
        return self._runtime("@decorator", [self.visit(decorator)], decorator)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._in_class.append(True)
        body = [self.visit(statement) for statement in node.body]
        self._in_class.pop()
        node.body = [item for part in body for item in (part if isinstance(part, list) else [part])]
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        node.decorator_list = [self._decorator(decorator) for decorator in node.decorator_list]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._in_class[-1]:
            # The annotation is the declaration: dataclasses and Structs read it.
            if self._postponed:
                text = ast.unparse(node.annotation)
                self.annotations[text] = self.visit(node.annotation)
                node.annotation = self._constant(text, node)
            else:
                node.annotation = self.visit(node.annotation)
            if node.value is not None:
                node.value = self.visit(node.value)
            node.target = self.visit(node.target)
            return node
        target = self.visit(node.target)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        value = self.visit(node.value)
        if self._in_function and isinstance(target, ast.Name):
            value = self._noted(value)
        return ast.copy_location(ast.Assign([target], value), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id.startswith("@"):
            raise UnsupportedSyntax("reserved name")
        return node
