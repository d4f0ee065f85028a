"""Classes named by an annotation."""

from __future__ import annotations

from indexer.syntax.callgraph.expressions import Expr, last_name, parse
from indexer.syntax.callgraph.symbols import Class, Module, Symbols, Value
from indexer.syntax.callgraph.values import Atom, ClassObject, Elements, Instance

_SEQUENCES = {"List", "list", "Sequence", "Tuple", "tuple", "Set", "set", "FrozenSet", "frozenset"}
_STREAMS = {
    "Iterable",
    "Iterator",
    "Deque",
    "deque",
    "Collection",
    "Generator",
    "AsyncIterator",
    "ModuleList",
}
_CONTAINERS = frozenset(_SEQUENCES | _STREAMS)
_MAPPINGS = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict"})
_TRANSPARENT = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "A"})


def resolve(symbols: Symbols, module: Module, text: str) -> tuple[Atom, ...]:
    """Return the classes of the tree that an annotation names; none for external types."""
    if not text or text in ("int", "str", "bool", "float", "None", "torch.Tensor", "Any"):
        return ()
    found = module.annotations.get(text)
    if found is None:
        found = module.annotations[text] = tuple(dict.fromkeys(from_expr(symbols, module, parse(text))))
    return found


def from_expr(symbols: Symbols, module: Module, expr: Expr, depth: int = 0) -> list[Atom]:
    """Return the classes named by an annotation expression."""
    if depth > 6:
        return []
    kind = expr[0]
    if kind == "str":
        return from_expr(symbols, module, parse(expr[1]), depth + 1) if expr[1] else []
    if kind == "op":
        return from_expr(symbols, module, expr[2], depth) + from_expr(symbols, module, expr[3], depth)
    if kind in ("name", "attr"):
        return _named(symbols, module, expr, depth)
    if kind != "sub":
        return []
    outer, inner = last_name(expr[1]), expr[2]
    items = inner[2] if inner[0] == "seq" else (inner,)
    if outer in _TRANSPARENT:
        listed = items[:1] if outer in ("Annotated", "A") else items
        return [atom for item in listed for atom in from_expr(symbols, module, item, depth + 1)]
    if outer in ("Type", "type"):
        atoms = [atom for item in items for atom in from_expr(symbols, module, item, depth + 1)]
        return [ClassObject(atom.cls, False) for atom in atoms if isinstance(atom, Instance)]
    if outer in _CONTAINERS or outer in _MAPPINGS:
        listed = items[1:] if outer in _MAPPINGS else items
        atoms = [atom for item in listed for atom in from_expr(symbols, module, item, depth + 1)]
        return [Elements(tuple(dict.fromkeys(atoms)))] if atoms else []
    return _named(symbols, module, expr[1], depth)


def _named(symbols: Symbols, module: Module, expr: Expr, depth: int) -> list[Atom]:
    found: list[Atom] = []
    targets = symbols.lookup_dotted(module, expr)
    if not targets and expr[0] == "name":
        targets = [*_type_checking_import(symbols, module, expr[1])]
    for target in targets:
        if isinstance(target, Class):
            found.append(Instance(target, False))
        elif isinstance(target, Value) and target.store.value:
            found.extend(from_expr(symbols, target.module, parse(target.store.value), depth + 1))
    return found


def _type_checking_import(symbols: Symbols, module: Module, name: str) -> list[Class]:
    """A quoted annotation may name a class that only a function imports: take it if it is the only one."""
    found = [
        symbol
        for function in module.functions
        for entry in function.local_imports.get(name, ())
        for symbol in symbols.imported(module, entry)
        if isinstance(symbol, Class)
    ]
    return found[:1] if found and all(f is found[0] for f in found) else []
