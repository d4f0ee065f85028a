"""What a path lacks that its siblings have. Everything is found by comparison inside one tree.

A finding is ``{"kind", "what", "at": ["path:line", …], …}``; ``what`` names the things compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer.extract.code_paths.context import Context, Tree
from indexer.extract.code_paths.matching import passing_lines
from indexer.extract.code_paths.plan import Path
from indexer.extract.code_paths.search import Limits, find
from indexer.extract.code_paths.tree import Branch, Grown
from indexer.knowledge.schema import Value
from indexer.syntax.callgraph.assumptions import Assumptions
from indexer.syntax.callgraph.edges import Node
from indexer.syntax.callgraph.expressions import Expr, arguments, parse
from indexer.syntax.callgraph.facts import Call
from indexer.syntax.callgraph.inference import Inference
from indexer.syntax.callgraph.symbols import Class, Function, Module, absolute_name
from indexer.syntax.callgraph.values import ClassObject, Frame

Finding = dict[str, Value]


def findings_of(context: Context, path: Path, grown: Grown) -> list[Finding]:
    """Return the findings of one path, in a fixed order."""
    commit = grown.found.get("commit")
    found: list[Finding] = []
    if commit is not None and commit.edge is not None:
        hook = commit.node.function
        found.extend(workers_without(context, path, grown))
        found.extend(wrong_arguments(context, hook))
        found.extend(skipped_silently(context, commit))
        found.extend(omitted_predicates(context, hook))
    found.extend(disagreeing_lists(context.tree))
    return found


# -- workers ---------------------------------------------------------------------------------------


def workers_without(context: Context, path: Path, grown: Grown) -> Iterator[Finding]:
    """Yield the workers of the factory from which no call leads to the commit that siblings reach."""
    role = next(point.is_ for point in path.point if point.id == "commit")
    if role is None:
        return
    reached: dict[Class, bool] = {}
    plain = Assumptions(_platform_names(context, path), context.tree.enums, {})
    for cls in worker_classes(context):
        entry = next(iter(cls.find("forward_batch_generation")), None)
        if entry is None:
            continue
        chain = find(
            context.edges,
            Node(entry, (cls, True)),
            lambda node, edge: context.matcher.plays(role, node, edge),
            plain,
            plain,
            context.outside,
            limits=Limits(expansions=2500, cost=9.0),
        )
        reached[cls] = chain is not None
    having = sorted(cls.qualname for cls, found in reached.items() if found)
    for cls in sorted((cls for cls, found in reached.items() if not found), key=lambda c: c.id):
        if having:
            lines = [f"{f.module.path}:{f.scope.line}" for f in _verifying(cls)]
            yield {
                "kind": "missing-waypoint",
                "what": f"{cls.qualname} never reaches the commit of the recurrent state",
                "point": "commit",
                "worker": cls.qualname,
                "siblings": having,
                "at": [*lines, f"{cls.module.path}:{cls.scope.line}"],
            }


def _platform_names(context: Context, path: Path) -> dict[str, bool]:
    """The device's truths alone: a sibling may run under other modes, algorithms and settings."""
    device = context.tree.plan.device[path.device]
    return {**dict.fromkeys(device.get("true", []), True), **dict.fromkeys(device.get("false", []), False)}


def worker_classes(context: Context) -> list[Class]:
    """Return every class that the factory may return, whatever the algorithm and the schedule."""
    template = context.tree.plan.template["worker"]
    inference = Inference(context.tree.symbols)
    found: dict[str, Class] = {}
    for function in _factories(context.tree, template):
        for entry in function.scope.returns:
            expr = parse(entry.value)
            expr = expr[1] if expr[0] == "call" else expr
            for atom in inference.types(expr, Frame(function.module, function, None)):
                if isinstance(atom, ClassObject) and not context.outside(atom.cls.module.path):
                    found[atom.cls.id] = atom.cls
    return [found[key] for key in sorted(found)]


def _factories(tree: Tree, template: dict[str, str]) -> list[Function]:
    functions = [
        f
        for f in tree.symbols.functions_by_name.get(template["factory"], ())
        if f.cls is not None and f.cls.scope.name == template["enum"]
    ]
    for module in tree.symbols.modules.values() if not functions else ():
        for call in module.facts.scopes[0].calls:
            if call.callee == template.get("register"):
                for _, expr in arguments(call.arguments):
                    named = module.names.get(expr[1], ()) if expr[0] == "name" else ()
                    functions.extend(f for f in named if isinstance(f, Function))
    return list(dict.fromkeys(functions))


def _verifying(cls: Class) -> list[Function]:
    """Return the worker's methods that run the target model in verify mode."""
    found = [f for owner in cls.mro for methods in owner.methods.values() for f in methods]
    return [f for f in found if any(True for _ in passing_lines(f, "is_verify=True"))][:1]


# -- calls of the hook -----------------------------------------------------------------------------


def wrong_arguments(context: Context, hook: Function) -> Iterator[Finding]:
    """Yield calls of the commit hook that can't bind its parameters."""
    parameters = hook.scope.parameters[1:]
    names = [p.name for p in parameters if not p.name.startswith("*") and p.name != "*"]
    required = [p.name for p in parameters if p.name in names and not p.default]
    if any(p.name.startswith("*") and p.name != "*" for p in parameters):
        return
    for function, call in _calls_named(context, hook.name):
        args = arguments(call.arguments)
        if any(keyword in ("*", "**") for keyword, _ in args):
            continue
        positional = sum(1 for keyword, _ in args if keyword == "")
        given = {*names[:positional], *(keyword for keyword, _ in args if keyword)}
        missing = [name for name in required if name not in given]
        unknown = [keyword for keyword, _ in args if keyword and keyword not in names]
        if missing or unknown or positional > len(names):
            problem = (
                f"lacks {', '.join(missing)}" if missing else f"passes {', '.join(unknown) or positional}"
            )
            yield {
                "kind": "wrong-arguments",
                "what": f"{function.qualname} calls {hook.name} with {len(args)} arguments: {problem}",
                "at": [
                    f"{function.module.path}:{call.line}",
                    f"{function.module.path}:{function.scope.line}",
                    f"{hook.module.path}:{hook.scope.line}",
                    *_guard_places(function.module, call.guard),
                ],
            }


def _calls_named(context: Context, name: str) -> Iterator[tuple[Function, Call]]:
    for function, call in context.tree.method_calls.get(name, ()):
        if not context.outside(function.module.path):
            yield function, call


def _guard_places(module: Module, guard: int) -> Iterator[str]:
    while guard >= 0:
        entry = module.facts.guards[guard]
        yield f"{module.path}:{entry.line}"
        guard = entry.parent


_HASATTR = re.compile(r"""hasattr\([^,]+,\s*["'](\w+)["']""")


def skipped_silently(context: Context, commit: Branch) -> Iterator[Finding]:
    """Yield ``hasattr`` guards that make a class without the hook a silent no-op."""
    hook = commit.node.function
    owner = hook.cls
    lacking: list[str] = []
    for base in owner.bases if owner is not None else ():
        lacking.extend(c.qualname for c in base.descendants if not c.find(hook.name) and not c.subclasses)
    for function, call in _calls_named(context, hook.name):
        guard = call.guard
        while guard >= 0:
            entry = function.module.facts.guards[guard]
            match = _HASATTR.search(entry.text)
            if match and match.group(1) == hook.name and entry.holds:
                yield {
                    "kind": "skipped-silently",
                    "what": f"{function.qualname} skips {hook.name} without a word when the backend lacks it",
                    "at": [f"{function.module.path}:{entry.line}", f"{function.module.path}:{call.line}"],
                    "lacking": sorted(set(lacking)),
                }
            guard = entry.parent


# -- the notions of "hybrid" -----------------------------------------------------------------------


def hybrid_predicates(tree: Tree) -> dict[str, str]:
    """Return the predicates that the union of them joins, each with its place."""
    names: dict[str, str] = {}
    for function in tree.symbols.functions_by_name.get("mambaish_config", ()):
        for entry in function.scope.returns:
            for name in re.findall(r"[a-z]\w*_config\b", entry.value):
                for predicate in tree.symbols.functions_by_name.get(name, ()):
                    names.setdefault(name, f"{predicate.module.path}:{predicate.scope.line}")
    return {
        name: at for name, at in names.items() if name not in ("model_config", "hf_config", "mambaish_config")
    }


def omitted_predicates(context: Context, hook: Function) -> Iterator[Finding]:
    """Yield guards on the way to the commit that test some hybrid predicates but not all of them."""
    union = hybrid_predicates(context.tree)
    callers = {hook.name}
    for _ in range(2):  # the hook's callers, and theirs: where the decision to commit is taken
        functions = [f for name in sorted(callers) for f, _ in _calls_named(context, name)]
        callers |= {f.name for f in functions if f.cls is None or "mamba" in f.name}
    seen: set[str] = set()
    for name in sorted(callers):
        for function, call in _calls_named(context, name):
            guard = call.guard
            while guard >= 0:
                entry = function.module.facts.guards[guard]
                tested = {p for p in union if re.search(rf"\b{p}\b", entry.text)}
                at = f"{function.module.path}:{entry.line}"
                if tested and tested != set(union) and entry.holds and at not in seen:
                    seen.add(at)
                    omitted = sorted(set(union) - tested)
                    yield {
                        "kind": "predicate-omitted",
                        "what": f"{function.qualname} commits for {', '.join(sorted(tested))} but not for "
                        f"{', '.join(omitted)}",
                        "at": [at, *(union[p] for p in omitted)],
                    }
                guard = entry.parent


def disagreeing_lists(tree: Tree) -> Iterator[Finding]:
    """Yield hand-kept architecture lists about mamba that lack what a sibling list or group has."""
    lists = list(_architecture_lists(tree))
    known = set(tree.symbols.classes_by_name)
    for name, module, line, members in lists:
        for group_at, group in _draft_groups(tree):
            absent = sorted(a for a in (group - members) & known if is_linear(tree, a))
            if absent and len(group & members) >= 2:
                yield {
                    "kind": "two-notions",
                    "what": f"{', '.join(absent)} share a draft mapping with members of {name}, not in it",
                    "at": [f"{module.path}:{line}", group_at],
                }
        for other, other_module, other_line, other_members in lists:
            absent = sorted((other_members - members) & known)
            if other != name and absent and len(other_members & members) * 2 > len(members):
                yield {
                    "kind": "two-notions",
                    "what": f"{', '.join(absent)} are in {other} but not in {name}",
                    "at": [f"{module.path}:{line}", f"{other_module.path}:{other_line}"],
                }


def is_linear(tree: Tree, architecture: str) -> bool:
    """Whether the architecture's module, or a model it builds on, uses linear attention or mamba layers."""
    pending = [cls.module for cls in tree.symbols.classes_by_name.get(architecture, ())]
    for _ in range(3):
        following: list[Module] = []
        for module in pending:
            for entry in module.facts.scopes[0].imports:
                if entry.local == "RadixLinearAttention" or "Mamba" in entry.local:
                    return True
                source = tree.symbols.modules.get(absolute_name(module, entry.module))
                if source is not None and ".models." in source.name:
                    following.append(source)
        pending = following
    return False


def _architecture_lists(tree: Tree) -> Iterator[tuple[str, Module, int, set[str]]]:
    for module in tree.symbols.modules.values():
        for store in module.facts.scopes[0].stores:
            if store.target.isupper() and "MAMBA" in store.target and "ARCH" in store.target:
                members = _strings(parse(store.value))
                if members:
                    yield store.target, module, store.line, members


def _draft_groups(tree: Tree) -> Iterator[tuple[str, set[str]]]:
    """Yield the architectures that one condition of the draft mapping treats alike."""
    for function in tree.symbols.functions_by_name.get("_config_draft_model", ()):
        first, last = function.scope.line, function.scope.end_line
        for guard in function.module.facts.guards:
            if first <= guard.line <= last and guard.holds and "architectures" in guard.text:
                group = _strings(parse(guard.text))
                if len(group) > 1:
                    yield f"{function.module.path}:{guard.line}", group


def _strings(expr: Expr) -> set[str]:
    if expr[0] == "str":
        return {expr[1]}
    found: set[str] = set()
    for item in expr[1:]:
        if isinstance(item, tuple):
            found |= _strings(item) if item and isinstance(item[0], str) else _all_strings(item)
    return found


def _all_strings(items: tuple) -> set[str]:
    found: set[str] = set()
    for item in items:
        if isinstance(item, tuple) and item:
            found |= _strings(item) if isinstance(item[0], str) and item[0] else _all_strings(item)
    return found
