"""``stale-env``: environment variables that a version no longer reads, or reads under another name."""

from __future__ import annotations

from indexer.drift.launch.model import Setting
from indexer.drift.lint.facts import Timeline, show
from indexer.drift.lint.raw import Raw
from indexer.drift.report.record import HINT, MEANING
from indexer.drift.variables import noticed
from indexer.knowledge.env_prefix import Rewritten
from indexer.knowledge.facts import EnvFact
from indexer.knowledge.schema import Location


def judge_settings(settings: list[Setting], version: str, timeline: Timeline) -> list[Raw]:
    """Return the environment variables that ``version`` no longer reads, or reads under another name."""
    position = timeline.position[version]
    found = []
    for setting in settings:
        fact = timeline.facts.env_at(setting.name, version)
        if fact is not None and fact.is_setting:
            found += [_deprecated_variable(setting, fact, version)] if fact.deprecated else []
            continue
        new = timeline.facts.env_rewritten(setting.name, version)
        if new is not None:
            found.append(_rewritten_variable(setting, new, version))
            continue
        older = [last for _, last in timeline.facts.env_spans(setting.name) if last < position]
        if not older:
            continue
        last = timeline.versions[max(older)]
        message = f"{setting.name} is no setting of SGLang {version}; {last} was the last where it was one"
        heir = timeline.facts.env_heir(setting.name, last, version)
        use, at = (heir.text, show(heir.at)) if heir else (None, None)
        told = message + (heir.told if heir else "") + noticed(fact)
        level = MEANING if fact is not None and fact.notice == "error" else HINT
        found.append(
            Raw("stale-env", level, told, setting.start, setting.end, setting.name, replacement=use, at=at)
        )
    return found


def _deprecated_variable(setting: Setting, fact: EnvFact, version: str) -> Raw:
    use = fact.deprecated.replacement if fact.deprecated else None
    return _deprecated(setting, version, f"use {use}" if use else "", use, fact.declared_at or fact.read_at)


def _rewritten_variable(setting: Setting, new: Rewritten, version: str) -> Raw:
    return _deprecated(setting, version, new.told, new.use, new.at)


def _deprecated(setting: Setting, version: str, told: str, use: str | None, at: Location | None) -> Raw:
    message = f"{setting.name} is deprecated in SGLang {version}" + (f"; {told}" if told else "")
    place = (setting.start, setting.end, setting.name)
    return Raw("deprecated-flag", HINT, message, *place, replacement=use, at=show(at))
