"""How each kind of fact reads in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from indexer.cli._model_sheet import print_model
from indexer.cli._terminal import FOLD, Sheet
from indexer.knowledge.addresses import fact_name
from indexer.knowledge.facts import env_fact
from indexer.knowledge.links import Links
from indexer.knowledge.schema import (
    Algorithm,
    CodePath,
    Condition,
    Deprecation,
    EnvVar,
    Flag,
    Location,
    Model,
    Read,
    Rule,
    Value,
)
from indexer.knowledge.values import as_location, as_unknown, plain_form, source_form, written_place


def print_fact(kind: str, fact: Any, links: Links, *, fold: bool = True) -> None:
    """Print one fact, its citations beside what they prove.

    With ``fold`` long lists are cut, and a model is put on one screen.
    """
    sheet = Sheet(fold)
    name = fact.option_strings[0] if isinstance(fact, Flag) else fact_name(fact)
    sheet.title(name, f"{kind} · SGLang {links.snapshot.source.version}")
    if fold and isinstance(fact, Model):
        print_model(sheet, fact, links)
    else:
        _PRINTERS[kind](sheet, fact, links)
    sheet.show()


def _flag(sheet: Sheet, flag: Flag, links: Links) -> None:
    if isinstance(flag.help, str):
        sheet.prose(flag.help)
    sheet.gap()
    _deprecated(sheet, flag.deprecated)
    if len(flag.option_strings) > 1:
        sheet.row("also", ", ".join(flag.option_strings[1:]))
    if flag.required:
        sheet.row("required", "yes")
    sheet.row("type", "none (a switch)" if flag.nargs == 0 else _value(flag.type, plain_form, "str"))
    _valued(sheet, "default", flag.default)
    if flag.fallback is not None:
        _valued(sheet, "fallback", flag.fallback)
    if flag.nargs not in (None, 0):
        _valued(sheet, "nargs", flag.nargs)
    if flag.const is not None:
        _valued(sheet, "const", flag.const)
    sheet.row("dest", flag.dest, note=f"(namespace {flag.namespace})" if flag.namespace else "")
    sheet.row("action", flag.action)
    if flag.env:
        sheet.row("environment", flag.env)
    _place(sheet, "declared", flag.declared_at)
    if flag.registered_at != flag.declared_at:
        _place(sheet, "registered", flag.registered_at)
    _choices(sheet, flag)
    algorithms = links.algorithms_of(flag)
    if algorithms:
        sheet.section("Read by algorithms", len(algorithms))
        sheet.prose(", ".join(algorithm.name for algorithm in algorithms))
    models = links.models_of(flag)
    if models:
        sheet.section("Models with rules of their own about it", len(models))
        names = [model.architecture for model in models]
        more = f" and {len(names) - FOLD} more" if sheet.folds and len(names) > FOLD else ""
        sheet.prose(", ".join(names[:FOLD] if more else names) + more)
    rules = links.rules_of(flag)
    _rules(sheet, rules.changes, "Changed by")
    _rules(sheet, rules.checks, "Checked by")
    _rules(sheet, rules.decides, "Decides")
    if sheet.folds and rules.distant:
        sheet.section("Read through helpers by rules", len(rules.distant))
        sheet.prose("(--full lists them)")
    else:
        _rules(sheet, rules.distant, "Read through helpers by")
    _reads(sheet, "Read at", flag.read_at)


def _choices(sheet: Sheet, flag: Flag) -> None:
    unknown = as_unknown(flag.choices)
    if unknown:
        _valued(sheet, "choices", unknown)
    elif flag.choices_at:
        sheet.section("Choices", len(flag.choices_at))
        sheet.entries(
            (plain_form(choice.value) + (f"  if {choice.condition}" if choice.condition else ""), choice.at)
            for choice in flag.choices_at
        )
    elif isinstance(flag.choices, list) and flag.choices:
        sheet.section("Choices", len(flag.choices))
        sheet.prose(", ".join(plain_form(choice) for choice in flag.choices))
    if flag.choices_open:
        sheet.row("open list", "more can be added", flag.choices_open)


def _algorithm(sheet: Sheet, algorithm: Algorithm, links: Links) -> None:
    sheet.gap()
    sheet.row("declared", algorithm.kind, algorithm.declared_at)
    if not algorithm.cli:
        sheet.row("command line", "not accepted")
    for alias in algorithm.aliases:
        condition = f" if {alias.condition}" if alias.condition else ""
        sheet.row("alias", f"{alias.name} → {alias.resolves_to}{condition}", alias.at)
    if algorithm.draft_model:
        first = algorithm.draft_model_at[0] if algorithm.draft_model_at else None
        sheet.row("draft model", algorithm.draft_model, first)
    if algorithm.workers:
        sheet.section("Workers", len(algorithm.workers))
        for worker in algorithm.workers:
            sheet.entries([(worker.class_name, worker.class_at)])
            sheet.entries([(f"  when {worker.condition or 'always'}", worker.selected_at)])
    if algorithm.predicates:
        sheet.section("Predicates", len(algorithm.predicates))
        sheet.entries(
            (f"{name} = {_value(value, source_form)}", algorithm.predicates_at.get(name))
            for name, value in algorithm.predicates.items()
        )
    if algorithm.automatic:
        sheet.section("Chosen automatically")
        sheet.entries((at.symbol or "", at) for at in algorithm.automatic)
    if algorithm.flags:
        sheet.section("Flags read", len(algorithm.flags))
        sheet.prose(", ".join(algorithm.flags))
    _rules(sheet, [links.rules_by_id[key] for key in algorithm.rules if key in links.rules_by_id])


def _model(sheet: Sheet, model: Model, links: Links) -> None:
    sheet.gap()
    sheet.row("declared", "draft model" if model.is_draft else "model", model.declared_at)
    if model.entry_class_at:
        sheet.row("registered", "EntryClass", model.entry_class_at)
    if model.config_class:
        sheet.row("config", model.config_class)
    for heading, facts in (("Hybrid", model.hybrid), ("Draft", model.draft), ("Radix cache", model.radix)):
        if facts:
            sheet.section(heading)
            _mapping(sheet, facts)
    for heading, entries in (("Attention backends", model.backends), ("Overrides", model.overrides)):
        if entries:
            sheet.section(heading, len(entries))
            for entry in entries:
                _mapping(sheet, entry)


def _rule(sheet: Sheet, rule: Rule, links: Links) -> None:
    if rule.message:
        sheet.prose(rule.message)
    sheet.gap()
    sheet.row("kind", rule.kind + (f" ({rule.exception})" if rule.exception else ""), rule.at)
    sheet.row("in", rule.function)
    if rule.stage:
        sheet.row("stage", rule.stage)
    if rule.kind == "assert":
        sheet.row("asserts", " ".join(rule.values))
    given = rule.values if rule.kind == "override" else []
    for target, value in zip(rule.targets, [*given, *[""] * len(rule.targets)], strict=False):
        label = "sets" if rule.kind == "override" else "about"
        sheet.row(label, f"{target} = {value}" if value else target)
    for name, element in rule.bindings.items():
        sheet.row("with", f"{name} = {element}")
    if rule.overridable:
        sheet.row("step", "plugins can replace it")
    _guard(sheet, rule.guard)
    if rule.where:
        sheet.section("Where", len(rule.where))
        sheet.prose("; ".join(f"{name} = {text}" for name, text in rule.where.items()))
    if rule.flags:
        sheet.section("Flags", len(rule.flags))
        sheet.prose(", ".join(rule.flags))
    _stays(sheet, rule)


def _stays(sheet: Sheet, rule: Rule) -> None:
    """Say in which releases the rule's message stands, and in which file."""
    from indexer.knowledge.messages import load_messages

    messages = load_messages()
    stays = messages.stays(rule) if messages is not None else []
    if stays:
        sheet.section("The message through the releases")
        sheet.entries(
            (f"{one.first} …" if one.current else f"{one.first} … {one.last}, then gone or moved", one.at)
            for one in stays
        )


def _path(sheet: Sheet, path: CodePath, links: Links) -> None:
    sheet.prose(path.title)
    sheet.gap()
    for key, value in path.context.items():
        if key != "bindings" or not isinstance(value, dict):
            sheet.row(key, _value(value, plain_form))
    if not path.complete:
        sheet.row("complete", "no: a way-point was not reached (see below)")
    bindings = path.context.get("bindings")
    if isinstance(bindings, dict) and bindings:
        sheet.section("Chosen for this path")
        for role, chosen in bindings.items():
            sheet.entries([(f"{role}: {chosen['class']}", written_place(chosen["at"][0]))])
    sheet.section("Steps", len(path.steps))
    for step in path.steps:
        mark = "●" if step.waypoint else "○"
        how = f"  [{step.certainty}]" if step.certainty not in (None, "certain", "typed") else ""
        sheet.entries([(f"{'  ' * min(step.depth, 8)}{mark} {step.function}{how}", step.at)])
    if path.findings:
        sheet.section("Findings", len(path.findings))
        for finding in path.findings:
            places = finding.get("at")
            at = written_place(places[0]) if isinstance(places, list) and places else None
            sheet.entries([(f"{finding.get('kind')}: {finding.get('what')}", at)])
    for title, excused in (("Way-points not reached", False), ("Absent for a reason", True)):
        gaps = [gap for gap in path.gaps if gap["excused"] is excused]
        if gaps:
            sheet.section(title, len(gaps))
            sheet.entries((_gap(gap), None) for gap in gaps)


def _gap(gap: dict[str, Value]) -> str:
    below = f", below {gap['below']}" if gap.get("below") and not gap["excused"] else ""
    return f"{gap.get('point') or gap.get('template')}: {gap['reason']}{below}"


_NOTICED = {"warning": "where it is set a warning says so", "error": "where it is set SGLang raises"}


def _env(sheet: Sheet, variable: EnvVar, links: Links) -> None:
    sheet.gap()
    _deprecated(sheet, variable.deprecated)
    if variable.type:
        sheet.row("type", variable.type)
    _valued(sheet, "default", variable.default)
    read = "not declared, only read" if variable.read_at else "not declared, only set"
    if variable.deprecated:
        read = "not declared; its value is handed on"
    if not env_fact(variable).is_setting:
        read = f"no setting any more: {_NOTICED.get(variable.notice or '', 'setting it has no effect')}"
    _place(sheet, "declared", variable.declared_at, read)
    if variable.relevance:
        sheet.row("matters for", ", ".join(variable.relevance))
    _reads(sheet, "Read at", variable.read_at)
    _reads(sheet, "Set at", variable.set_at)


_PRINTERS: dict[str, Callable[[Sheet, Any, Links], None]] = {
    "flag": _flag,
    "algorithm": _algorithm,
    "model": _model,
    "rule": _rule,
    "path": _path,
    "env": _env,
}


def _value(value: Value, form: Callable[[Value], str], absent: str = "None") -> str:
    unknown = as_unknown(value)
    if unknown:
        return f"unknown: {unknown.unknown}"
    return absent if value is None else form(value)


def _valued(sheet: Sheet, label: str, value: Value) -> None:
    unknown = as_unknown(value)
    sheet.row(label, _value(value, source_form), unknown.at if unknown else None)


def _place(sheet: Sheet, label: str, at: Location | None, absent: str = "") -> None:
    if at:
        sheet.row(label, "", at)
    elif absent:
        sheet.row(label, absent)


def _deprecated(sheet: Sheet, deprecation: Deprecation | None) -> None:
    if deprecation:
        told = f"use {deprecation.replacement}" if deprecation.replacement else "yes"
        sheet.row("deprecated", told + (" (refused)" if deprecation.raises else ""), deprecation.at)


def _rules(sheet: Sheet, rules: list[Rule], heading: str = "Rules") -> None:
    if not rules:
        return
    sheet.section(heading, len(rules))
    sheet.entries((rule_line(rule), rule.at) for rule in rules)


def rule_line(rule: Rule) -> str:
    """Return what a rule does in one line."""
    if rule.message:
        return f"{rule.kind:<10} {rule.message}"
    if rule.kind == "assert":
        return f"{rule.kind:<10} {' '.join(rule.values)}"
    pairs = zip(rule.targets, [*rule.values, *[""] * len(rule.targets)], strict=False)
    return f"{rule.kind:<10} " + "; ".join(f"{t} = {v}" if v else t for t, v in pairs)


def _reads(sheet: Sheet, heading: str, reads: list[Read]) -> None:
    if reads:
        sheet.section(heading, len(reads))
        sheet.entries((read.at.symbol or read.how or "", read.at) for read in reads)


def _guard(sheet: Sheet, guard: Iterable[Condition]) -> None:
    for condition in guard:
        sheet.row("when" if condition.holds else "unless", condition.text, condition.at)


def _mapping(sheet: Sheet, facts: dict[str, Value]) -> None:
    for key, value in facts.items():
        at = as_location(value)
        if at:
            sheet.row(key.removesuffix("_at").replace("_", " "), "", at)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for one in value:
                sheet.row(key, "")
                _mapping(sheet, one)
        else:
            sheet.row(key.replace("_", " "), _value(value, plain_form))


def _sentence(facts: dict[str, Value]) -> str:
    return "; ".join(f"{key}: {_value(value, plain_form)}" for key, value in facts.items())
