"""The report's part about the model: its kind, its draft, the checks and the worker."""

from __future__ import annotations

from indexer.explain.report.gather import Report
from indexer.explain.report.pieces import cite, cites_of, plain


def model_part(report: Report) -> str:
    """Return the part: what the model is, what it is drafted with, and by which worker."""
    model = report.model
    if model is None:
        return ""
    lines = [f"Architecture `{model.architecture}` {cite(model.declared_at)}."]
    if model.hybrid:
        hybrid = model.hybrid
        lines.append(
            f"Hybrid of kind {hybrid.get('kind')}, decided by `{hybrid.get('predicate')}` "
            f"{cite(hybrid.get('predicate_at'))}; its linear layers run in `{hybrid.get('backend')}` "
            f"{cite(hybrid.get('backend_at'))}."
        )
    for one in model.backends:
        what = f"`{one['requires']}`" if one.get("requires") else f"sets `{plain(one.get('sets'))}`"
        lines.append(
            f"Attention backend, checked when the server starts ({one.get('kind')}): {what} "
            f"where `{plain(one.get('condition') or 'always')}` {cite(one.get('at'))}"
        )
    radix = model.radix or {}
    if radix.get("strategies"):
        strategies = ", ".join(f"`{one}`" for one in radix["strategies"])
        lines.append(
            f"Radix cache of the state: {strategies} {cite(radix.get('radix'))} "
            f"{cite(radix.get('extra_buffer'))} {cite(radix.get('branch_at'))}".rstrip()
        )
        lines += [
            f"The strategy becomes `{plain(rule.values[0])}` {cite(rule.at)}"
            for rule in report.strategies
            if rule.values
        ]
    lines += _draft(report)
    fact = report.algorithm_fact
    if fact:
        lines += [
            f"`{one.name}` stands for `{one.resolves_to}` {cite(one.at)}"
            + (f" if `{one.condition}`" if one.condition else "")
            for one in fact.aliases
            if one.name == report.algorithm.upper()
        ]
        lines += [
            f"Worker `{one.class_name}` {cite(one.class_at)}, chosen at {cite(one.selected_at)}"
            + (f" if `{one.condition}`" if one.condition else "")
            for one in fact.workers
        ]
        if fact.draft_model:
            lines.append(f"Draft model: {fact.draft_model} {cites_of(fact.draft_model_at)}")
    return "## Model and draft\n\n" + "\n\n".join(lines)


def _draft(report: Report) -> list[str]:
    """Return what the algorithm drafts with on this model."""
    pairing, model = report.pairing, report.model
    if pairing is None or model is None:
        return []
    lines = []
    draft = model.draft or {}
    also = draft.get("also")
    for one in [draft, *(also if isinstance(also, list) else [])] if draft else []:
        where = f" where `{one['condition']}`" if one.get("condition") else ""
        name = plain(one.get("architecture"))
        lines.append(
            f"Draft{where}: with no draft path the checkpoint itself is loaded as `{name}`, put in the "
            f"target's place at {cite(one.get('mapping_at'))}, class {cite(one.get('class_at'))}."
        )
    if not draft and pairing.state == "separate":
        lines.append(f"A draft checkpoint has to be given {cite(pairing.at)}.")
    if pairing.state == "refused":
        lines.append(f"The algorithm is refused for this model {cite(pairing.at)}.")
    return lines + [f"Note: {note.text} {cite(note.at)}." for note in pairing.notes]
