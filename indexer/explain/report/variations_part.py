"""The report's part about the variations of the launch, and the words for an outcome."""

from __future__ import annotations

from collections.abc import Collection

from indexer.explain.explanation import REFUSED, STARTS, Explanation, StartCheck, StartRefusal
from indexer.explain.report.differences import differences
from indexer.explain.report.gather import Report, Varied
from indexer.explain.report.pieces import cite, plain, section

_ACCEPTED = (
    "Accepted means: by argument resolution, and what a starting server chooses as attention backend for the "
    "target can be made, as far as its checks follow from the launch. What else a starting server checks "
    "(memory, the model's layers, the draft worker, kernels) is not run."
)
_NOT_CHECKED = "accepted by the resolver, not checked after it"
_MOST_CHANGES = 6


def headline(answer: Explanation) -> str:
    """Return what the resolver makes of a launch, with its refusals."""
    if answer.outcome == STARTS:
        return f"Its arguments are accepted{''.join(f', but {one}' for one in _reservations(answer))}."
    refusals = [answer.refusal] if answer.refusal else answer.refusals
    if not refusals:
        return "Whether it is accepted can't be known; see the end."
    word = "It is refused" if answer.outcome == REFUSED else "It may be refused"
    return f"{word}: " + "; ".join(
        f"`{one.exception}: {one.message.strip() or '(no message)'}` {cite(one.at)}"
        for one in refusals
        if one
    )


def refused_at_start(checks: list[StartCheck]) -> StartRefusal | None:
    """Return what a starting server refuses the launch with, whatever is not known."""
    return next((one.refusals[0] for one in checks if one.refused), None)


def stop(refusal: StartRefusal) -> str:
    """Return a refusal at start, with its line."""
    return f"`{refusal.exception}: {plain(refusal.message)}` {cite(refusal.at)}"


def variations_part(report: Report) -> str:
    """Return the part: every variation but the draft numbers, the verdict and what happens with it."""
    apart = [one.added for one in report.draft_numbers]
    rows = [
        (f"`{' '.join(one.added)}`", *outcome(report, one))
        for one in report.variations
        if one.added not in apart
    ]
    if not rows:
        return ""
    notes = [_ACCEPTED]
    notes += [
        f"Not checked further, with the launch as it is: {_unmade(one)}." for one in _open(report.start)
    ]
    return section("Variations", ("added", "", "what happens"), rows) + "\n\n" + "\n\n".join(notes)


def outcome(report: Report, varied: Varied, leave_out: Collection[str] = ()) -> tuple[str, str]:
    """Return the verdict on a variation and what happens with it; not told are the fields to leave out."""
    answer = varied.answer
    if answer.outcome != STARTS:
        open_word = "may be refused" if answer.refusals else "not known"
        return {REFUSED: "refused"}.get(answer.outcome, open_word), headline(answer)
    stopped = refused_at_start(varied.start)
    if stopped is not None:
        return "accepted by the resolver, refused at start", stop(stopped)
    found = differences(report.answer, answer, varied.sets)
    changed = [text for name, text in found.items() if name not in leave_out]
    told = [*_new_reservations(report, answer), *changed[:_MOST_CHANGES]]
    if len(changed) > _MOST_CHANGES:
        told.append(f"and {len(changed) - _MOST_CHANGES} fields more (`indexer explain` shows them)")
    unmade = _open(varied.start)
    # What stops the check of the launch itself is told once, below the table.
    told += [f"not checked: {_unmade(one)}" for one in unmade if _unmade(one) not in _known(report)]
    return "accepted" if varied.start and not unmade else _NOT_CHECKED, "; ".join(told)


def _new_reservations(report: Report, answer: Explanation) -> list[str]:
    """Return why an accepted variation can't serve; what holds of the launch itself is told with it."""
    known = _reservations(report.answer)
    return [f"but {one}" for one in _reservations(answer) if one not in known]


def _reservations(answer: Explanation) -> list[str]:
    """Return why a launch whose arguments are accepted can't serve, each with its line."""
    return [f"{fact.reason} {cite(fact.at)}".strip() for fact in answer.reservations]


def _known(report: Report) -> list[str]:
    return [_unmade(one) for one in _open(report.start)]


def _open(checks: list[StartCheck]) -> list[StartCheck]:
    return [one for one in checks if not one.passed and not one.refused]


def _unmade(check: StartCheck) -> str:
    return f"{check.what} {cite(check.at)}: {check.open}"
