"""A hostile tree changes no class, function or enum of the host program."""

from __future__ import annotations

import argparse
import decimal
import http
import json
import numbers
from collections.abc import Mapping

import pytest

from indexer.interpret.launch import Launch
from indexer.interpret.signals import Signal
from tests.interpret.running import run


@pytest.mark.parametrize(
    "store",
    [
        "import argparse; argparse.ArgumentParser.parse_args = None",
        "import argparse; argparse.Action.__call__ = None",
        "import enum; enum.Enum.__str__ = None",
        "setattr(__import__('argparse').Namespace, 'x', 1)",
        "import json; json.JSONDecoder.decode = None",
        "dict.update = None",
        "import argparse; type.__setattr__(argparse.Namespace, 'x', 1)",
        "import argparse; list(map(type.__setattr__, [argparse.Namespace], ['x'], [1]))",
        "import argparse, dataclasses; dataclasses.dataclass(argparse.Namespace)",
        "import http; http.HTTPStatus.OK.phrase = 'x'",
        "import argparse, functools; functools.total_ordering(argparse.Namespace)",
        "import argparse, functools; list(map(functools.total_ordering, [argparse.Namespace]))",
        "import argparse, typing; list(map(typing.final, [argparse.Namespace]))",
        "import argparse, typing; list(map(typing.no_type_check, [argparse.Namespace]))",
        "import argparse, typing; list(map(typing.dataclass_transform(), [argparse.Namespace]))",
        "import abc, numbers; list(map(abc.update_abstractmethods, [numbers.Number]))",
        "import abc, argparse; list(map(abc.abstractmethod, [argparse.Namespace]))",
        "import abc, argparse; abc.abstractclassmethod(argparse.Namespace)",
        "from huggingface_hub.dataclasses import strict; import argparse; strict(argparse.Namespace)",
        "import numbers; numbers.Number._abc_registry_clear()",
        "import typing; typing.Mapping.get = None",
        "import typing; typing.Mapping[str, int].get = None",
        "import typing; typing.Mapping.__setattr__('get', None)",
        "import typing; list(map(typing.Mapping.__setattr__, ['get'], [None]))",
        "import typing; list(map(type(typing.Mapping).__setattr__, [typing.Mapping], ['get'], [None]))",
    ],
)
def test_host_classes_are_not_changed(store):
    classes = (argparse.ArgumentParser, argparse.Namespace, Mapping)
    before = [dict(vars(one)) for one in classes]
    found = run(f"def result():\n    {store}\n", Launch(packages={"huggingface_hub": "1.5.0"}))
    assert isinstance(found, (Signal, TypeError))
    assert [dict(vars(one)) for one in classes] == before
    assert isinstance(decimal.Decimal(1), numbers.Number)


def test_a_strict_class_makes_nothing_of_a_host_class():
    source = """
import argparse
from dataclasses import dataclass
from huggingface_hub.dataclasses import strict
@strict(accept_kwargs=True)
@dataclass
class Own:
    x: int = 1
def result():
    list(map(Own.__init__, [argparse.Namespace]))
"""
    found = run(source, Launch(packages={"huggingface_hub": "1.5.0"}))
    assert isinstance(found, Signal)
    assert not hasattr(argparse.Namespace, "x")


def test_what_host_classes_and_functions_go_by_is_copied():
    source = """
import enum, http, json
class Own(enum.Enum):
    A = 1
def own(*, x: int = 1):
    return x
def result():
    json.dumps.__kwdefaults__["indent"] = 4
    getattr(http.HTTPStatus, "_member_map_").clear()
    http.HTTPStatus._value2member_map_.clear()
    http.HTTPStatus._member_names_.clear()
    own.__kwdefaults__["x"] = 2
    return Own._member_map_["A"], list(Own._value2member_map_), own()
"""
    found = run(source)
    assert (str(found[0]), found[1:]) == ("Own.A", ([1], 2))
    assert json.dumps.__kwdefaults__["indent"] is None
    assert next(iter(http.HTTPStatus)) is http.HTTPStatus(100) is http.HTTPStatus["CONTINUE"]
