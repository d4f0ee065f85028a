"""Shell assignments: variables and arrays, and what they set for SGLang's environment."""

from __future__ import annotations

import re

from tree_sitter import Node

from indexer.drift.launch.expansion import Expander, Variable
from indexer.drift.launch.fields import Fields, empty, join
from indexer.drift.launch.model import DYNAMIC, FileLaunches, Setting, Word

_SETTING = re.compile(r"^(?:--env=|-e)?((?:SGLANG|SGL)_[A-Z0-9_]+)=(.*)$", re.DOTALL)
_SETTING_NAME = re.compile(r"(SGLANG|SGL)_[A-Z0-9_]+$")


class Assignments(Expander):
    """Keeps the variables of a scope, and notes settings in ``found``."""

    def __init__(self) -> None:
        super().__init__()
        self.found = FileLaunches()
        self._seen_settings: set[tuple[str, int]] = set()

    def assignments(self, node: Node) -> None:
        for child in [node] if node.type == "variable_assignment" else node.named_children:
            self.setting_of(child)
            self.assign(child)

    def declaration(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "variable_assignment":
                self.setting_of(child)
                self.assign(child)

    def assign(self, node: Node) -> None:
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name_node is None:
            return
        name = self.source(name_node)
        if name_node.type == "subscript":
            self.scope.variables.pop(name.split("[")[0], None)
            return
        appends = any(child.type == "+=" for child in node.children)
        if value is None:
            fields: Fields = [empty(self.text, node.end_byte)]
        elif value.type == "array":
            fields = [piece for child in value.named_children for piece in self.expand(child)]
        else:
            fields = [join(self.expand(value, quoted=True), "")]
        array = value is not None and value.type == "array"
        old = self.scope.variables.get(name)
        if not appends or old is None:
            new = [fields]
        elif array or old.array:
            new = [alternative + fields for alternative in old.alternatives]
        else:
            new = [[join([*alternative, *fields], "")] for alternative in old.alternatives]
        self.scope.variables[name] = Variable(new, array or (appends and old is not None and old.array))

    def setting_of(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and _SETTING_NAME.match(self.source(name)):
            text = join(self.expand(value, quoted=True), "").text if value is not None else ""
            start = self.text.at(name.start_byte)
            self.add_setting(self.source(name), text, start, start + len(self.source(name)))

    def note_setting(self, word: Word) -> None:
        match = _SETTING.match(word.text)
        if match:
            start = word.start + match.start(1)
            self.add_setting(match[1], match[2], start, start + len(match[1]))

    def add_setting(self, name: str, value: str, start: int, end: int) -> None:
        if (name, start) not in self._seen_settings:
            self._seen_settings.add((name, start))
            self.found.settings.append(Setting(name, None if DYNAMIC in value else value, start, end))
