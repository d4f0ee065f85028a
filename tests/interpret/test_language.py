"""The interpreter agrees with CPython: value, exception class and line."""

from __future__ import annotations

import pytest

from tests.interpret.running import line_of, native, run

PROGRAMS = {
    "class scope is not seen by methods": """
class A:
    x = 1
    def f(self):
        return x
x = 2
def result():
    return A().f()
""",
    "comprehension in a class body": """
NAMES = ["a", "b"]
class A:
    upper = [name.upper() for name in NAMES]
def result():
    return A.upper
""",
    "descriptor with set_name": """
class Field:
    def __set_name__(self, owner, name):
        self.name = name
    def __get__(self, obj, owner):
        return self.name
class A:
    one = Field()
def result():
    return A.one
""",
    "enum": """
from enum import Enum, auto
class Kind(Enum):
    A = auto()
    B = auto()
    def is_a(self):
        return self == Kind.A
def result():
    return [kind.name for kind in Kind], Kind.A.is_a(), Kind["B"].value
""",
    "dataclass with postponed annotations": """
from __future__ import annotations
import dataclasses
from typing import ClassVar, Optional
@dataclasses.dataclass
class A:
    count: ClassVar[int] = 3
    x: Optional[int] = None
    y: list = dataclasses.field(default_factory=list)
    def __post_init__(self):
        self.x = self.x or 5
def result():
    return A().x, A(7).x, [f.name for f in dataclasses.fields(A)], A.count
""",
    "return in finally": """
def f():
    try:
        raise ValueError("lost")
    finally:
        return 3
def result():
    return f()
""",
    "except as unbinds": """
def result():
    e = 1
    try:
        raise KeyError("k")
    except KeyError as e:
        pass
    return e
""",
    "generator and unpacking": """
def pairs():
    for i in range(3):
        yield i, i * i
def result():
    first, *rest = pairs()
    return first, dict(rest), sum(i for i, _ in pairs())
""",
    "zero-argument super": """
class A:
    def f(self, x):
        return [x]
class B(A):
    def f(self, x):
        return super().f(x) + ["b"]
def result():
    return B().f(1)
""",
    "decorators and caches": """
import functools
calls = []
def twice(f):
    @functools.wraps(f)
    def g(*a):
        return f(*a) * 2
    return g
@functools.lru_cache(maxsize=None)
def slow(n):
    calls.append(n)
    return n
@twice
def h(n):
    return slow(n) + slow(n)
def result():
    return h(2), calls, h.__name__
""",
    "f-strings": """
def result():
    x, name = 3.14159, "pi"
    return f"{name!r:>6}|{x:.2f}|{x:{1 + 1}.1f}|{{}}"
""",
    "match": """
def kind(value):
    match value:
        case {"type": str() as found}:
            return found
        case [first, *_]:
            return first
        case None:
            return "nothing"
    return "other"
def result():
    return [kind(v) for v in ({"type": "a"}, [1, 2], None, 5)]
""",
    "walrus, chained comparison, ternary": """
def result():
    return [y for x in range(5) if (y := x * 2) > 2], 1 < 2 < 3, "a" if 0 else "b"
""",
    "nonlocal and global": """
TOTAL = 0
def add(n):
    global TOTAL
    TOTAL += n
    def more():
        nonlocal n
        n += 1
        return n
    return more()
def result():
    return add(2), TOTAL
""",
    "list of lambdas": """
RULES = [("big", lambda n: n > 10), ("even", lambda n: n % 2 == 0)]
def result():
    return [name for name, test in RULES if test(12)]
""",
    "module-level mutation": """
CHOICES = ["a"]
CHOICES.append("b")
for extra in ("c", "d"):
    CHOICES.append(extra)
def result():
    return CHOICES
""",
    "type error of an operator": """
def result():
    steps, topk = 3, None
    return (
        steps
        > topk
    )
""",
    "key error in a method call": """
def result():
    table = {}
    return (table
            .pop("x"))
""",
    "attribute of None": """
class A:
    value = None
def result():
    return A.value.upper()
""",
    "unbound local": """
def result():
    if False:
        x = 1
    return x
""",
    "raise from": """
def result():
    try:
        {}["a"]
    except KeyError as error:
        raise ValueError(
            "no a"
        ) from error
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_cpython(name):
    source = PROGRAMS[name]
    expected, found = native(source), run(source)
    if isinstance(expected, Exception):
        assert type(found) is type(expected), found
        assert str(found) == str(expected)
        assert line_of(found, "main.py") == line_of(expected, "main.py")
    else:
        assert found == expected


def test_an_assertion_is_reported_at_its_last_comparison():
    source = """
def result():
    a, b = 1, 2
    assert (
        a == 1
        and b == 3
    ), "b is 3"
"""
    assert line_of(run(source), "main.py") == 6


def test_names_are_bound_when_first_looked_up():
    source = """
from sglang.other import wanted
def result():
    return wanted
"""
    other = "broken = 1 / 0\nwanted = 5\n"
    assert run(source, other=other) == 5


def test_star_import_and_registration():
    source = """
from sglang.shim import *
from sglang.registry import TABLE
def result():
    import sglang.plugin
    return visible, sorted(TABLE)
"""
    registry = "TABLE = {}\ndef register_name(name):\n    TABLE[name] = True\n    return lambda f: f\n"
    plugin = """
from sglang.registry import register_name
@register_name("b")
def b():
    pass
touched = 1
"""
    shim = "from sglang.real import *\n"
    real = "visible = 7\n"
    source = source.replace("import sglang.plugin", "from sglang.plugin import touched")
    assert run(source, shim=shim, real=real, registry=registry, plugin=plugin) == (7, ["b"])


def test_a_module_level_getattr_serves_missing_names():
    source = "from sglang.lazy import thing\ndef result():\n    return thing\n"
    lazy = (
        'def __getattr__(name):\n    if name == "thing":\n        return 9\n    raise AttributeError(name)\n'
    )
    assert run(source, lazy=lazy) == 9
