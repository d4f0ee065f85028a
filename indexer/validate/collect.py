"""Turn a probe's raw results into records: facts from the plan, judgements from the checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from indexer.errors import CannotError
from indexer.knowledge.schema import Snapshot
from indexer.validate import checks
from indexer.validate.launchspec import Launch, Plan, asked_values, base_name
from indexer.validate.models import GENERATOR, RECIPES
from indexer.validate.predict import Predictions, disagreements
from indexer.validate.records import (
    SCHEMA_VERSION,
    Check,
    Log,
    Machine,
    ModelUsed,
    Override,
    Prediction,
    Record,
    without_source,
)

RESOLVER_PLACES = re.compile(r"sglang/srt/(server_args\.py|arg_groups/)")
"""Where an error comes from the argument resolver, for launches that no tier predicted."""
KEPT_FIELDS = re.compile(
    r"speculative|mamba|attention_backend|attn|overlap|page_size|radix|sampling_backend|max_running|"
    r"replayssm|mixed_chunk|(tp|dp|pp)_size|moe_runner|quantization|deterministic"
)
"""Fields of the server's own account that a record keeps beside the asked ones."""

Raw = dict[str, Any]


def read_results(folder: Path) -> tuple[dict[str, Any], dict[str, Raw]]:
    """Return the host's facts and the raw results by launch id of a probe's output folder.

    Raises:
        CannotError: it is no such folder, or a file in it is damaged.
    """
    host_file = folder / "host.json"
    if not host_file.is_file():
        raise CannotError(f"{folder}: no host.json here", "give the folder that the probe wrote with --out")
    results = {}
    for path in sorted(folder.glob("*.json")):
        try:
            value = json.loads(path.read_bytes())
        except ValueError as error:
            raise CannotError(f"{path.name}: damaged ({error})", "delete it and resume the run") from None
        if path != host_file:
            results[value["id"]] = value
    return json.loads(host_file.read_bytes()), results


def collect(
    folder: Path,
    plan: Plan,
    snapshot: Snapshot,
    predictions: Iterable[Predictions] = (),
    digests: Mapping[str, str] | None = None,
    earlier: Mapping[str, Raw] | None = None,
) -> list[Record]:
    """Return the records of a finished (or interrupted) run.

    ``digests`` are the model folders' digests as the host wrote them; ``earlier`` raw results of the
    same version on fewer GPUs, for parity across tensor-parallel sizes.

    Raises:
        CannotError: the folder holds no results, or they are of another version than the plan.
    """
    host, results = read_results(folder)
    found = host["versions"].get("sglang")
    if found != plan.version:
        raise CannotError(f"{folder}: results of sglang {found}, the plan is for {plan.version}")
    context = _Context(host, results, plan, snapshot, list(predictions), digests or {}, earlier or {})
    return [context.record(launch, results[launch.id]) for launch in plan.launches if launch.id in results]


class _Context:
    """What the records of one run share."""

    def __init__(
        self,
        host: dict[str, Any],
        results: dict[str, Raw],
        plan: Plan,
        snapshot: Snapshot,
        predictions: list[Predictions],
        digests: Mapping[str, str],
        earlier: Mapping[str, Raw],
    ) -> None:
        self.results, self.plan, self.snapshot = results, plan, snapshot
        self.predictions, self.digests, self.earlier = predictions, digests, earlier
        self.launches = {launch.id: launch for launch in plan.launches}
        self.versions = {**host["versions"], "cuda": host["gpu"]["cuda"]}
        gpu = host["gpu"]
        self.machine = Machine(
            gpu["name"], gpu["sm"], plan.gpus, gpu["memory"], host.get("driver"), host.get("machine")
        )

    def record(self, launch: Launch, result: Raw) -> Record:
        """Build and judge one record."""
        asked = asked_values(launch.flags, self.snapshot)
        info = result.get("server_info") or {}
        predicted = [p for source in self.predictions if (p := source.of(launch.id))]
        outcome = self._outcome(result, predicted)
        overrides = self._overrides(asked, info, launch.id)
        log = result["log"]
        record = Record(
            schema=SCHEMA_VERSION,
            id=f"{self.plan.version}-{_slug(self.machine)}-{launch.id}",
            launch=base_name(launch.id),
            kind=_kind(launch, asked, overrides, predicted, outcome),
            version=self.plan.version,
            machine=self.machine,
            versions=self.versions,
            artifact_sha256=self.snapshot.source.sha256,
            model=self._model(launch.model),
            draft=self._draft(asked),
            algorithm=asked.get("speculative_algorithm"),
            command=result["command"],
            flags=launch.flags,
            env=launch.env,
            asked=asked,
            resolved={name: value for name, value in info.items() if _kept(name, value, asked)},
            overrides=overrides,
            predicted=predicted,
            outcome=outcome,
            error=log["error"],
            where=log["where"],
            started=result["started"],
            seconds=result["seconds"],
            start_seconds=result.get("start_seconds"),
            side_by_side=result["side_by_side"],
            log=Log(
                log["digest"],
                log["lines"],
                log["telling"],
                [] if outcome == "served" else without_source(log["tail"]),
            ),
        )
        record.checks = self._checks(launch, result, record)
        if outcome == "served":
            record.numbers = _numbers(result)
            record.requests = {
                n: {"ids": r["ids"], "meta": _brief(r["meta"])} for n, r in result["requests"].items()
            }
            record.margins = result.get("margins", {})
        return record

    def _outcome(self, result: Raw, predicted: list[Prediction]) -> Any:
        if result["outcome"] == "served":
            return "served"
        if result["outcome"] != "exited":
            return "failed"
        error, where = result["log"]["error"] or "", result["log"]["where"] or ""
        if any(p.refused for p in predicted) or error.startswith("argument "):
            return "refused"
        return "refused" if not predicted and RESOLVER_PLACES.match(where) else "failed"

    def _overrides(self, asked: dict[str, Any], info: Mapping[str, Any], launch: str) -> list[Override]:
        causes: dict[str, Any] = {}
        for source in self.predictions:
            causes |= source.causes(launch)
        return [
            Override(name, value, info[name], causes.get(name))
            for name, value in asked.items()
            if name in info and not _same(value, info[name])
        ]

    def _model(self, name: str) -> ModelUsed:
        return ModelUsed(name, RECIPES[name].family, GENERATOR, self.digests.get(name, ""))

    def _draft(self, asked: dict[str, Any]) -> ModelUsed | None:
        path = str(asked.get("speculative_draft_model_path") or "")
        name = path.removeprefix("{models}/")
        return self._model(name) if name in RECIPES else None

    def _checks(self, launch: Launch, result: Raw, record: Record) -> list[Check]:
        told = [checks.stopped_clean(result)]
        for prediction in record.predicted:
            told.append(
                checks.as_predicted(
                    prediction.tier, *disagreements(prediction, record, result.get("server_info"))
                )
            )
        if record.outcome == "refused":
            message = next((p.error for p in record.predicted if p.refused), None)
            return [checks.refusal(record.error, message, record.where), *told]
        told.insert(0, checks.served(result))
        if record.outcome != "served":
            return told
        info = result["server_info"]
        speculative = bool(info.get("speculative_algorithm"))
        name, baseline = self._baseline(launch, result)
        told += [
            checks.walk(result, RECIPES[launch.model].walks),
            checks.acceptance(result, speculative, _dictated(launch, record, info)),
            checks.parity(result, baseline, name),
            checks.noise(result),
            checks.prefix_reuse(result, bool(info.get("disable_radix_cache"))),
        ]
        told += self._across_sizes(launch, result)
        return told

    def _baseline(self, launch: Launch, result: Raw) -> tuple[str | None, Raw | None]:
        """Return the run without speculation of the same model, backend and parallel sizes."""
        info = result["server_info"]
        for other in self.plan.launches:
            found = self.results.get(other.id)
            if other.model != launch.model or other.id == launch.id or not other.margins:
                continue
            if found and found["outcome"] == "served" and _alike(info, found["server_info"]):
                return other.id, found
        return None, None

    def _across_sizes(self, launch: Launch, result: Raw) -> list[Check]:
        if not launch.margins or self.plan.gpus == 1:
            return []
        backend = result["server_info"].get("attention_backend")
        for name, other in self.earlier.items():
            usable = (
                other["outcome"] == "served" and other.get("margins") and _same_model(other, launch.model)
            )
            if usable and other["server_info"].get("attention_backend") == backend:
                found = checks.parity(result, other, f"{name} on one GPU")
                return [Check("parity with one GPU", found.passed, found.detail)]
        return []


def _slug(machine: Machine) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", machine.gpu.lower()).strip("-")
    return name if machine.gpus == 1 else f"{name}-x{machine.gpus}"


def _kind(
    launch: Launch,
    asked: dict[str, Any],
    overrides: list[Override],
    predicted: list[Prediction],
    outcome: str,
) -> Any:
    if any(p.refused for p in predicted) or (not predicted and outcome == "refused"):
        return "refusal"
    if overrides:
        return "override"
    return "serve" if asked.get("speculative_algorithm") else "baseline"


def _same(asked: Any, got: Any) -> bool:
    if isinstance(asked, (int, float)) and isinstance(got, (int, float)):
        return abs(asked - got) < 1e-9
    return asked == got


def _kept(name: str, value: Any, asked: Mapping[str, Any]) -> bool:
    if name in asked:
        return True
    return value is not None and not isinstance(value, (dict, list)) and bool(KEPT_FIELDS.search(name))


def _brief(meta: Mapping[str, Any]) -> dict[str, Any]:
    names = ("cached_tokens", "spec_verify_ct", "spec_accept_length")
    return {name: meta[name] for name in names if meta.get(name) is not None}


def _numbers(result: Raw) -> dict[str, Any]:
    return {
        "accept_length": checks.accept_length(result),
        "throughput": result.get("throughput", []),
        "first_request_seconds": result["requests"]["short"]["seconds"],
        "sampled": result.get("sampled"),
        "metrics": len(result.get("metrics", [])),
    }


def _dictated(launch: Launch, record: Record, info: Mapping[str, Any]) -> int | None:
    """Return the accept length that the two models dictate, or None where they leave it open."""
    asked = record.asked
    own_layer = record.draft is None and record.algorithm not in ("NGRAM", None)
    recipe = RECIPES[record.draft.name if record.draft else launch.model]
    blurred = (
        asked.get("speculative_token_map")
        or asked.get("speculative_draft_load_format") == "dummy"
        or asked.get("speculative_dspark_sps_table_path")
        or asked.get("speculative_domino_candidate_pool_size")
        or info.get("speculative_adaptive")
    )
    if blurred or not RECIPES[launch.model].walks or not recipe.right or not (record.draft or own_layer):
        return None
    if recipe.right == "first":
        return 2
    steps, tokens = info.get("speculative_num_steps"), info.get("speculative_num_draft_tokens")
    if recipe.family in ("domino", "dspark"):
        return tokens
    return steps + 1 if steps else None


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    names = ("attention_backend", "tp_size", "dp_size", "pp_size")
    return all(one.get(name) == other.get(name) for name in names)


def _same_model(result: Raw, model: str) -> bool:
    return f"{{models}}/{model}" in result["command"]
