"""Where interpreted code writes the entries of dictionaries: what passes and providers decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Made:
    """Entries of a dictionary with literal keys, and the line of each in the function that writes them.

    ``returned`` tells that the function gives them to its caller there and then.
    """

    path: str
    function: str
    lines: dict[str, int]
    entries: dict[str, Any]
    returned: bool = False

    def writes(self, name: str, value: Any) -> bool:
        """Tell whether this very value stands under a name, and was written here."""
        return name in self.lines and self.entries.get(name) is value
