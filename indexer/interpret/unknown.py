"""Values that are not known, and the decisions that are taken about them.

An ``Unknown`` carries the facts it comes from (``roots``). Operators on it give further unknowns.
When native or interpreted code needs its truth, the active ``Decisions`` are asked: the same
question has the same answer along one path, and every question is remembered, so that the explorer
can run the program again with the other answer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from indexer.interpret.signals import UnknownEscaped, Unsupported

MARK_OF_UNKNOWN = "\N{MATHEMATICAL LEFT ANGLE BRACKET}unknown\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
"""What Python's own messages call the type of an unknown: an error that says it isn't SGLang's."""


class JsonValue:
    """The kind of an unknown read from JSON: of no class of the tree's or a third party's."""


class Unknown:
    """A value that is not known.

    ``_rt_roots`` are the facts that would decide it (``env SGLANG_X``, ``GPU memory``), ``_rt_key``
    identifies the value, so that asking the same thing twice is the same question; ``_rt_kind`` is its
    class, where that much is known. Attributes of our
    own start with ``_rt_``, which interpreted code can't spell: any other attribute is one of the
    value's, and unknown.
    """

    __slots__ = ("_rt_key", "_rt_kind", "_rt_roots", "_rt_text")

    def __init__(
        self, text: str, roots: tuple[str, ...] | None = None, key: Any = None, kind: type | None = None
    ) -> None:
        self._rt_text = text
        self._rt_kind = kind
        self._rt_roots = roots if roots is not None else (text,)
        self._rt_key = key if key is not None else ("root", text)

    def _rt_derive(self, operation: str, *operands: Any) -> Unknown:
        """Return the unknown result of an operation on this value."""
        roots = dict.fromkeys(self._rt_roots)
        for operand in operands:
            if type(operand) is Unknown:
                roots.update(dict.fromkeys(operand._rt_roots))
        return Unknown(
            f"{operation} of {self._rt_text}", tuple(roots), (operation, self._rt_key, *map(key_of, operands))
        )

    def __repr__(self) -> str:
        return f"<unknown: {self._rt_text}>"

    def __bool__(self) -> bool:
        return decide(self)

    def __getattr__(self, name: str) -> Unknown:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"'{MARK_OF_UNKNOWN}' object has no attribute '{name}'", name=name, obj=self)
        return self._rt_derive(f".{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Unknown:
        return self._rt_derive("call", *args, *kwargs.values())

    def __getitem__(self, item: Any) -> Unknown:
        return self._rt_derive("item", item)

    def __setitem__(self, item: Any, value: Any) -> None:
        return None

    def __delitem__(self, item: Any) -> None:
        return None

    def __enter__(self) -> Unknown:
        return self

    def __exit__(self, *exc: Any) -> None:
        return None

    def _rt_escape(self, operation: str) -> NoReturn:
        raise UnknownEscaped(self, operation)

    def __hash__(self) -> int:
        self._rt_escape("hash")

    def __iter__(self) -> Iterator[Any]:
        self._rt_escape("iteration")

    def __len__(self) -> int:
        self._rt_escape("length")

    def __str__(self) -> str:
        self._rt_escape("text")

    def __format__(self, spec: str) -> str:
        self._rt_escape("text")

    def __int__(self) -> int:
        self._rt_escape("integer")

    def __index__(self) -> int:
        self._rt_escape("integer")

    def __float__(self) -> float:
        self._rt_escape("number")

    def __contains__(self, item: Any) -> bool:
        return decide(self._rt_derive("contains", item))


Unknown.__name__ = Unknown.__qualname__ = MARK_OF_UNKNOWN


def is_about_unknown(error: BaseException) -> bool:
    """Tell whether an error of Python's own was raised because a value was not known."""
    said = error.args[0] if error.args else None
    return type(said) is str and MARK_OF_UNKNOWN in said


_NEGATED = {"!=": "==", ">=": "<", "<=": ">"}
"""Each pair of opposite comparisons is one question, so that both are answered alike."""


def _binary(symbol: str, reflected: bool = False) -> Callable[[Unknown, Any], Unknown]:
    def method(self: Unknown, other: Any) -> Unknown:
        return self._rt_derive(("r" if reflected else "") + symbol, other)

    return method


def _unary(symbol: str) -> Callable[[Unknown], Unknown]:
    def method(self: Unknown) -> Unknown:
        return self._rt_derive(symbol)

    return method


for _name in [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
    "matmul",
]:
    setattr(Unknown, f"__{_name}__", _binary(_name))
    setattr(Unknown, f"__r{_name}__", _binary(_name, reflected=True))
for _name in ["neg", "pos", "invert", "abs"]:
    setattr(Unknown, f"__{_name}__", _unary(_name))
for _name, _symbol in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Unknown, f"__{_name}__", _binary(_symbol))


def key_of(value: Any) -> Any:
    """Return a hashable identity of an operand for decision keys.

    Containers count by what they hold: the list of one ``in [...]`` is gone before the next one is
    made, often at the same address, and the two questions would pass for one.
    """
    if type(value) is Unknown:
        return value._rt_key
    if type(value) in (list, tuple):
        return (type(value).__name__, *map(key_of, value))
    if type(value) in (set, frozenset):
        return (type(value).__name__, frozenset(map(key_of, value)))
    if type(value) is dict:
        return ("dict", *((key_of(name), key_of(item)) for name, item in value.items()))
    try:
        hash(value)
    except TypeError:
        return ("object", _Same(value))
    return (type(value).__name__, value)


class _Same:
    """Equals itself for one and the same object only, and keeps it alive, so that none takes its place."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Fork:
    """One question asked on a path: what was asked, which facts decide it, what was answered."""

    __slots__ = ("answer", "forced", "key", "roots", "text")

    def __init__(self, key: Any, text: str, roots: tuple[str, ...], answer: bool, forced: bool) -> None:
        self.key, self.text, self.roots, self.answer, self.forced = key, text, roots, answer, forced


class Decisions:
    """The answers given along one path.

    ``script`` are the answers to give to the first questions; later ones are answered False.
    Comparisons of one unknown with numbers keep an interval, so that impossible answers are not tried.
    """

    def __init__(self, script: tuple[bool, ...] = ()) -> None:
        self.script = script
        self.forks: list[Fork] = []
        self._answers: dict[Any, bool] = {}
        self._bounds: dict[Any, list[tuple[str, float]]] = {}

    def ask(self, unknown: Unknown) -> bool:
        key, negated = _question(unknown._rt_key)
        if key in self._answers:
            return self._answers[key] != negated
        implied = self._implied(key)
        if implied is None:
            index = sum(not fork.forced for fork in self.forks)
            answer = self.script[index] if index < len(self.script) else False
            # A scripted answer is about the question as asked first; keep it un-negated.
            self.forks.append(Fork(key, unknown._rt_text, unknown._rt_roots, answer, forced=False))
        else:
            answer = implied
        self._answers[key] = answer
        self._learn(key, answer)
        return answer != negated

    def _learn(self, key: Any, answer: bool) -> None:
        parts = _numeric(key)
        if parts:
            symbol, subject, number = parts
            symbol = symbol if answer else {"<": ">=", ">": "<=", "==": "!="}[symbol]
            self._bounds.setdefault(subject, []).append((symbol, number))

    def _implied(self, key: Any) -> bool | None:
        parts = _numeric(key)
        if not parts:
            return None
        symbol, subject, number = parts
        bounds = self._bounds.get(subject)
        if not bounds:
            return None
        interval = _Interval()
        for sign, bound in bounds:
            interval.narrow(sign, bound)
        return interval.answer(symbol, number)


class _Interval:
    """What is known of a number."""

    def __init__(self) -> None:
        self.low, self.high = float("-inf"), float("inf")
        self.low_open = self.high_open = False

    def narrow(self, sign: str, bound: float) -> None:
        if sign in (">", ">=", "==") and (bound > self.low or (bound == self.low and sign == ">")):
            self.low, self.low_open = bound, sign == ">"
        if sign in ("<", "<=", "==") and (bound < self.high or (bound == self.high and sign == "<")):
            self.high, self.high_open = bound, sign == "<"

    def answer(self, symbol: str, number: float) -> bool | None:
        """Return the answer of a comparison that follows from the interval, else None."""
        below = self.high < number or (self.high == number and self.high_open)
        above = self.low > number or (self.low == number and self.low_open)
        if symbol == "<":
            return True if below else False if self.low >= number else None
        if symbol == ">":
            return True if above else False if self.high <= number else None
        if below or above:
            return False
        return True if self.low == self.high == number else None


def _question(key: Any) -> tuple[Any, bool]:
    if isinstance(key, tuple) and key and key[0] in _NEGATED:
        return (_NEGATED[key[0]], *key[1:]), True
    if isinstance(key, tuple) and key and key[0] == "not":
        inner, negated = _question(key[1])
        return inner, not negated
    return key, False


def _numeric(key: Any) -> tuple[str, Any, float] | None:
    if isinstance(key, tuple) and len(key) == 3 and key[0] in ("<", ">", "=="):
        operand = key[2]
        if isinstance(operand, tuple) and len(operand) == 2 and operand[0] in ("int", "float"):
            return key[0], key[1], float(operand[1])
    return None


def choose(fact: str, values: Sequence[Any]) -> Any:
    """Return the value of a fact on the active path; every value gets a path of its own.

    For facts of which arithmetic is done (memory sizes): a number that is known on each path goes
    through native code and formulas unharmed, where an unknown one would lose what ties its derived
    values together.
    """
    for value in values[:-1]:
        if decide(Unknown(f"{fact} is {value}", (fact,), ("choice", fact, value))):
            return value
    return values[-1]


_active: list[Decisions] = []


def decide(unknown: Unknown) -> bool:
    """Return the answer of the active path to "is this true?".

    Raises:
        Unsupported: no path is being explored, so there is nobody to ask.
    """
    if not _active:
        raise Unsupported(f"truth of {unknown._rt_text}")
    return _active[-1].ask(unknown)


class following:
    """Context manager: the decisions to ask while the block runs."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions

    def __enter__(self) -> Decisions:
        _active.append(self.decisions)
        return self.decisions

    def __exit__(self, *exc: Any) -> None:
        _active.pop()


def contains_unknown(value: Any, depth: int = 4) -> Unknown | None:
    """Return an ``Unknown`` held in a value or in the containers inside it, if there is one."""
    if type(value) is Unknown:
        return value
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            found = contains_unknown(item, depth - 1)
            if found is not None:
                return found
    elif depth and isinstance(value, dict):
        for item in value.values():
            found = contains_unknown(item, depth - 1)
            if found is not None:
                return found
    return None


_PLAIN_KINDS = (bool, int, float, str, list, dict)


def is_identical(left: Any, right: Any) -> Any:
    """``left is right``, unknown when either side is; a value is nothing of another type than its own."""
    for one, other in ((left, right), (right, left)):
        if (
            type(one) is Unknown
            and one._rt_kind in _PLAIN_KINDS
            and type(other) not in (Unknown, one._rt_kind)
        ):
            return False
    if type(left) is Unknown:
        return left._rt_derive("is", right) if left is not right else True
    if type(right) is Unknown:
        return right._rt_derive("is", left)
    return operator.is_(left, right)


def negate(value: Any) -> Any:
    """``not value`` that keeps an unknown unknown."""
    if type(value) is Unknown:
        return Unknown(f"not {value._rt_text}", value._rt_roots, ("not", value._rt_key))
    return not value
