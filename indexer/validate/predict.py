"""What the static and the resolver tier say about launches before they are started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import CannotError
from indexer.explain.explanation import Explanation
from indexer.validate.records import Prediction, Record

LEFT_TO_THE_MACHINE = {
    "mem_fraction_static",
    "random_seed",
    "nccl_port",
    "port",
    "model_path",
    "tokenizer_path",
    "served_model_name",
}
"""Fields that follow from free memory, free ports or the place of the models."""


class Predictions:
    """One tier's answers by launch id."""

    def __init__(
        self,
        predictions: Mapping[str, Prediction],
        causes: Mapping[str, dict[str, str]],
        places: frozenset[tuple[str, int]] = frozenset(),
    ) -> None:
        self._predictions, self._causes = predictions, causes
        self.places = places
        """Paths and lines that refuse one of the launches or change a field of it."""

    def of(self, launch: str) -> Prediction | None:
        """Return what was said about a launch (its repetitions share it)."""
        return self._predictions.get(launch) or self._predictions.get(launch.partition("~")[0])

    def causes(self, launch: str) -> dict[str, str]:
        """Return ``field: path:line:function`` of what decides each changed field."""
        return self._causes.get(launch) or self._causes.get(launch.partition("~")[0], {})


def read_resolver(path: Path) -> Predictions:
    """Read the resolver tier's output (``indexer validate resolve``).

    Raises:
        CannotError: it can't be read.
    """
    found = {}
    for answer in _lines(path):
        if "meta" in answer:
            continue
        found[answer["id"]] = Prediction(
            "resolver",
            not answer["ok"],
            None if answer["ok"] else answer["message"],
            answer.get("where"),
            {name: change[1] for name, change in answer.get("changed", {}).items()},
        )
    return Predictions(found, {})


def static_predictions(explanations: list[Explanation], models: str) -> Predictions:
    """Take explanations whose questions named the models folder ``models``."""
    text = msgspec.json.encode(explanations).decode().replace(models.rstrip("/"), "{models}")
    return _static(json.loads(text))


def _static(answers: list[dict[str, Any]]) -> Predictions:
    found, causes, places = {}, {}, set()
    for answer in answers:
        refusal = answer.get("refusal") or {}
        changed = [cause for change in answer.get("fields", {}).values() for cause in change.get("by", [])]
        lines = [cause["at"] for cause in [refusal, *changed] if cause.get("at")]
        places |= {(at["path"], at["line"]) for at in lines}
        if answer["outcome"] == "unknown":
            continue
        changes = answer.get("fields", {})
        found[answer["id"]] = Prediction(
            "static",
            answer["outcome"] == "refused",
            refusal.get("message"),
            _place(refusal.get("at")),
            {name: c.get("resolved") for name, c in changes.items() if c.get("certainty") != "may"},
        )
        causes[answer["id"]] = {
            name: place
            for name, change in changes.items()
            if change.get("by") and (place := _place(change["by"][-1].get("at")))
        }
    return Predictions(found, causes, frozenset(places))


def disagreements(
    prediction: Prediction, record: Record, info: Mapping[str, Any] | None
) -> tuple[list[str], int]:
    """Return where the real server differs from a prediction, and how many values were compared.

    A launch that a tier accepts and that dies later, while weights load or graphs are captured, is
    no disagreement: both tiers speak of the arguments only.
    """
    refused = record.outcome == "refused"
    if prediction.refused != refused:
        told = "refused" if prediction.refused else "accepted"
        return [f"{told} beforehand, {record.outcome} for real"], 0
    if refused:
        said, wanted = _words(record.error), _words(prediction.error)
        # argparse words the list of choices differently from release to release of Python.
        same = wanted[:160] in said or said[:160] in wanted or wanted.partition("(choose")[0] in said
        return ([] if same else [f"another message: {prediction.error!r}"]), 1
    if not info:
        return [], 0
    wrong, judged = [], 0
    expected = {**record.asked, **prediction.resolved}
    for name, value in expected.items():
        if name in LEFT_TO_THE_MACHINE or name not in info or not _plain(value):
            continue
        judged += 1
        if not _equal(value, info[name]):
            wrong.append(f"{name}: {value!r} expected, {info[name]!r} for real")
    return wrong, judged


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_plain(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _equal(expected: Any, real: Any) -> bool:
    if isinstance(expected, float) and isinstance(real, (int, float)):
        return abs(expected - real) <= 1e-6 * max(1.0, abs(expected))
    return expected == real


def _place(at: Mapping[str, Any] | None) -> str | None:
    if not at:
        return None
    path = str(at["path"]).removeprefix("python/")
    return f"{path}:{at['line']}" + (f":{at['symbol'].rpartition('.')[2]}" if at.get("symbol") else "")


def _lines(path: Path, models: str | None = None) -> list[dict[str, Any]]:
    try:
        text = path.read_text("utf-8")
        if models:
            text = text.replace(models.rstrip("/"), "{models}")
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise CannotError(f"{path}: {error}") from None
