"""A report as Markdown; every fact with its line."""

from __future__ import annotations

from indexer.explain.explanation import MAY, FieldChange
from indexer.explain.report.evidence_part import evidence_part
from indexer.explain.report.gather import CHECKPOINT, Report
from indexer.explain.report.memory_part import memory_part
from indexer.explain.report.model_part import model_part
from indexer.explain.report.numbers_part import numbers_part
from indexer.explain.report.pieces import cite, cites, cites_of, plain, section
from indexer.explain.report.steps_part import steps_part
from indexer.explain.report.variations_part import headline, refused_at_start, stop, variations_part
from indexer.knowledge.schema import CodePath, Flag

_MOST_RESTRICTIONS = 60
_MOST_TESTS = 3


def markdown(report: Report) -> str:
    """Return the report as one Markdown document."""
    parts = [_title(report), _answer(report), _flags(report), _resolved(report), steps_part(report)]
    parts += [
        model_part(report),
        numbers_part(report),
        variations_part(report),
        _restrictions(report),
        memory_part(report),
    ]
    parts += [_code_path(report), _environment(report), evidence_part(report), _not_known(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(report: Report) -> str:
    what = report.architecture or "a model"
    where = f" on {report.gpus or 'some'} × {report.gpu}" if report.gpu else ""
    return (
        f"# {what} with {report.algorithm}{where}: SGLang {report.version}\n\n"
        "Read from the sources by `indexer report`; nothing was run. Lines are of that version."
    )


def _answer(report: Report) -> str:
    command = f"python -m sglang.launch_server --model-path {CHECKPOINT} {' '.join(report.argv)}"
    told = headline(report.answer)
    stopped = refused_at_start(report.start)
    if stopped is not None:
        told += f" **But the server then stops**: {stop(stopped)}"
    return f"## Answer\n\n```\n{command}\n```\n\n{told}"


def _flags(report: Report) -> str:
    given = {word for word in report.argv if word.startswith("--")}
    rows = []
    for flag in report.flags:
        change = report.answer.fields.get(flag.dest)
        needed = "yes" if given & set(flag.option_strings) else "no"
        rows.append(
            (
                f"`{_option(flag)}`",
                needed,
                _becomes(change) if change else "",
                f"`{plain(flag.default)}`",
                cite(flag.declared_at),
            )
        )
    return section("Flags", ("flag", "needed", "becomes", "default", "declared"), rows)


def _option(flag: Flag) -> str:
    return next((one for one in flag.option_strings if one.startswith("--")), flag.option_strings[0])


def _becomes(change: FieldChange) -> str:
    values = " or ".join(dict.fromkeys(plain(one) for one in change.possible or [change.resolved]))
    return f"`{values}` {cites(change.by[-1:])}"


def _resolved(report: Report) -> str:
    told = {flag.dest for flag in (*report.flags, *report.memory_flags)}
    rows, others = [], []
    for name, change in report.answer.fields.items():
        sure = "may" if change.certainty == MAY else "will"
        if name in told or name.startswith("speculative") or name in _algorithm_fields(report):
            values = " or ".join(dict.fromkeys(plain(one) for one in change.possible or [change.resolved]))
            because = _because(report, change)
            rows.append(
                (f"`{name}`", f"`{plain(change.asked)}`", f"`{values}`", sure, cites(change.by[-2:]), because)
            )
        else:
            others.append(f"`{name}` {_becomes(change)}")
    heads = ("field", "asked", "becomes", "", "by", "because")
    table = section("What is chosen automatically", heads, rows)
    warnings = [
        f"- {event.message} {cite(event.at)}"
        for event in report.answer.events
        if event.level in ("warning", "error")
    ]
    if warnings:
        table += "\n\nWarnings:\n\n" + "\n".join(dict.fromkeys(warnings))
    if others:
        table += "\n\nAlso set, whatever the algorithm: " + "; ".join(others) + "."
    return table


def _because(report: Report, change: FieldChange) -> str:
    """Return the tests of the last rule that wrote a field, each with its line."""
    rule = next((report.fired[one.rule] for one in reversed(change.by) if one.rule in report.fired), None)
    if rule is None:
        return ""
    own = [one for one in rule.guard if not one.how.startswith("caller")][-_MOST_TESTS:]
    return " and ".join(
        f"`{plain(one.text) if one.holds else f'not ({plain(one.text)})'}` {cite(one.at)}" for one in own
    )


def _algorithm_fields(report: Report) -> set[str]:
    return set(report.algorithm_fact.flags) if report.algorithm_fact else set()


def _restrictions(report: Report) -> str:
    rows = []
    for rule in report.restrictions[:_MOST_RESTRICTIONS]:
        own = [one for one in rule.guard if not one.how.startswith("caller")]
        guard = " and ".join((one.text if one.holds else f"not ({one.text})") for one in own[-3:])
        told = plain(rule.message or " and ".join(rule.values) or f"{rule.exception} without a message")
        rows.append((told, f"`{plain(guard)}`" if guard else "", cite(rule.at)))
    table = section("Checks that can refuse", ("check", "when", "at"), rows)
    left = len(report.restrictions) - len(rows)
    return f"{table}\n\nand {left} more: `indexer show algorithm {report.algorithm}`." if left > 0 else table


def _code_path(report: Report) -> str:
    if report.code_path is None:
        return ""
    followed = f"Followed for `{report.code_path.context.get('architecture')}`.\n\n"
    return f"## Code path: {report.code_path.title}\n\n{followed}" + _steps(report.code_path)


def _steps(path: CodePath) -> str:
    """Return every step in order; way-points are bold, what leads to them is not."""
    lines = []
    for number, step in enumerate(path.steps, 1):
        name = f"**`{step.function}`**" if step.waypoint else f"`{step.function}`"
        called = f", called at {cite(step.call_at)}" if step.call_at else ""
        anchors = f"; {cites_of(step.anchors)}" if step.anchors else ""
        lines.append(f"{number}. {name} {cite(step.at)}{called}{anchors}")
    return "\n".join(lines)


def _environment(report: Report) -> str:
    rows = [
        (f"`{one.name}`", f"`{plain(one.default)}`", cites_of(read.at for read in one.read_at[:2]))
        for one in report.env_vars
    ]
    return section("Environment variables that this path reads", ("name", "default", "read at"), rows)


def _not_known(report: Report) -> str:
    lines = [f"- {one.what}: {one.reason}" for one in report.answer.unknowns]
    lines += [f"- taken for granted: {one}" for one in report.answer.assumed]
    return "## Not known, and taken for granted\n\n" + "\n".join(lines) if lines else ""
