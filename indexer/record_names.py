"""How SGLang's code spells its record of arguments: what stands before a field's name."""

from __future__ import annotations

RECORD_NAMES = frozenset({"args", "cfg", "resolved", "server_args", "view"})
"""Parameters and local names that hold the record or a view of it."""
VIEW_FUNCTIONS = ("resolved_view", "resolving_view")
"""Functions that return a view of the record."""
VIEW_METHODS = ("_resolved",)
"""Methods of the record that return a view of it."""
