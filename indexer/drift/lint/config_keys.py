"""Keys that a version's reader of ``--config`` files refuses although the option exists."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.drift.launch.model import Launch, Word
from indexer.drift.lint.facts import OptionFact, Timeline, show, value_count
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw

_STORES = frozenset({"_StoreAction", "_StoreTrueAction"})


def judge_config(launch: Launch, version: str, timeline: Timeline) -> list[Raw]:
    """Return the refused keys of a mapping that is known to be a ``--config`` file."""
    refused = refused_keys(version, timeline)
    return [
        Raw(
            "config-key-refused",
            LINTS["config-key-refused"].level,
            f"the --config reader of SGLang {version} refuses {key} "
            f"({flag.option_strings[0]} has the action {flag.action})",
            word.start,
            word.end,
            flag=key,
            at=show(flag.declared_at),
        )
        for word, key in _keys(launch)
        if (flag := refused.get(key.replace("-", "_"))) is not None
    ]


def _keys(launch: Launch) -> Iterator[tuple[Word, str]]:
    for word in launch.words:
        if word.text.startswith("--") and word.end - word.start == len(word.text) - 2:
            yield word, word.text[2:]


def refused_keys(version: str, timeline: Timeline) -> dict[str, OptionFact]:
    """Return the refused keys (with ``_``) and the option that is the reason."""
    rule = timeline.facts.config_rule(version)
    flags = [flag for flag in timeline.facts.flags_at(version) if "--config" not in flag.option_strings]
    if rule == "by-dest":
        return {flag.dest: flag for flag in flags if flag.action not in _STORES}
    if rule == "by-key":
        taken = [flag for flag in flags if flag.action in _STORES or value_count(flag) is None]
        usable = {key for flag in taken for key in _spellings(flag)}
        refused = [flag for flag in flags if not any(flag is one for one in taken)]
        return {key: flag for flag in refused for key in _spellings(flag) if key not in usable}
    return {}


def switches(version: str, timeline: Timeline) -> frozenset[str]:
    """Return the keys (with ``_``) whose false leaves the option out and whose true gives it no value."""
    flags = [flag for flag in timeline.facts.flags_at(version) if flag.action == "_StoreTrueAction"]
    if timeline.facts.config_rule(version) == "by-dest":
        return frozenset(flag.dest for flag in flags)
    return frozenset(key for flag in flags for key in _spellings(flag))


def _spellings(flag: OptionFact) -> set[str]:
    return {flag.dest} | {o[2:].replace("-", "_") for o in flag.option_strings if o.startswith("--")}
