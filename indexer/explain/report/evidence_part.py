"""The report's part about real launches: what they say, and of which models."""

from __future__ import annotations

from indexer.explain.report.gather import Proof, Report
from indexer.explain.report.pieces import plain, section, table
from indexer.knowledge.launched import UsedModel

_MOST_IDS = 3
_MILLION = 1_000_000
_ENDED = {
    "works": "worked as asked",
    "works-overridden": "worked with another value than asked",
    "failed": "failed",
    "refused": "refused",
}
_RIGHT = {"all": "every proposal of its draft is right", "first": "the first proposal of a block is right"}


def evidence_part(report: Report) -> str:
    """Return what real launches say; that there are none is said too."""
    rows = []
    for proof in report.evidence:
        ids = [one for found in proof.launches.values() for one in found]
        named = ", ".join(f"`{one}`" for one in ids[:_MOST_IDS])
        more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
        line = f"; the log says {plain(proof.line)}" if proof.line else ""
        where = f"{proof.version} on {proof.machine}"
        rows.append((f"`{proof.subject}`", where, f"{_ended(proof)}{line}", f"{named}{more}"))
    if not rows:
        return "## Evidence\n\nNo recorded launch is about this algorithm or these flags."
    told = section("Evidence", ("about", "launched", "what happened", "records"), rows)
    return f"{told}\n\n{_models(report.launched)}"


def _ended(proof: Proof) -> str:
    """Return how the launches about a subject ended, each number with what it counts."""
    count = sum(map(len, proof.launches.values()))
    ended = ", ".join(f"{len(ids)} {_ENDED.get(state, state)}" for state, ids in proof.launches.items())
    several = "; the same launch did not always end alike" if proof.state == "flaky" else ""
    return f"of {count} recorded launch{'es' if count > 1 else ''} {ended}{several}"


def _models(launched: list[UsedModel]) -> str:
    """Return what was launched: by its records none is a trained checkpoint, and how small each is."""
    rows = [
        (
            f"`{one.name}`" + (" (draft)" if one.is_draft else ""),
            one.known.architecture if one.known else one.family,
            str(one.known.layers) if one.known else "not recorded",
            str(one.known.hidden_size or "") if one.known else "not recorded",
            _weights(one),
            str(one.launches),
        )
        for one in launched
    ]
    heads = ("model", "architecture", "layers", "hidden size", "weights", "launches")
    return (
        "By their records these launches had generated models, no trained checkpoint. They say whether a "
        "combination starts, serves and keeps its output; an accept length or a speed measured on them is "
        f"not that of a real model.\n\n{table(heads, rows)}"
    )


def _weights(model: UsedModel) -> str:
    if model.dummy == model.launches:
        return "random, made by SGLang (`--load-format dummy`)"
    if model.known is None:
        return "generated"
    told = [f"{(model.known.parameters or 0) / _MILLION:.1f} M generated"]
    if model.known.walks:
        told.append("greedy output is a fixed walk over the vocabulary")
    if model.known.right:
        told.append(_RIGHT[model.known.right])
    if model.dummy:
        told.append(f"random in {model.dummy} launches (`--load-format dummy`)")
    return "; ".join(told)
