"""A program: the tree's modules, bound lazily, in a sealed namespace of its own.

A module's names are bound when they are first looked up, by running just the statements that bind
them. Modules that matter by the order of their statements (the record and its hooks) are run whole.
Each ``Program`` has fresh module state, so that nothing leaks from one launch into the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

from indexer.interpret.code_cache import TreeCode, code_of
from indexer.interpret.compiled import MARK, CompiledModule, compile_expression
from indexer.interpret.external import External
from indexer.interpret.namespaces import InterpretedModule, ModuleNames, Namespace
from indexer.interpret.runtime import Runtime
from indexer.interpret.signals import Unsupported, handled
from indexer.interpret.transformers_tree import PACKAGE as TRANSFORMERS
from indexer.interpret.transformers_tree import ConfigurationTree, module_overrides
from indexer.source.tree import SourceTree


class ModuleState:
    """What the interpreter keeps about one module of the tree."""

    def __init__(self, program: Program, dotted: str, path: str, compiled: CompiledModule) -> None:
        self.program = program
        self.dotted = dotted
        self.path = path
        self.compiled = compiled
        self._done: set[int] = set()
        self._running: set[int] = set()
        self.registered = not any(chunk.registers for chunk in compiled.chunks)
        namespace = Namespace(self)
        binders = compiled.binders
        namespace.update(program.runtime.builtins)
        for name in program.runtime.builtins.keys() & binders.keys():
            del namespace[name]
        namespace.update(
            __name__=dotted, __file__=f"{MARK}{path}", __doc__=compiled.doc, __builtins__={},
            __package__=dotted if path.endswith("/__init__.py") else dotted.rpartition(".")[0],
        )  # fmt: skip
        if path.endswith(("/", "/__init__.py")):
            dict.__setitem__(namespace, "__path__", [MARK + path.removesuffix("__init__.py")])
        namespace.update(program.runtime.helpers(self))
        namespace.update(program.replaced.get(dotted, {}))
        self.namespace = namespace
        self.face = InterpretedModule(self)

    def bind(self, name: str) -> Any:
        """Run the statements that bind a name and return its value.

        Raises:
            KeyError: the module doesn't bind it (Python then says NameError).
        """
        indexes = self.compiled.binders.get(name)
        namespace = self.namespace
        if indexes is None:
            for target, level in self.compiled.stars:
                starred = self.program.import_module(target, level, self)
                if isinstance(starred, InterpretedModule):
                    if not name.startswith("_") and starred._rt_state.offers(name):
                        return starred._rt_state.lookup(name)
                elif isinstance(starred, External):
                    raise Unsupported(f"{name}: may come from {starred!r} by star import")
            if self.program.runtime.is_host_builtin(name):
                raise Unsupported(f"builtin {name} is not offered to interpreted code")
            raise KeyError(name)
        for index in indexes:
            if index not in self._done and index not in self._running:
                self._run(index)
        if name in namespace:
            return dict.__getitem__(namespace, name)
        if any(index in self._running for index in indexes):
            # ``from package import module`` inside the package itself means the submodule.
            submodule = self.program.find(f"{self.dotted}.{name}")
            if submodule is not None:
                return submodule
            raise Unsupported(f"{self.dotted}.{name}: looked up while it is being bound")
        raise KeyError(name)

    def _run(self, index: int) -> None:
        self._running.add(index)
        try:
            exec(self.compiled.chunks[index].code(), self.namespace, self.namespace)
            self._done.add(index)
        finally:
            self._running.discard(index)

    def run_all(self) -> None:
        """Run the module's statements in order, as an import does."""
        for index in range(len(self.compiled.chunks)):
            if index not in self._done and index not in self._running:
                self._run(index)

    def register(self) -> None:
        """Run the registrations of a module that was touched, once."""
        if self.registered or self._running:
            return
        self.registered = True
        for index, chunk in enumerate(self.compiled.chunks):
            if chunk.registers and index not in self._done:
                try:
                    self._run(index)
                except Unsupported as error:
                    handled(error)
                    self.program.note(f"{self.path}:{chunk.line}: registration: {error.reason}")
                except Exception as error:
                    self.program.note(f"{self.path}:{chunk.line}: registration: {error!r}")

    def offers(self, name: str) -> bool:
        """Tell whether the module has a name, without binding it."""
        if name in self.namespace or name in self.compiled.binders:
            return True
        return any(
            isinstance(module, InterpretedModule) and module._rt_state.offers(name)
            for module in (
                self.program.import_module(target, level, self) for target, level in self.compiled.stars
            )
        )

    def lookup(self, name: str) -> Any:
        """Return the value of a module attribute.

        Raises:
            AttributeError: the module has none of that name.
        """
        namespace = self.namespace
        if name in self.compiled.binders or (name in namespace and name not in self.program.runtime.builtins):
            try:
                value = namespace[name]
            except KeyError:
                pass
            else:
                self.register()
                return value
        try:
            value = self.bind(name)
        except KeyError:
            pass
        else:
            self.register()
            return value
        submodule = self.program.find(f"{self.dotted}.{name}")
        if submodule is not None:
            return submodule
        exported = self.program.exported(self.dotted, name)
        if exported is not None:
            return exported
        if "__getattr__" in self.compiled.binders and not name.startswith("__"):
            return namespace["__getattr__"](name)
        raise AttributeError(f"module '{self.dotted}' has no attribute '{name}'")


class Program:
    """The modules of one tree in one world.

    ``trees`` are (source tree, path prefix) pairs: SGLang's package under ``python/``;
    ``configurations`` the configuration classes of the pinned transformers, whose other parts stay
    opaque.
    """

    def __init__(
        self,
        trees: Iterable[tuple[SourceTree, str]],
        world: Any,
        eager: Callable[[str], bool],
        configurations: ConfigurationTree | None = None,
    ) -> None:
        self._trees = list(trees)
        self._configurations = configurations
        if configurations is not None:
            self._trees.append((configurations, ""))
        self._eager = eager
        self._modules: dict[str, ModuleState] = {}
        self._missing: set[str] = set()
        self._packages: set[str] = set()
        for tree, prefix in self._trees:
            self._packages |= _packages(tree, prefix)
        self._owned = {name.partition(".")[0] for name in self._packages}
        self.notes: list[str] = []
        self.world = world
        self.replaced = module_overrides(world) if configurations is not None else {}
        self.runtime = Runtime(self, world)
        world.attach(self)

    @property
    def code(self) -> TreeCode:
        """The compiled code of the first tree."""
        return code_of(self._trees[0][0])

    @property
    def whole_tree(self) -> SourceTree:
        """The tree that is run: the first."""
        return self._trees[0][0]

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of all trees."""
        return tuple(tree.version for tree, _ in self._trees)

    def close(self) -> None:
        """Let go of everything that was bound; nothing of the program can be used any more.

        The collector doesn't see what untracked instances of interpreted Structs refer to: a program that
        isn't taken apart would stay for good.
        """
        for module in self._modules.values():
            module.namespace.clear()
        self._modules.clear()

    def note(self, text: str) -> None:
        """Remember something that went wrong without deciding the outcome."""
        if text not in self.notes:
            self.notes.append(text)

    # -- finding ----------------------------------------------------------------------------------

    def owns(self, dotted: str) -> bool:
        """Tell whether a dotted name belongs to one of the trees."""
        return dotted.partition(".")[0] in self._owned

    def find(self, dotted: str) -> Any:
        """Return a module of the trees, or None where there is none of that name."""
        module = self._modules.get(dotted)
        if module is not None:
            return module.face
        if dotted in self._missing:
            return None
        stem = dotted.replace(".", "/")
        for tree, prefix in self._trees:
            for path in (f"{prefix}{stem}/__init__.py", f"{prefix}{stem}.py"):
                if path in tree:
                    return self._load(tree, dotted, path)
        if dotted in self._packages:
            return self._load(None, dotted, f"{stem}/")
        self._missing.add(dotted)
        return None

    def _load(self, tree: SourceTree | None, dotted: str, path: str) -> InterpretedModule:
        if tree is None:  # a package without __init__.py
            compiled = CompiledModule(path, [], {}, [], None)
        else:
            compiled = code_of(tree).module(path)
        module = ModuleState(self, dotted, path, compiled)
        self._modules[dotted] = module
        if self._eager(dotted):
            module.run_all()
            module.registered = True
        return module.face

    @staticmethod
    def names_of(namespace: Namespace) -> ModuleNames:
        """Return what ``globals()`` gives where a namespace is the running one."""
        return ModuleNames(namespace._rt_module.face)

    def loaded(self, dotted: str) -> InterpretedModule | None:
        """Return a module only if it was touched before."""
        module = self._modules.get(dotted)
        return module.face if module else None

    def bound(self, name: str) -> list[Any]:
        """Return what the modules loaded so far have bound to a name, nothing being bound for it."""
        held = (dict.get(module.namespace, name) for module in self._modules.values())
        return [value for value in held if value is not None]

    def source(self, path: str) -> str:
        """Return the text of a file of the trees."""
        return next(tree for tree, _ in self._trees if path in tree).text(path)

    def state_of(self, cls: type) -> ModuleState | None:
        """Return the module an interpreted class was written in."""
        return self._modules.get(cls.__module__)

    def iterate_modules(self, path: Any, prefix: str) -> list[Any]:
        """Answer ``pkgutil.iter_modules`` for packages of the trees."""
        from types import SimpleNamespace

        found: dict[str, bool] = {}
        for folder in path or ():
            stem = str(folder).removeprefix(MARK).rstrip("/") + "/"
            for tree, _ in self._trees:
                for file in tree.walk(stem):
                    rest = file[len(stem) :]
                    name, slash, tail = rest.partition("/")
                    if not slash and name != "__init__.py":
                        found.setdefault(name.removesuffix(".py"), False)
                    elif slash and tail == "__init__.py":
                        found[name] = True
        return [
            SimpleNamespace(name=prefix + name, ispkg=package, module_finder=None)
            for name, package in sorted(found.items())
        ]

    # -- importing --------------------------------------------------------------------------------

    def import_module(self, name: str, level: int = 0, importer: ModuleState | None = None) -> Any:
        """Return what ``import name`` denotes: a module of the trees, or the world's.

        Raises:
            ModuleNotFoundError: neither the trees nor the world have it.
        """
        dotted = _absolute(name, level, importer)
        if self.owns(dotted):
            module = self.find(dotted)
            if module is None and dotted.startswith(f"{TRANSFORMERS}."):
                return self.world.external(dotted)
            if module is None:
                raise ModuleNotFoundError(f"No module named '{dotted}'", name=dotted)
            return module
        return self.world.import_module(dotted)

    def import_from(self, module_name: str, level: int, name: str, importer: ModuleState) -> Any:
        """Return what ``from module import name`` binds."""
        module = self.import_module(module_name, level, importer)
        if isinstance(module, InterpretedModule):
            try:
                return module._rt_state.lookup(name)
            except AttributeError:
                raise ImportError(
                    f"cannot import name '{name}' from '{module._rt_state.dotted}' ({module._rt_state.path})",
                    name=module._rt_state.dotted,
                ) from None
        return self.world.import_from(module, name)

    def defines_externally(self, module: str, name: str) -> bool | None:
        """Tell whether an opaque module of transformers defines a name; None where that isn't known."""
        if self._configurations is None or module.partition(".")[0] != TRANSFORMERS:
            return None
        return self._configurations.opaque_module_defines(module, name)

    def exported(self, package: str, name: str) -> Any:
        """Return what a package of the configuration tree exports under a name, if it is one."""
        if self._configurations is None or package.partition(".")[0] != TRANSFORMERS:
            return None
        if name == "__version__":
            return self.world.package_version(TRANSFORMERS)
        module = self._configurations.module_defining(package, name)
        if module is None:
            return None if name.startswith("__") else self.world.external(f"{package}.{name}")
        return self.find(module)._rt_state.lookup(name)

    # -- annotations ------------------------------------------------------------------------------

    def annotation(self, module: ModuleState, text: str, local: dict[str, Any] | None = None) -> Any:
        """Evaluate a string annotation in the module it was written in."""
        import marshal

        payload = module.compiled.annotations.get(text)
        code: CodeType = marshal.loads(payload) if payload else compile_expression(text, module.path)
        return eval(code, module.namespace, _Scope(module.namespace, local or {}))


class _Scope(dict):
    """Local scope of an annotation: class names first, then the module's."""

    def __init__(self, namespace: Namespace, local: dict[str, Any]) -> None:
        super().__init__(local)
        self._namespace = namespace

    def __missing__(self, name: str) -> Any:
        return self._namespace[name]


_known_packages: WeakKeyDictionary[SourceTree, set[str]] = WeakKeyDictionary()


def _packages(tree: SourceTree, prefix: str) -> set[str]:
    """Return the dotted names of the folders that hold Python files below ``prefix``."""
    known = _known_packages.get(tree)
    if known is None:
        known = set()
        for path in tree.paths():
            if path.startswith(prefix):
                folder = path[len(prefix) :].rpartition("/")[0]
                while folder and folder.replace("/", ".") not in known:
                    known.add(folder.replace("/", "."))
                    folder = folder.rpartition("/")[0]
        _known_packages[tree] = known
    return known


def _absolute(name: str, level: int, importer: ModuleState | None) -> str:
    if not level or importer is None:
        return name
    package = importer.namespace["__package__"]
    for _ in range(level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{name}" if name else package
