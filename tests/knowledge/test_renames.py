from __future__ import annotations

import pytest

from indexer.knowledge.facts import DeprecationFact, EnvFact, Facts, FlagFact
from indexer.knowledge.renames import find_renames, named_options
from indexer.knowledge.schema import Location, StatedReplacement

AT = Location("python/sglang/a.py", 1)


def flag(*options: str, **attributes: object) -> FlagFact:
    name = options[0].lstrip("-")
    attributes.setdefault("dest", name.replace("-", "_"))
    return FlagFact(name=name, option_strings=list(options), declared_at=AT, **attributes)


def deprecated(replacement: str) -> DeprecationFact:
    return DeprecationFact(replacement)


CASES = {
    "deprecated alias": (
        [flag("--old")],
        [flag("--old", dest="new", deprecated=deprecated("--new")), flag("--new")],
        [("--old", "--new", "deprecated")],
    ),
    "deprecated for two": (
        [flag("--off")],
        [flag("--off", deprecated=deprecated("--b-{x,y}=off")), flag("--b-x"), flag("--b-y")],
        [("--off", "--b-x", "deprecated"), ("--off", "--b-y", "deprecated")],
    ),
    "deprecated already": (
        [flag("--old", deprecated=deprecated("--new")), flag("--new")],
        [flag("--old", deprecated=deprecated("--new")), flag("--new")],
        [],
    ),
    "replacement that is not there": ([flag("--old")], [flag("--old", deprecated=deprecated("--new"))], []),
    "kept as alias": ([flag("--old")], [flag("--new", "--old", dest="old")], [("--old", "--new", "alias")]),
    "alias dropped": ([flag("--x", "--old")], [flag("--x")], [("--old", "--x", "alias")]),
    "order of spellings": ([flag("--a", "--b")], [flag("--b", "--a")], []),
    "same dest": (
        [flag("--old", dest="d")],
        [flag("--other", dest="d", type="int")],
        [("--old", "--other", "dest")],
    ),
    "likely": (
        [flag("--kt-amx-method", type="str")],
        [flag("--kt-method", type="str")],
        [("--kt-amx-method", "--kt-method", "likely")],
    ),
    "similar but of another type": (
        [flag("--kt-amx-method", type="str")],
        [flag("--kt-method", type="int")],
        [],
    ),
    "the opposite": ([flag("--enable-autotune")], [flag("--disable-autotune")], []),
    "unlike": ([flag("--ngram-branch-length")], [flag("--trie-depth")], []),
}


@pytest.mark.parametrize("case", CASES)
def test_flag_renames(case: str) -> None:
    old, new, wanted = CASES[case]
    found = find_renames(Facts("1", flags=old), Facts("2", flags=new))
    assert [(one.old, one.new, one.how) for one in found] == wanted


def test_stated_text_is_kept_with_its_value() -> None:
    new = [flag("--off", deprecated=deprecated("--backend=none")), flag("--backend")]
    (found,) = find_renames(Facts("1", flags=[flag("--off")]), Facts("2", flags=new))
    assert (found.new, found.text) == ("--backend", "--backend=none")


def test_a_message_counts_once() -> None:
    stated = [StatedReplacement("--old", "--new", AT, "--new=x")]
    flags = [flag("--old"), flag("--new")]
    without, with_message = Facts("1", flags=flags), Facts("2", flags=flags, replacements=stated)
    (found,) = find_renames(without, with_message)
    assert (found.old, found.new, found.how, found.new_at) == ("--old", "--new", "message", AT)
    assert found.text == "--new=x"
    assert find_renames(with_message, with_message) == []


def test_env_renames() -> None:
    old = Facts("1", env_vars=[EnvFact(name="SGL_X_SIZE", type="int", default=3, declared_at=AT)])
    new = [EnvFact(name="SGLANG_X_SIZE", type="int", default=3, declared_at=AT)]
    (found,) = find_renames(old, Facts("2", env_vars=new))
    assert (found.kind, found.old, found.new, found.how) == ("env", "SGL_X_SIZE", "SGLANG_X_SIZE", "likely")
    new.append(EnvFact(name="SGL_X_SIZE", read_at=AT, deprecated=deprecated("SGLANG_X_SIZE")))
    (found,) = find_renames(old, Facts("2", env_vars=new))
    assert found.how == "deprecated"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (None, []),
        ("--a", ["--a"]),
        ("--a-size <n>", ["--a-size"]),
        ("--a-{x,y}=off", ["--a-x", "--a-y"]),
        ("set the variable", []),
    ],
)
def test_named_options(text: str | None, options: list[str]) -> None:
    assert named_options(text) == options
