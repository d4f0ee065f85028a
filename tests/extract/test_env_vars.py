"""Environment variables: declarations, defaults, every shape of use, old names, relevance by readers."""

from __future__ import annotations

from indexer.extract.env_vars import extract_env_vars
from indexer.knowledge.facts import env_fact
from indexer.knowledge.schema import Unknown
from indexer.syntax.graph import ModuleGraph
from tests.trees import MemoryTree

ENVIRON = """
class EnvField: ...
class EnvBool(EnvField): ...
class EnvInt(EnvField): ...
class EnvAlias(EnvInt): ...

def _default_root(): ...

class Envs:
    SGL_FAST = EnvBool(False)
    SGL_SIZE = EnvInt(4 * 1024)
    SGL_LEVEL = EnvInt(Level.OFF)
    SGL_ROOT = EnvBool(_default_root)
    SGL_NEW = EnvAlias(3, "SGL_OLD")
    SGL_NEWER = EnvAlias(3, deprecated_name="SGL_OLDER")
    other = dict(a=1)

envs = Envs()
_DEPRECATED = {
    "SGL_GONE": _DeprecatedEnv(replacement="SGL_FAST", note="Gone."),
}
_print_deprecated_env("SGL_FAST", "SGL_QUICK")

def _deprecated_name(old_name: str, new_name: str = ""): ...

_deprecated_name("SGL_SLOW", "SGL_SIZE")
_warn_deprecated_env_to_option("SGL_FOR_OPTION", "It goes soon. Please use '--fast=2' instead.")
_MORE = {"SGL_PASSED": _DeprecatedEnv(note=("Pass --fast " "now. " "It is better."))}
"""
USER = '''
import os
from sglang.srt.environ import envs
KEY = "SGL_BY_NAME"
_SLOW = get_bool_env_var("SGL_RAW_BOOL", "false")

def verify_draft():
    """Reads envs.SGL_SIZE.get() in words only."""
    if envs.SGL_FAST.get() and not envs.SGL_SIZE.is_set():
        envs.SGL_SIZE.set(1)
    os.environ["SGL_WRITTEN"] = "1"
    return f"{os.environ['SGL_ITEM']}" + os.getenv("SGL_GETENV", "x") + os.environ.get(KEY, "y")

def mamba_pool():
    return "SGL_IN" in os.environ, _SLOW
'''


def _variables():
    files = {"srt/environ": ENVIRON, "srt/speculative/user": USER}
    tree = MemoryTree({f"python/sglang/{name}.py": source for name, source in files.items()})
    return {one.name: one for one in extract_env_vars(ModuleGraph(tree))}


def test_declarations_with_type_default_and_line():
    variables = _variables()
    size = variables["SGL_SIZE"]
    assert (size.type, size.default, size.declared_at.line) == ("EnvInt", 4096, 11)
    assert variables["SGL_LEVEL"].default == {"repr": "Level.OFF"}
    assert isinstance(variables["SGL_ROOT"].default, Unknown)
    assert "other" not in variables


def test_every_shape_of_use():
    variables = _variables()
    uses = {
        (name, read.how, read.at.line, read.at.symbol)
        for name, one in variables.items()
        for read in one.read_at
    }
    assert uses == {
        ("SGL_RAW_BOOL", "get_bool_env_var", 5, None),
        ("SGL_FAST", "get", 9, "verify_draft"),
        ("SGL_SIZE", "is_set", 9, "verify_draft"),
        ("SGL_ITEM", "environ[]", 12, "verify_draft"),
        ("SGL_GETENV", "getenv", 12, "verify_draft"),
        ("SGL_BY_NAME", "environ.get", 12, "verify_draft"),
        ("SGL_IN", "in environ", 15, "mamba_pool"),
    }
    assert [write.at.line for write in variables["SGL_SIZE"].set_at] == [10]
    assert [write.at.line for write in variables["SGL_WRITTEN"].set_at] == [11]
    assert variables["SGL_GETENV"].default == "x"


def test_old_names_say_what_replaces_them():
    variables = _variables()
    assert variables["SGL_GONE"].deprecated.replacement == "SGL_FAST"
    assert variables["SGL_GONE"].deprecated.message == "Gone."
    assert variables["SGL_QUICK"].deprecated.replacement == "SGL_FAST"
    assert variables["SGL_OLD"].deprecated.replacement == "SGL_NEW"
    assert variables["SGL_NEW"].deprecated is None
    older = variables["SGL_OLDER"]  # it is still read
    assert older.deprecated.replacement == "SGL_NEWER" and older.declared_at is not None
    assert variables["SGL_SLOW"].deprecated.replacement == "SGL_SIZE"
    assert variables["SGL_SIZE"].deprecated is None
    assert variables["SGL_FOR_OPTION"].deprecated.replacement == "--fast=2"
    assert variables["SGL_PASSED"].deprecated.replacement == "--fast"


NOTICES = """
import os
from sglang.srt.environ import envs
def check(server_args):
    if os.getenv("SGL_WARNED") is not None:
        logger.warning("SGL_WARNED has been removed: it is always on.")
    if "SGL_REFUSED" in os.environ:  # once a switch
        raise ValueError(
            "SGL_REFUSED is no longer supported"
        )
    if (os.getenv("SGL_TOLD")):
        warnings.warn("SGL_TOLD is deprecated")
        print("SGL_TOLD is ignored")
    if os.getenv("SGL_USED"):
        logger.warning("SGL_USED is deprecated")
        server_args.fast = True
    if os.getenv("SGL_NEEDED") is None:
        raise ValueError("an ignored file: set SGL_NEEDED")
    if os.getenv("SGL_LIBRARY"):
        logger.warning("SGL_LIBRARY slows the server down")
    if os.getenv("SGL_BOTH"):
        logger.warning("SGL_BOTH is deprecated")
    if envs.SGL_FAST.get():
        logger.warning("SGL_FAST is deprecated")
    if os.getenv("SGL_INSTEAD"):
        logger.warning("SGL_INSTEAD is deprecated")
    else:
        server_args.fast = True
    if os.getenv("SGL_FIRST"):
        logger.warning("SGL_FIRST is deprecated")
    elif server_args.slow:
        server_args.fast = True
    if os.getenv("SGL_VALUE") == "old":
        logger.warning("this value is no longer used")
    return os.getenv("SGL_BOTH")
"""


def test_a_variable_that_is_only_read_to_say_that_it_is_gone_is_no_setting():
    files = {"srt/environ": ENVIRON, "srt/check": NOTICES}
    tree = MemoryTree({f"python/sglang/{name}.py": source for name, source in files.items()})
    found = extract_env_vars(ModuleGraph(tree))
    assert {one.name: one.notice for one in found if one.notice} == {
        "SGL_WARNED": "warning",
        "SGL_REFUSED": "error",
        "SGL_TOLD": "warning",
    }
    # Of those without a notice, the ones that are only named as deprecated and hand no value on.
    gone = {one.name for one in found if not env_fact(one).is_setting}
    assert gone == {"SGL_WARNED", "SGL_REFUSED", "SGL_TOLD", "SGL_FOR_OPTION", "SGL_PASSED"}


def test_relevance_is_told_by_the_readers():
    variables = _variables()
    assert "hybrid" in variables["SGL_IN"].relevance
    assert "hybrid" in variables["SGL_RAW_BOOL"].relevance, "its constant is used by the mamba function"
    assert variables["SGL_FAST"].relevance == ["speculation"]
    assert variables["SGL_ROOT"].relevance == []
