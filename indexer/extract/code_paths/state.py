"""What a function does to the recurrent state: reads and writes by the names of the pools' tensors.

A name is followed through its own statements only; what a kernel does to an argument is known from the
argument's name alone.
"""

from __future__ import annotations

import re

from indexer.extract.code_paths.matching import IN_PLACE, glob, last_part, stored_names
from indexer.extract.code_paths.plan import Plan
from indexer.knowledge.schema import Value
from indexer.syntax.callgraph.symbols import Function


def effects(function: Function, plan: Plan) -> list[dict[str, Value]]:
    """Return ``{"state", "name", "access", "line"}`` records, one per kind of state, access and name."""
    found: dict[tuple[str, str, str], int] = {}
    for scope in function.with_nested():
        for store in scope.scope.stores:
            for name in stored_names(store.target):
                _note(found, plan, name, "write", store.line)
        for call in scope.scope.calls:
            last = last_part(call.callee)
            for name in re.findall(r"[A-Za-z_]\w*", call.arguments):
                if "scatter" in last or "update" in last or "copy" in last:
                    _note(found, plan, name, "passed to " + last, call.line)
            if last in IN_PLACE:
                for name in re.findall(r"[A-Za-z_]\w*", call.callee.rsplit(".", 1)[0]):
                    _note(found, plan, name, "write", call.line)
        for line, text, _ in scope.reads:
            for name in text.split(".")[1:]:
                _note(found, plan, name, "read", line)
    records = [
        {"state": state, "name": name, "access": access, "line": line}
        for (state, access, name), line in found.items()
        if not (access == "read" and (state, "write", name) in found)
    ]
    return sorted(records, key=lambda r: (r["line"], r["state"], r["name"], r["access"]))


def _note(found: dict[tuple[str, str, str], int], plan: Plan, name: str, access: str, line: int) -> None:
    for state, patterns in plan.state.items():
        if any(glob(name, pattern) for pattern in patterns):
            key = (state, access, name)
            found[key] = min(found.get(key, line), line)
