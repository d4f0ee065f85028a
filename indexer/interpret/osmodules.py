"""``os``, ``sys``, ``logging``, ``importlib`` and their like, answered from the launch's facts."""

from __future__ import annotations

import posixpath
import sys
import types
from collections.abc import Iterator, MutableMapping
from pathlib import PurePosixPath
from typing import Any

from indexer.interpret.compiled import MARK
from indexer.interpret.filesystem import make_path_class
from indexer.interpret.launch import Launch
from indexer.interpret.marks import takes_unknown
from indexer.interpret.signals import UnknownEscaped, Unsupported
from indexer.interpret.unknown import Unknown


class Environment(MutableMapping[str, Any]):
    """``os.environ`` of the launch."""

    def __init__(self, launch: Launch) -> None:
        self._set: dict[str, Any] = dict(launch.env)
        self._complete = launch.env_complete
        self._unknown = set(launch.env_unknown)
        self.writes: list[tuple[str, Any]] = []
        self.reads: dict[str, set[str]] = {}
        """Variables that were looked up: name to the files whose statements did, at module level."""

    def _uncertain(self, name: str) -> bool:
        return name not in self._set and (name in self._unknown or not self._complete)

    def __getitem__(self, name: Any) -> Any:
        if type(name) is Unknown:
            return name._rt_derive("environment")
        self.reads.setdefault(name, set()).add(_running_module())
        if name in self._set:
            return self._set[name]
        if self._uncertain(name):
            if not Unknown(f"whether {name} is set", (f"env {name}",)):
                raise KeyError(name)
            return Unknown(f"env {name}", (f"env {name}",), kind=str)
        raise KeyError(name)

    def get(self, name: Any, default: Any = None) -> Any:
        if type(name) is Unknown:
            return name._rt_derive("environment")
        try:
            return self[name]
        except KeyError:
            return default

    def __setitem__(self, name: str, value: Any) -> None:
        if type(value) not in (str, Unknown):
            raise TypeError(f"str expected, not {type(value).__name__}")
        self._unknown.discard(name)
        self._set[name] = value
        self.writes.append((name, value))

    def __delitem__(self, name: str) -> None:
        self[name]
        self._unknown.discard(name)
        self._set.pop(name, None)

    def __contains__(self, name: Any) -> bool:
        self.reads.setdefault(name, set()).add(_running_module())
        if name in self._set:
            return True
        if self._uncertain(name):
            return bool(Unknown(f"whether {name} is set", (f"env {name}",)))
        return False

    def __iter__(self) -> Iterator[str]:
        if not self._complete:
            raise UnknownEscaped(Unknown("the whole environment"), "iteration")
        return iter([*self._set, *(name for name in sorted(self._unknown) if name in self)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def copy(self) -> dict[str, Any]:
        return {name: self[name] for name in self}


def _running_module() -> str:
    """Return the path of the nearest module whose own statements are running; empty inside none."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename[:1] == MARK:
            return code.co_filename[1:]
        frame = frame.f_back
    return ""


class Logger:
    """``logging.Logger`` that records what is logged."""

    def __init__(self, world: Any, name: str) -> None:
        self._rt_world, self.name = world, name
        self.handlers: list[Any] = []
        self.level = 0
        self.propagate = True
        self.parent = None

    def _record(self, level: str, message: Any, args: tuple[Any, ...]) -> None:
        self._rt_world.log(level, message, args)

    def debug(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("debug", message, args)

    def info(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("info", message, args)

    def warning(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("warning", message, args)

    warn = warning

    def error(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("error", message, args)

    warning_once = warning_advice = warning

    def info_once(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("info", message, args)

    def exception(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("error", message, args)

    def critical(self, message: Any, *args: Any, **kwargs: Any) -> None:
        self._record("critical", message, args)

    def log(self, level: int, message: Any, *args: Any, **kwargs: Any) -> None:
        names = {10: "debug", 20: "info", 30: "warning", 40: "error", 50: "critical"}
        self._record(names.get(level, "info"), message, args)

    def isEnabledFor(self, level: int) -> bool:
        return level >= 20

    def setLevel(self, level: Any) -> None:
        return None

    def getEffectiveLevel(self) -> int:
        return 20

    def addHandler(self, handler: Any) -> None:
        return None

    addFilter = removeHandler = removeFilter = addHandler

    def hasHandlers(self) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> Logger:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise Unsupported(f"logging.Logger.{name}")


for _method in ("debug", "info", "info_once", "warning", "error", "exception", "critical", "log"):
    vars(Logger)[_method]._rt_takes_unknown = True


def os_overrides(world: Any, program: Any) -> dict[str, dict[str, Any]]:
    """Return, per module, what replaces the operating system's answers."""
    launch: Launch = world.launch
    files = world.files
    environment = Environment(launch)
    world.environment = environment
    loggers: dict[str, Logger] = {}
    path_class = make_path_class(files)

    def get_logger(name: Any = None) -> Logger:
        return loggers.setdefault(str(name), Logger(world, str(name)))

    def find_spec(name: str, package: Any = None) -> Any:
        if name.startswith("."):
            raise Unsupported("relative find_spec")
        parent, _, _ = name.rpartition(".")
        if parent:
            program.import_module(parent)
        if program.owns(name):
            return types.SimpleNamespace(name=name, origin=name) if program.find(name) is not None else None
        top = name.partition(".")[0]
        from indexer.interpret.host import is_standard

        if is_standard(top):
            return types.SimpleNamespace(name=name, origin=name)
        present = world.package_present(top)
        if type(present) is Unknown:
            present = bool(present)
        return types.SimpleNamespace(name=name, origin=name) if present else None

    def version(name: str) -> Any:
        present = world.package_present(name)
        if type(present) is Unknown:
            present = bool(present)
        if not present:
            raise PackageNotFoundError(name)
        return world.package_version(name)

    class PackageNotFoundError(ModuleNotFoundError):
        def __str__(self) -> str:
            return f"No package metadata was found for {self.args[0]}"

    def import_by_name(name: str, package: Any = None) -> Any:
        if name.startswith("."):
            level = len(name) - len(name.lstrip("."))
            base = package.rsplit(".", level - 1)[0] if level > 1 else package
            name = f"{base}.{name[level:]}"
        return program.import_module(name)

    modules = _Modules(program)

    def unknown(text: str) -> Any:
        return takes_unknown(lambda *args, **kwargs: Unknown(text))

    def exit_process(*args: Any) -> None:
        raise SystemExit(*args)

    pure = ("basename", "commonpath", "dirname", "isabs", "join", "normpath", "split", "splitext", "sep")
    os_path = {name: getattr(posixpath, name) for name in (*pure, "relpath")}
    os_path |= {
        "exists": takes_unknown(files.exists),
        "isfile": takes_unknown(files.is_file),
        "isdir": takes_unknown(files.is_dir),
        "islink": lambda path: False,
        "expanduser": lambda path: path,
        "expandvars": lambda path: path,
        "abspath": lambda path: posixpath.normpath(path if path.startswith("/") else f"/home/user/{path}"),
        "realpath": lambda path: posixpath.normpath(path if path.startswith("/") else f"/home/user/{path}"),
    }
    python = launch.python

    class VersionInfo(tuple):
        major, minor, micro = python

    def get_environment(name: Any, default: Any = None) -> Any:
        return environment.get(name, default)

    counter = iter(range(1_000_000))
    return {
        "os": {
            "environ": environment,
            "getenv": takes_unknown(get_environment),
            "path": types.SimpleNamespace(**os_path),
            "sep": "/",
            "linesep": "\n",
            "name": "posix",
            "pathsep": ":",
            "devnull": "/dev/null",
            "PathLike": __import__("os").PathLike,
            "fspath": lambda path: path if isinstance(path, (str, bytes)) else path.__fspath__(),
            "getcwd": lambda: "/home/user",
            "getpid": lambda: 4242,  # decides nothing but the names of temporary files
            "cpu_count": unknown("CPU count") if launch.host.cpus is None else (lambda: launch.host.cpus),
            "listdir": files.listdir,
            "makedirs": lambda *args, **kwargs: None,
        },
        "os.path": os_path,
        "posixpath": os_path,
        "pathlib": {"Path": path_class, "PosixPath": path_class, "PurePath": PurePosixPath},
        "tempfile": {
            "gettempdir": lambda: "/memory",
            "mkdtemp": lambda *args, **kwargs: f"/memory/{next(counter)}",
            "NamedTemporaryFile": lambda mode="w+b", *args, **kwargs: files.open(
                f"/memory/{next(counter)}{kwargs.get('suffix') or ''}", mode.replace("+", "")
            ),
        },
        "sys": {
            "version_info": VersionInfo((*python, "final", 0)),
            "version": "{}.{}.{}".format(*python),
            "platform": "linux",
            "maxsize": 2**63 - 1,
            "byteorder": "little",
            "argv": ["launch_server.py", *launch.argv],
            "modules": modules,
            "path": [],
            "executable": "python",
            "exit": exit_process,
            "getrecursionlimit": lambda: 1000,
            "setrecursionlimit": lambda limit: None,
            "getsizeof": unknown("object size"),
        },
        "platform": {
            "machine": lambda: launch.host.machine,
            "system": lambda: "Linux",
            "python_version": lambda: "{}.{}.{}".format(*python),
            "node": unknown("host name"),
        },
        "logging": {
            "getLogger": takes_unknown(get_logger),
            "Logger": Logger,
            "basicConfig": takes_unknown(lambda *args, **kwargs: None),
            "captureWarnings": lambda capture: None,
            "getLevelName": lambda level: str(level),
            **{
                level: takes_unknown(
                    lambda message, *args, _level=level, **kwargs: world.log(_level, message, args)
                )
                for level in ("debug", "info", "warning", "error", "critical", "exception")
            },
        },
        "warnings": {
            "warn": takes_unknown(
                lambda message, category=None, *args, **kwargs: world.log(
                    "warning", _with_category(message, category), ()
                )
            ),
            "filterwarnings": takes_unknown(lambda *args, **kwargs: None),
            "simplefilter": takes_unknown(lambda *args, **kwargs: None),
        },
        "importlib": {"import_module": import_by_name, "invalidate_caches": lambda: None},
        "importlib.util": {"find_spec": find_spec},
        "importlib.metadata": {
            "version": version,
            "PackageNotFoundError": PackageNotFoundError,
            "entry_points": takes_unknown(lambda *args, **kwargs: _EntryPoints()),
        },
        "pkgutil": {"iter_modules": lambda path=None, prefix="": program.iterate_modules(path, prefix)},
        "psutil": {},
    }


def _with_category(message: Any, category: Any) -> Any:
    if isinstance(message, Warning):
        return f"{type(message).__name__}: {message}"
    if isinstance(message, str):
        name = category.__name__ if isinstance(category, type) else "UserWarning"
        return f"{name}: {message}"
    return message


class _EntryPoints(tuple):
    """No plugins are installed."""

    def select(self, **kwargs: Any) -> _EntryPoints:
        return self

    def get(self, group: str, default: Any = None) -> Any:
        return default if default is not None else self


class _Modules:
    """``sys.modules``: the modules of the trees that were touched."""

    __slots__ = ("_rt_program",)

    def __init__(self, program: Any) -> None:
        self._rt_program = program

    def __deepcopy__(self, memo: Any) -> Any:
        return self  # else the memo would hand out what is behind it

    def get(self, name: str, default: Any = None) -> Any:
        found = self._rt_program.loaded(name)
        return found if found is not None else default

    def __contains__(self, name: str) -> bool:
        return self._rt_program.loaded(name) is not None

    def __getitem__(self, name: str) -> Any:
        found = self._rt_program.loaded(name)
        if found is None:
            raise KeyError(name)
        return found

    def __setitem__(self, name: str, module: Any) -> None:
        raise Unsupported(f"sys.modules[{name!r}] is set")

    def __iter__(self) -> Iterator[str]:
        raise Unsupported("iteration over sys.modules")
