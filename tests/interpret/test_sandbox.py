"""A hostile tree can do nothing: no file, no process, no host object, no end of memory or time."""

from __future__ import annotations

import dataclasses

import pytest

from indexer.interpret import records
from indexer.interpret.external import External
from indexer.interpret.host import HostModule
from indexer.interpret.signals import (
    BudgetExceeded,
    Signal,
    UnknownEscaped,
    Unsupported,
    begin_path,
    swallowed,
)
from indexer.interpret.unknown import Unknown
from tests.interpret.running import program_of, run

ESCAPES = [
    "globals()['_rt_state']",
    "globals().get('_rt_state').program",
    "globals()['__class__'].__init__",
    "globals()['@call']",
    "globals()['__builtins__']",
    "type(globals())(lambda: 0)['__globals__']",
    "type(globals())(type(globals()).get).get('__globals__')['__builtins__']",
    "__import__('numbers').Number.register(type('Own', (), {}))",
    "type(__import__('numbers').Number).register(__import__('numbers').Number, type('Own', (), {}))",
    "sorted([type('Own', (), {})], key=__import__('collections.abc').abc.Mapping.register)",
    "list(map(getattr(__import__('numbers').Number, 'register'), [type('Own', (), {})]))",
    "list(map(type(__import__('numbers').Number).register, [1], [2]))",
    "__import__('operator').attrgetter('register')(__import__('numbers').Number)",
    "__import__('typing').Mapping.register",
    "__import__('collections.abc').abc.Mapping[int, str].register",
    "list(map(__import__('typing').Mapping.__getattr__, ['register']))",
    "list(map(type(__import__('typing').Mapping).__getattr__, [__import__('typing').Mapping], ['register']))",
    "type.__getattribute__(__import__('numbers').Number, 'register')",
    "super(type(__import__('numbers').Number), __import__('numbers').Number).register",
    "().__class__.__bases__[0].__subclasses__()",
    "(lambda: 0).__globals__",
    "(lambda: 0).__code__",
    "getattr(lambda: 0, '__glo' + 'bals__')",
    "(lambda: 0).__getattribute__('__globals__')",
    "object.__getattribute__(lambda: 0, '__globals__')",
    "type.__dict__['__subclasses__'](object)",
    "vars(type)['__subclasses__'](object)",
    "len.__self__",
    "print.__self__",
    "__import__('builtins').open",
    "eval('1')",
    "exec('1')",
    "compile('1', 'x', 'eval')",
    "__builtins__['open']",
    "(i for i in ()).gi_frame",
    "__import__('operator').attrgetter('__globals__')(lambda: 0)",
    "__import__('types').FunctionType(None, {})",
    "type(lambda: 0)((lambda: 0).__code__, {})",
    "__import__('functools').partial(getattr, (lambda: 0))('__globals__')",
    "list(map(lambda n: getattr(lambda: 0, n), ['__globals__']))",
    "[].append.__self__.__class__.__subclasses__()",
    "__import__('sys').modules['os']",
    "__import__('inspect').getmodule(len)",
    "result._rt_world",
    "__import__('os').environ._rt_world",
    "globals()['sys'].modules['os']",
    "locals()['self']",
    "__import__('os').listdir.__self__._roots",
    "__import__('os').path.exists.__wrapped__.__self__",
    "vars(__import__('os').path.exists)['__wrapped__']",
    "__import__('logging').getLogger('x').__dict__['_rt_world']",
    "__import__('logging').getLogger('x').__reduce_ex__(2)",
    "__import__('json').__getstate__()",
    "type('Own', (), {}).__reduce_ex__(__import__('logging').getLogger('x'), 2)",
    "__import__('weakref').proxy(type).__dict__['__subclasses__']",
    "(lambda get: get(lambda: 0, '__globals__'))(object.__getattribute__)",
    "list(map(getattr(object, '__getattribute__'), [lambda: 0], ['__globals__']))",
    "object.__setattr__(__import__('os'), '_rt_name', 'json')",
    "'{0.__globals__}'.format(lambda: 0)",
    "list(map('{0.__globals__}'.format, [lambda: 0]))",
    "str.format('{0:{1.__class__}}', 1, 2)",
    "__import__('typing').Optional['1'].__args__[0]._evaluate({}, {}, frozenset())",
    "__import__('dataclasses')._create_fn('f', [], ['return 1'])()",
    "__import__('contextlib')._RedirectStream",
    "__import__('enum').Enum._convert_('X', 'os', lambda name: name == 'getpid')",
    "__import__('argparse').ArgumentParser.__bases__",
    "type.mro(__import__('argparse').ArgumentParser)",
]

LONGER_ESCAPES = {
    "a text that answers twice": """
class Name(str):
    asked = 0
    def __hash__(self):
        self.asked += 1
        return 1 if self.asked < 2 else str.__hash__(self)
    def startswith(self, *prefix):
        return False
def result():
    return getattr(lambda: 0, Name("__globals__"))
""",
    "a module name that equals all others": """
import importlib
class Name(str):
    def __hash__(self):
        return hash("json")
    def __eq__(self, other):
        return True
def result():
    return importlib.import_module(Name("os")).getpid()
""",
    "attributes of a pattern": """
class Any(type):
    def __instancecheck__(cls, value):
        return True
class Of(metaclass=Any):
    __match_args__ = ("__globals__",)
def result():
    match lambda: 0:
        case Of(found):
            return found
""",
    "attributes that update_wrapper copies": """
import functools
class Holder: pass
def result():
    return functools.update_wrapper(Holder(), lambda: 0, ("__globals__",), ())
""",
    "annotations as text": """
import inspect
def f(x): pass
def result():
    f.__annotations__ = {"x": "().__class__.__base__.__subclasses__()"}
    return inspect.signature(f, eval_str=True)
""",
    "names of the runtime": """
import sys
def result():
    setattr(sys.modules["sglang.main"], "@forbidden", lambda value, name: value)
    return (lambda: 0).__globals__
""",
    "an operand that is handed the attribute": """
import logging
class Taker:
    def __radd__(self, other):
        return other
def result():
    logger = logging.getLogger("x")
    logger.__dict__ += Taker()
    return logger
""",
    "a metaclass that inherits register": """
import abc, numbers
class Meta(abc.ABCMeta):
    pass
def result():
    return list(map(Meta.register, [numbers.Number], [int]))
""",
    "register as the attribute of a pattern": """
import numbers
class Any(type):
    def __instancecheck__(cls, value):
        return True
class Of(metaclass=Any):
    __match_args__ = ("register",)
def result():
    match numbers.Number:
        case Of(found):
            return found
""",
    "a parser that reads files": """
import argparse
def result():
    parser = argparse.ArgumentParser()
    parser.fromfile_prefix_chars = "%"
    parser.add_argument("x", nargs="*")
    return parser.parse_args(["%/etc/hostname"]).x
""",
}


def test_a_copy_leaves_nothing_of_the_host_in_its_memo():
    source = """
import copy, json, os, sys
def result():
    memo = {}
    copy.deepcopy([json, os.listdir, sys.modules, sys.modules["sglang.main"]], memo)
    return [type(one).__name__ for held in memo.values() for one in (held if type(held) is list else [held])]
"""
    found = run(source)
    assert not {"World", "Program", "FileSystem", "ModuleState"} & set(found), found


@pytest.mark.parametrize("source", LONGER_ESCAPES.values(), ids=LONGER_ESCAPES)
def test_no_longer_way_out_of_the_sandbox(source):
    assert isinstance(run(source), (Unsupported, Unknown))


def test_own_objects_keep_their_attributes():
    source = """
import functools
def plain(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper
class A:
    def __setattr__(self, name, value):
        super().__setattr__(name, value + 1)
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
    @plain
    def method(self):
        return self.x
def result():
    a = A()
    object.__setattr__(a, "y", 5)
    a.x = 1
    names = A.method.__name__, A.method.__wrapped__.__name__, a.method.__self__ is a
    return a.method(), a.__dict__, names, "{0.x:{1}} {2[0]}".format(a, 3, [4])
"""
    assert run(source) == (2, {"y": 5, "x": 2}, ("method", "method", True), "  2 4")


def test_own_classes_keep_register_and_the_decorators():
    source = """
import abc, functools, typing
class Base(abc.ABC):
    pass
class Registry:
    def __init__(self):
        self.known = []
    def register(self, name):
        self.known.append(name)
    def __getattr__(self, name):
        return name + "?"
class Sub(Registry):
    def __getattr__(self, name):
        return super().__getattr__(name) + "!"
@typing.final
@functools.total_ordering
class Own:
    def __lt__(self, other):
        return True
def result():
    Base.register(Own)
    registry = Sub()
    list(map(registry.register, ["a"]))
    return isinstance(Own(), Base), registry.known, registry.missing, Own() >= Own()
"""
    assert run(source) == (True, ["a"], "missing?!", False)


@pytest.mark.parametrize("expression", ESCAPES)
def test_no_way_out_of_the_sandbox(expression):
    found = run(f"def result():\n    return {expression}\n")
    harmless = isinstance(found, (Signal, Unknown, KeyError, AttributeError, TypeError)) or (
        type(found) in (External, HostModule)
    )
    assert harmless, repr(found)


@pytest.mark.parametrize(
    "statement",
    [
        "import os; os.system('touch {file}')",
        "import subprocess; subprocess.run(['touch', '{file}'])",
        "import subprocess; subprocess.Popen(['touch', '{file}'])",
        "open('{file}', 'w').write('x')",
        "from pathlib import Path; Path('{file}').write_text('x')",
        "from pathlib import Path; Path('{file}').open('w').write('x')",
        "import shutil; shutil.copy('/etc/passwd', '{file}')",
        "import ctypes; ctypes.CDLL(None).creat(b'{file}', 511)",
        "import argparse; argparse.FileType('w')('{file}')",
        "import importlib; importlib.import_module('os').mkdir('{file}')",
        "import logging; logging.FileHandler('{file}').close()",
        "import tempfile; tempfile.NamedTemporaryFile(dir='{file}')",
        "import contextlib; contextlib.chdir('/').__enter__()",
    ],
)
def test_nothing_is_written(statement, tmp_path):
    file = tmp_path / "made"
    run(f"def result():\n    {statement.format(file=file)}\n")
    assert not file.exists()


def test_files_outside_the_launch_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    for reading in (
        f"open({str(secret)!r}).read()",
        f"__import__('pathlib').Path({str(secret)!r}).read_text()",
    ):
        assert isinstance(run(f"def result():\n    return {reading}\n"), Unsupported)


def test_a_dataclass_field_is_not_source_code():
    source = """
import dataclasses
class A:
    pass
A.__annotations__ = {"x=__import__('os').getpid()": int}
def result():
    return dataclasses.dataclass(A)
"""
    assert isinstance(run(source), Unsupported)
    assert dataclasses.is_dataclass(int) is False


@pytest.mark.parametrize(
    "statement",
    [
        "while True: pass",
        "for i in __import__('itertools').count(): pass",
        "f = lambda: f(); f()",
        "sum(__import__('itertools').repeat(1))",
        "all(__import__('itertools').cycle([1]))",
        "sum(iter(lambda: 1, 0))",
        "class Endless:\n        def __getitem__(self, index): return 1\n    sum(Endless())",
    ],
)
def test_endless_programs_end(statement, monkeypatch):
    monkeypatch.setattr("indexer.interpret.calls.DEFAULT_BUDGET", 20_000)
    program = program_of({"sglang/__init__.py": "", "sglang/main.py": f"def result():\n    {statement}\n"})
    with pytest.raises((BudgetExceeded, RecursionError)):
        program.import_module("sglang.main").result()


@pytest.mark.parametrize(
    "expression", ["10 ** 10 ** 8", "[0] * 10 ** 10", "'a' * 10 ** 10", "1 << 10 ** 9", "range(10 ** 12)"]
)
def test_memory_is_bounded(expression):
    assert isinstance(run(f"def result():\n    return {expression}\n"), Unsupported)


@pytest.mark.parametrize("handler", ["except Exception:", "except BaseException:", "except:"])
def test_signals_pass_through_handlers(handler):
    source = f"def result():\n    try:\n        eval('1')\n    {handler}\n        return 'caught'\n"
    assert isinstance(run(source), Unsupported)


def test_an_unknown_does_not_vanish_in_native_code():
    source = """
import random
def result():
    n = random.random()
    return [len("a" * 3), max(1, 2), str(n), int(n), "x".join([str(n)]), {1: n}, [n], f"{n}"]
"""
    found = run(source)
    assert [type(one) is Unknown for one in found] == [False, False, True, True, True, False, False, True]


def test_iterating_an_unknown_ends_the_path():
    source = "import random\ndef result():\n    return [x for x in random.random()]\n"
    assert isinstance(run(source), UnknownEscaped)


@pytest.mark.parametrize(
    "block",
    [
        "with __import__('contextlib').suppress(BaseException):\n        eval('1')",
        "try:\n        eval('1')\n    finally:\n        return 'went on'",
    ],
)
def test_a_signal_that_is_swallowed_is_remembered(block):
    begin_path()
    assert not isinstance(run(f"def result():\n    {block}\n    return 'went on'\n"), Unsupported)
    assert swallowed() is not None


def test_making_a_dataclass_opens_nothing():
    program = program_of({"sglang/__init__.py": "", "sglang/main.py": "import dataclasses\n"})
    with records._compiling_once(program.code):
        assert type(program.import_module("sglang.main").dataclasses.exec) is External
    assert "exec" not in vars(dataclasses)


def test_a_class_that_keeps_things_of_ours_shows_none_of_them():
    source = """
import logging
class Mine(logging.Logger):
    def __init__(self):
        super().__init__(logging.getLogger("x"), "name")
def result():
    return Mine().__dict__
"""
    assert isinstance(run(source), BaseException)
