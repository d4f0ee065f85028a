"""The keys of a ``--config`` file, as options of a launch."""

from __future__ import annotations

from typing import NamedTuple

import yaml

from indexer.drift.launch import yaml_nodes
from indexer.drift.launch.located import Located
from indexer.drift.launch.model import DYNAMIC, Word


class ConfigKey(NamedTuple):
    """A key of a ``--config`` file as an option, and its values; ``truth``: where that is true or false."""

    word: Word
    values: list[Word]
    truth: bool | None
    is_list: bool


def config_keys(text: Located) -> list[ConfigKey]:
    """Return the keys of a YAML document that is a mapping.

    Raises:
        yaml.YAMLError: it is no YAML.
    """
    node = yaml.compose(text.text, Loader=yaml.CSafeLoader)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [_config_key(text, key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode)]


def _config_key(text: Located, key: yaml.ScalarNode, value: yaml.Node) -> ConfigKey:
    """Return a key with what it is given, written as Python shows it."""
    start = yaml_nodes.start(text, key)
    word = Word("--" + key.value, start, start + len(key.value))
    if isinstance(value, yaml.ScalarNode):
        truth = yaml_nodes.truth(value)
        if truth is not None:
            return ConfigKey(word, [Word(str(truth).lower(), start, start)], truth, False)
        given = Word("None", start, start) if yaml_nodes.is_null(value) else _literal(text, value)
        return ConfigKey(word, [given], None, False)
    if isinstance(value, yaml.SequenceNode) and all(isinstance(one, yaml.ScalarNode) for one in value.value):
        return ConfigKey(word, [_literal(text, one) for one in value.value], None, True)
    return ConfigKey(word, [Word(DYNAMIC, start, start)], None, False)


def _literal(text: Located, node: yaml.ScalarNode) -> Word:
    located = yaml_nodes.located(text, node)
    return Word(located.text, located.at(0), located.literal_end())
