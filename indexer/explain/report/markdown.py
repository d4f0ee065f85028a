"""A report as Markdown; every fact with its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexer.explain.explanation import MAY, REFUSED, STARTS, Explanation
from indexer.explain.render import place
from indexer.explain.report.gather import Report, plain
from indexer.knowledge.schema import CodePath, Location

_MOST_RESTRICTIONS = 40
_MOST_VARIABLES = 40


def markdown(report: Report) -> str:
    """Return the report as one Markdown document."""
    parts = [_title(report), _answer(report), _flags(report), _resolved(report), _model(report)]
    parts += [_variations(report), _restrictions(report), _memory(report), _code_path(report)]
    parts += [_environment(report), _not_known(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(report: Report) -> str:
    what = report.architecture or "a model"
    where = f" on {report.gpus or 'some'} × {report.gpu}" if report.gpu else ""
    return (
        f"# {what} with {report.algorithm}{where}: SGLang {report.version}\n\n"
        "Read from the sources by `indexer report`; nothing was run. Lines are of that version."
    )


def _answer(report: Report) -> str:
    command = "python -m sglang.launch_server --model-path CHECKPOINT " + " ".join(report.argv)
    return f"## Answer\n\n```\n{command}\n```\n\n{_headline(report.answer)}"


def _headline(answer: Explanation) -> str:
    if answer.outcome == STARTS:
        return "Its arguments are accepted."
    refusals = [answer.refusal] if answer.refusal else answer.refusals
    if not refusals:
        return "Whether it is accepted can't be known; see the end."
    word = "It is refused" if answer.outcome == REFUSED else "It may be refused"
    return f"{word}: " + "; ".join(
        f"`{one.exception}: {one.message.strip() or '(no message)'}` {_cite(one.at)}"
        for one in refusals
        if one
    )


def _flags(report: Report) -> str:
    rows = [
        (
            f"`{flag.option_strings[0]}`",
            f"`{plain(flag.default)}`",
            plain(flag.help or ""),
            _cite(flag.declared_at),
        )
        for flag in report.flags
    ]
    return _section("Flags that the algorithm reads", ("flag", "default", "help", "declared"), rows)


def _resolved(report: Report) -> str:
    rows = []
    for name, change in report.answer.fields.items():
        values = " or ".join(dict.fromkeys(plain(one) for one in change.possible or [change.resolved]))
        sure = "may" if change.certainty == MAY else "will"
        rows.append((f"`{name}`", f"`{plain(change.asked)}`", f"`{values}`", sure, _cites(change.by[-2:])))
    table = _section("What is chosen automatically", ("field", "asked", "becomes", "", "by"), rows)
    warnings = [
        f"- {event.message} {_cite(event.at)}"
        for event in report.answer.events
        if event.level in ("warning", "error")
    ]
    return table + ("\n\nWarnings:\n\n" + "\n".join(dict.fromkeys(warnings)) if warnings else "")


def _model(report: Report) -> str:
    model = report.model
    if model is None:
        return ""
    lines = [f"Architecture `{model.architecture}` {_cite(model.declared_at)}."]
    if model.hybrid:
        hybrid = model.hybrid
        lines.append(
            f"Hybrid of kind {hybrid.get('kind')}, decided by `{hybrid.get('predicate')}` "
            f"{_cite(hybrid.get('predicate_at'))}; its linear layers run in `{hybrid.get('backend')}` "
            f"{_cite(hybrid.get('backend_at'))}."
        )
    for one in model.backends:
        what = f"`{one['requires']}`" if one.get("requires") else f"sets `{plain(one.get('sets'))}`"
        lines.append(
            f"Attention backend, checked when the server starts ({one.get('kind')}): {what} "
            f"where `{plain(one.get('condition') or 'always')}` {_cite(one.get('at'))}"
        )
    if model.draft:
        draft = model.draft
        lines.append(
            f"Draft: the MTP layer of the checkpoint as `{draft.get('architecture')}`, mapped at "
            f"{_cite(draft.get('mapping_at'))}, class {_cite(draft.get('class_at'))}."
        )
    fact = report.algorithm_fact
    if fact:
        lines += [
            f"Worker `{one.class_name}` {_cite(one.selected_at)}"
            + (f" if `{one.condition}`" if one.condition else "")
            for one in fact.workers
        ]
        if fact.draft_model:
            lines.append(f"Draft model: {fact.draft_model} {_cites_of(fact.draft_model_at)}")
    return "## Model and draft\n\n" + "\n\n".join(lines)


def _variations(report: Report) -> str:
    rows = []
    before = report.answer.fields
    for varied in report.variations:
        answer = varied.answer
        if answer.outcome == STARTS:
            changed = [
                f"`{name}` = `{plain(one.resolved)}`"
                for name, one in answer.fields.items()
                if name not in before or before[name].resolved != one.resolved
            ]
            rows.append((f"`{' '.join(varied.added)}`", "starts", "; ".join(changed[:4])))
        else:
            verdict = {REFUSED: "refused"}.get(
                answer.outcome, "may be refused" if answer.refusals else "not known"
            )
            rows.append((f"`{' '.join(varied.added)}`", verdict, _headline(answer)))
    return _section("Variations", ("added", "", "what happens"), rows)


def _restrictions(report: Report) -> str:
    rows = []
    for rule in report.restrictions[:_MOST_RESTRICTIONS]:
        guard = " and ".join((one.text if one.holds else f"not ({one.text})") for one in rule.guard[-3:])
        rows.append((plain(rule.message or ""), f"`{plain(guard)}`" if guard else "", _cite(rule.at)))
    return _section("Checks that can refuse", ("message", "when", "at"), rows)


def _memory(report: Report) -> str:
    if report.memory_path is None or report.model is None or not report.model.hybrid:
        return ""
    return "## Memory of the recurrent state\n\n" + _steps(report.memory_path)


def _code_path(report: Report) -> str:
    if report.code_path is None:
        return ""
    return f"## Code path: {report.code_path.title}\n\n" + _steps(report.code_path)


def _steps(path: CodePath) -> str:
    marked = [step for step in path.steps if step.waypoint] or path.steps
    lines = []
    for number, step in enumerate(marked, 1):
        anchors = f"; {_cites_of(step.anchors)}" if step.anchors else ""
        lines.append(f"{number}. `{step.function}` {_cite(step.at)}{anchors}")
    return "\n".join(lines)


def _environment(report: Report) -> str:
    rows = [
        (f"`{one.name}`", f"`{plain(one.default)}`", ", ".join(one.relevance[:3]), _cite(one.declared_at))
        for one in report.env_vars[:_MOST_VARIABLES]
    ]
    table = _section("Environment variables", ("name", "default", "read by", "declared"), rows)
    left = len(report.env_vars) - len(rows)
    return f"{table}\n\nand {left} more: `indexer search --kind env`." if left > 0 else table


def _not_known(report: Report) -> str:
    lines = [f"- {one.what}: {one.reason}" for one in report.answer.unknowns]
    lines += [f"- taken for granted: {one}" for one in report.answer.assumed]
    return "## Not known, and taken for granted\n\n" + "\n".join(lines) if lines else ""


def _section(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    table = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    table += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return f"## {title}\n\n" + "\n".join(table)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _cite(at: Location | dict | None) -> str:
    if isinstance(at, dict):
        at = Location(at["path"], at["line"])
    return f"({place(at)})" if at else ""


def _cites(causes: Iterable) -> str:
    return _cites_of(cause.at for cause in causes)


def _cites_of(places: Iterable[Location]) -> str:
    return ", ".join(place(one) for one in places)
