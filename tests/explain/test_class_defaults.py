"""An architecture without a config.json has the defaults that its class takes and drops."""

from __future__ import annotations

import json

import pytest

from indexer.explain.architectures import configuration_for
from indexer.explain.class_defaults import taken_defaults, with_defaults
from indexer.explain.start.why import why
from indexer.interpret.transformers_tree import ConfigurationTree
from tests.trees import MemoryTree

CLASSES = """
class RiverTextConfig(Base):
    model_type = "river_text"

    def __post_init__(self, **kwargs):
        every = kwargs.pop("dam_interval", 4)
        other = kwargs.pop("unread", 7)
        none = kwargs.get("nothing", None)


class RiverConfig(Base):
    model_type: str = "river"

    def __init__(self, **kwargs):
        self.bank = kwargs.get("bank_width", 2)
"""
OWN = """
class River:
    def kinds(self):
        return self.dam_interval + self.bank_width + self.nothing
"""
SETS = "class ModelConfig:\n    def __init__(self):\n        self.dam_interval = 1\n"


def _tree(own: str) -> MemoryTree:
    return MemoryTree({"python/sglang/srt/configs/river.py": own, "python/sglang/srt/configs/model.py": SETS})


def test_keys_that_are_taken_and_read_have_their_default() -> None:
    transformers = ConfigurationTree(
        MemoryTree({"transformers/models/river/configuration_river.py": CLASSES})
    )
    found = [*taken_defaults("river", _tree(OWN), transformers)]
    assert [(one.key, one.value, one.line, one.text) for one in found] == [
        ("dam_interval", 4, 6, True),
        ("bank_width", 2, 15, False),
    ]
    assert with_defaults({"a": 1}, found) == {"a": 1, "bank_width": 2, "text_config": {"dam_interval": 4}}
    assert [*taken_defaults("river", _tree(OWN + "        self.dam_interval = 3\n"), transformers)] == found[
        1:
    ]
    assert [*taken_defaults("lake", _tree(OWN), transformers)] == []


def test_what_a_configuration_lacks_is_told_in_words() -> None:
    told = why(AttributeError("'RiverConfig' object has no attribute 'dam_interval'"))
    assert "a config.json with dam_interval decides (--model DIR gives its folder)" in told
    assert why(AttributeError("'Other' object has no attribute 'x'")).startswith("AttributeError: ")


@pytest.mark.release
@pytest.mark.parametrize("version", ["0.5.9", "0.5.17", "0.5.23"])
def test_a_hybrid_of_a_release_knows_its_interval(release_tree, version: str) -> None:
    from indexer.explain.launches import Question, prepare

    tree = release_tree(version)
    prepared = prepare(tree, Question([], arch="Qwen3NextForCausalLM", gpu="H200"))
    text, spelled = configuration_for("Qwen3NextForCausalLM", tree, prepared.transformers)
    assert json.loads(text)["full_attention_interval"] == 4
    assert [one.key for one in spelled] == ["full_attention_interval"]
    assert any("full_attention_interval is 4" in one for one in prepared.assumed)
