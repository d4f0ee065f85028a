"""A strict configuration class checks itself, as ``huggingface_hub`` makes it."""

from __future__ import annotations

import pytest

from indexer.interpret.launch import Launch
from indexer.interpret.signals import Unsupported
from tests.interpret.running import run

CLASSES = """
from dataclasses import dataclass
from huggingface_hub.dataclasses import strict

said = []

@strict(accept_kwargs=True)
@dataclass
class Base:
    layers: int = 4
    def __post_init__(self, **rest):
        for name, value in rest.items():
            setattr(self, name, value)
    def validate_zebra(self):
        said.append("zebra")
    def validate_count(self):
        said.append("count")
        if self.layers % 2:
            raise ValueError(f"{{self.layers}} layers")

@strict
@dataclass
class Own(Base):
    kinds: list[str] | None = None
    share: float | int = 0.5
    def validate_own(self):
        said.append("own")

def result():
    {body}
"""
INSTALLED = Launch(packages={"huggingface_hub": "1.5.0"}, packages_complete=True)


def _run(body: str):
    return run(CLASSES.format(body=body), INSTALLED)


def test_checks_run_once_in_the_order_of_their_names() -> None:
    assert _run("return Own(kinds=['a']).kinds, said") == (["a"], ["count", "own", "zebra"])
    assert _run("return Base(extra=1).extra, said") == (1, ["count", "zebra"])


def test_a_check_that_fails_refuses_the_class() -> None:
    refused = _run("return Base(layers=3)")
    assert type(refused).__name__ == "StrictDataclassClassValidationError"
    assert str(refused) == "Class validation error for validator 'validate_count':\n    ValueError: 3 layers"


def test_a_value_of_another_plain_type_refuses_the_class() -> None:
    refused = _run("return Own(layers='4')")
    assert type(refused).__name__ == "StrictDataclassFieldValidationError"
    assert str(refused) == (
        "Validation error for field 'layers':\n"
        "    TypeError: Field 'layers' expected int, got str (value: '4')"
    )


@pytest.mark.parametrize("given", ["kinds=[1]", "kinds='a'", "share='x'", "layers=True"])
def test_a_value_of_another_type_leaves_the_outcome_open(given: str) -> None:
    refused = _run(f"return Own({given})")
    assert isinstance(refused, Unsupported)
    assert f"config.json: {given.partition('=')[0]} is" in refused.reason


@pytest.mark.parametrize("given", ["layers=8", "kinds=None", "kinds=[]", "share=1", "share=1.5"])
def test_a_value_that_fits_is_taken(given: str) -> None:
    assert _run(f"return Own({given}) is not None") is True
