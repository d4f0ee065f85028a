"""What changed for algorithms and environment variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from indexer.drift.change import Change, change
from indexer.drift.variables import Heir, gone
from indexer.knowledge.env_prefix import rewritten
from indexer.knowledge.facts import AlgorithmFact, EnvFact, Facts
from indexer.knowledge.schema import Location
from indexer.knowledge.values import plain_form


def algorithm_changes(old: Facts, new: Facts) -> Iterator[Change]:
    """Yield the changes of speculative algorithms and their spellings."""
    was = {one.name: one for one in old.algorithms}
    now = {one.name: one for one in new.algorithms}
    was_alias, now_alias = _aliases(old), _aliases(new)
    for name, algorithm in was.items():
        if name in now:
            continue
        if name in now_alias:
            message = f"{name} is no longer an algorithm of its own, it means {now_alias[name]}"
            yield _algorithm("algorithm-alias-target", name, message, algorithm, now[now_alias[name]])
        else:
            yield _algorithm("algorithm-removed", name, f"{name} is gone", algorithm, None)
    for name, algorithm in now.items():
        if name not in was and name not in was_alias:
            yield _algorithm("algorithm-added", name, f"{name} is new", None, algorithm)
    for alias, target in was_alias.items():
        meant = now_alias.get(alias, alias if alias in now else None)
        if meant is None:
            yield _algorithm(
                "algorithm-alias-removed", alias, f"{alias} (was {target}) is gone", was[target], None
            )
        elif meant != target:
            message = f"{alias} meant {target}, now {meant}"
            yield _algorithm("algorithm-alias-target", alias, message, was[target], now[meant])
    for alias, target in now_alias.items():
        if alias not in was_alias and alias not in was:
            message = f"{alias} is a new spelling of {target}"
            yield _algorithm("algorithm-alias-added", alias, message, None, now[target])


def _aliases(facts: Facts) -> dict[str, str]:
    return {alias: one.name for one in facts.algorithms for alias in one.aliases}


def _algorithm(
    code: str, name: str, message: str, old: AlgorithmFact | None, new: AlgorithmFact | None
) -> Change:
    return change(
        code,
        "algorithms",
        name,
        message,
        old=old.name if old else None,
        new=new.name if new else None,
        old_at=old.declared_at if old else None,
        new_at=new.declared_at if new else None,
    )


def env_changes(old: Facts, new: Facts, heirs: Mapping[str, Heir]) -> Iterator[Change]:
    """Yield the changes of environment variables."""
    was = {one.name: one for one in old.env_vars}
    now = {one.name: one for one in new.env_vars}
    for name, variable in was.items():
        new_name = rewritten(name, new.version, now.get)
        if new_name is not None and variable.is_setting:
            yield change(
                "env-deprecated",
                "env",
                name,
                f"{name}: deprecated, {new_name.told}",
                replacement=new_name.use,
                old_at=_at(variable),
                new_at=new_name.at,
            )
        elif name in now:
            yield from _compare_env(variable, now[name], heirs.get(name))
        elif not variable.is_setting:
            continue  # it was gone before; now nothing tells so any more
        elif not variable.declared:
            message = f"{name} is no longer read by SGLang itself (a library may still read it)"
            yield change("env-unread", "env", name, message, old_at=_at(variable))
        else:
            use = heirs.get(name)
            text, place = (use.text, use.at) if use else (None, None)
            at = _at(variable)
            yield change(
                "env-removed", "env", name, gone(name, use), replacement=text, old_at=at, new_at=place
            )
    for name, variable in now.items():
        if name not in was and variable.is_setting:
            shown = f" (default {_show(variable.default)})" if variable.declared else ""
            yield change("env-added", "env", name, f"{name} is new{shown}", new_at=_at(variable))


def _compare_env(old: EnvFact, new: EnvFact, heir: Heir | None) -> Iterator[Change]:
    def found(
        code: str, message: str, was: object = None, now: object = None, use: str | None = None
    ) -> Change:
        return change(
            code,
            "env",
            old.name,
            f"{old.name}: {message}",
            old=was,
            new=now,
            replacement=use,
            old_at=_at(old),
            new_at=_at(new),
        )

    if old.is_setting and not new.is_setting:
        text, place = (heir.text, heir.at) if heir else (None, None)
        message = gone(old.name, heir, new)
        yield change(
            "env-removed",
            "env",
            old.name,
            message,
            replacement=text,
            old_at=_at(old),
            new_at=place or _at(new),
        )
        return
    if old.declared and not new.declared:
        where = f" at {new.read_at.path}:{new.read_at.line}" if new.read_at else ""
        said = heir.told if heir else ""
        use = heir.text if heir else None
        how = f"only read{where}" if where or not new.deprecated else "only named as deprecated"
        yield found("env-undeclared", f"no longer declared, {how}{said}", use=use)
        return
    if new.deprecated is not None and old.deprecated != new.deprecated:
        use = new.deprecated.replacement
        yield found("env-deprecated", "deprecated" + (f", use {use}" if use else ""), use=use)
    if not (old.declared and new.declared) or new.deprecated is not None:
        return  # a deprecated name is read by the variable that replaces it
    if old.default != new.default:
        yield found(
            "env-default", f"default {_show(old.default)} → {_show(new.default)}", old.default, new.default
        )
    if old.type != new.type:
        yield found("env-type", f"type {_show(old.type)} → {_show(new.type)}", old.type, new.type)


def _at(variable: EnvFact) -> Location | None:
    return variable.declared_at or variable.read_at


def _show(value: object) -> str:
    return "unset" if value is None else plain_form(value)
