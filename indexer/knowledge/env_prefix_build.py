"""How a release rewrites the prefix of environment variables, told by the shape of its source.

``python -m indexer.knowledge.env_prefix_build OUT.json`` writes the table that ships.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from indexer.knowledge.env_prefix import PrefixRewrite
from indexer.knowledge.history import load_history
from indexer.knowledge.schema import Location
from indexer.source.release import open_release
from indexer.source.tree import SourceTree

_HINTS = (b"os.environ[", b"os.environ.items()", b".startswith(", b".replace(")
_LOOPS = ("os.environ.items()", "list(os.environ.items())")


def prefix_rewrites(tree: SourceTree) -> list[PrefixRewrite]:
    """Return what a tree rewrites when a module of it is imported.

    That is a loop over the environment which sets, for each name that begins with a prefix, the same name
    with another one; at the top of a module, or of a function that is called there without arguments.
    """
    found = []
    for path in tree.walk():
        if path.endswith(".py") and all(hint in (source := tree.read(path)) for hint in _HINTS):
            try:
                module = ast.parse(source)
            except SyntaxError:
                continue
            found += [rewrite for statement in _run(module) if (rewrite := _rewrite(statement, module, path))]
    return found


def _run(module: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that importing a module runs, whatever else holds."""
    functions = {one.name: one for one in module.body if isinstance(one, ast.FunctionDef)}
    for statement in module.body:
        yield statement
        match statement:
            case ast.Expr(ast.Call(ast.Name(name), [], [])) if name in functions:
                yield from functions[name].body


def _rewrite(statement: ast.stmt, module: ast.Module, path: str) -> PrefixRewrite | None:
    match statement:
        case ast.For(
            target=ast.Tuple([ast.Name(key), ast.Name(value)]), body=[ast.If(test=test, body=body, orelse=[])]
        ) if ast.unparse(statement.iter) in _LOOPS:
            old, but = _condition(test, key, module)
            if old is None or but is None:
                return None
            return _stored(body, key, value, PrefixRewrite(old, "", Location(path, 0), but))
    return None


def _condition(test: ast.expr, key: str, module: ast.Module) -> tuple[str | None, list[str] | None]:
    """Return the prefix that is asked for and the names that are left alone; None for what isn't told."""
    old: str | None = None
    but: list[str] | None = []
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        match part:
            case ast.Call(ast.Attribute(ast.Name(asked), "startswith"), [ast.Constant(str(prefix))], []) if (
                asked == key and old is None
            ):
                old = prefix
            case ast.Compare(ast.Name(asked), [ast.NotIn()], [ast.Name(table)]) if asked == key and but == []:
                but = _names(module, table)
            case _:
                return None, None
    return old, [name for name in but if name.startswith(old)] if old and but is not None else None


def _names(module: ast.Module, table: str) -> list[str] | None:
    """Return the strings of a table at the top of the module (keys of a dict); None if any is another."""
    values = [
        statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and [ast.unparse(one) for one in _targets(statement)] == [table]
    ]
    match values:
        case [ast.Dict(keys=items)] | [ast.Set(items)] | [ast.Tuple(items)] | [ast.List(items)]:
            names = [
                one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            return sorted(names) if len(names) == len(items) else None
    return None


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _stored(body: list[ast.stmt], key: str, value: str, begun: PrefixRewrite) -> PrefixRewrite | None:
    renamed: dict[str, str] = {}
    for statement in body:
        match statement:
            case ast.Assign(
                [ast.Name(name)],
                ast.Call(
                    ast.Attribute(ast.Name(of), "replace"),
                    [ast.Constant(begun.old), ast.Constant(str(new)), ast.Constant(1)],
                    [],
                ),
            ) if of == key:
                renamed[name] = new
            case ast.Assign(
                [ast.Subscript(ast.Attribute(ast.Name("os"), "environ"), ast.Name(name))], stored
            ):
                if name in renamed and isinstance(stored, ast.Name) and stored.id == value:
                    at = Location(begun.at.path, statement.lineno)
                    return msgspec.structs.replace(begun, new=renamed[name], at=at)
    return None


def main(target: Path) -> None:
    """Write what every covered release rewrites."""
    rewrites = {}
    for version in load_history().versions:
        tree = open_release(version)
        if found := prefix_rewrites(tree):
            rewrites[version] = found
        tree.close()
    target.write_bytes(msgspec.json.format(msgspec.json.encode(rewrites), indent=1) + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
