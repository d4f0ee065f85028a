"""Derive a launch plan from a snapshot: what the version has, of what small models can exercise."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.knowledge.schema import Flag, Snapshot
from indexer.validate.extra import validate_extra
from indexer.validate.launchspec import Launch, Plan, asked_values, launch_id
from indexer.validate.models import RECIPES
from indexer.validate.predict import Predictions

LEVERS = Path(__file__).with_name("levers.toml")
NO_SUCH_ALGORITHM = "this version has no such algorithm"
SAMPLED = ("accept-threshold", "rejection-sampling", "block-verification")
"""Parts of the flags that only a request with a temperature feels."""


def build_plan(
    snapshot: Snapshot, gpus: int = 1, gpu: str | None = None, models: list[str] | None = None
) -> Plan:
    """Return the plan for one kind of host: baselines, algorithms, pairs, single flags, edges.

    Raises:
        CannotError: ``allpairspy`` (extra ``[validate]``) is not installed.
    """
    levers = tomllib.loads(LEVERS.read_text("utf-8"))
    maker = _Maker(snapshot, levers, models)
    maker.baselines()
    maker.algorithms()
    maker.pairs()
    maker.listed("singles")
    maker.listed("edges")
    maker.algorithms_left_out()
    base = [word for flag in levers["base"] if maker.has(flag) for word in flag.split()]
    plan = Plan(snapshot.source.version, base, list(maker.launches.values()), gpu=gpu, gpus=gpus)
    if gpus > 1:
        plan.launches = list(maker.on_more_gpus())
    plan.left_out = list(maker.left_out.items())
    if gpus == 1:
        plan.left_out += _unexercised(plan, snapshot, levers["reasons"])
    return plan


class _Maker:
    """Collects launches by what they are, so that none is planned twice."""

    def __init__(self, snapshot: Snapshot, levers: dict[str, Any], models: list[str] | None) -> None:
        self.levers, self.models = levers, models
        self.by_option = {option: flag for flag in snapshot.flags for option in flag.option_strings}
        self.known = {a.name for a in snapshot.algorithms if a.name != "NONE"} | {
            alias.name for a in snapshot.algorithms for alias in a.aliases
        }
        self.launches: dict[str, Launch] = {}
        self.left_out: dict[str, str] = {}

    def has(self, flags: str) -> bool:
        """Say whether the version has every option of a flag text."""
        return all(word in self.by_option for word in flags.split() if word.startswith("--"))

    def add(self, model: str, flags: str, *, why: str, **more: Any) -> None:
        """Plan one launch, if the version has its flags and the model is wanted."""
        if self.models and model not in self.models:
            return
        if not self.has(flags):
            missing = [w for w in flags.split() if w.startswith("--") and w not in self.by_option]
            self.left_out[" ".join(missing)] = "this version has no such flag"
            return
        words = flags.split()
        name = launch_id(model, words, more.get("env"))
        self.launches.setdefault(name, Launch(name, model, words, why=why, **more))

    def command(
        self, model: str, draft: str | None, algorithm: str | None, steps: str, extra: str = ""
    ) -> str:
        """Return the flags of an algorithm (or of none) on a model."""
        parts = [f"--speculative-algorithm {algorithm}"] if algorithm else []
        if draft:
            parts.append(f"--speculative-draft-model-path {{models}}/{draft}")
        names = ("num-steps", "eagle-topk", "num-draft-tokens")
        parts += [
            f"--speculative-{n} {v}" for n, v in zip(names, steps.replace(",", " ").split(), strict=False)
        ]
        return " ".join([*parts, extra]).strip()

    def baselines(self) -> None:
        """A run without speculation for every model, with the gaps that parity is judged by."""
        for setup in self.levers["setups"]:
            backends = ["triton"] if setup.get("backend", True) else [""]
            if setup.get("pairwise"):
                backends = self._backends()
            for backend in backends:
                flags = f"{f'--attention-backend {backend} ' if backend else ''}{setup.get('flags', '')}"
                self.add(setup["model"], flags, why="baseline", margins=True)

    def _backends(self) -> list[str]:
        flag = self.by_option.get("--attention-backend")
        choices = flag.choices if flag and isinstance(flag.choices, list) else self.levers["backends"]
        return [backend for backend in self.levers["backends"] if backend in choices]

    def algorithms(self) -> None:
        """Every algorithm of the version on every model that it can be built small for."""
        for setup in self.levers["setups"]:
            for algorithm in setup["algorithms"]:
                if algorithm not in self.known:
                    self.left_out[algorithm] = NO_SUCH_ALGORITHM
                    continue
                backend = "--attention-backend triton" if setup.get("backend", True) else ""
                extra = f"{backend} {setup.get('flags', '')}".strip()
                sizes = ["", *self.levers["steps"][:1], *self.levers["steps"][-1:]]
                for steps in sizes if setup.get("steps", True) else [""]:
                    command = self.command(setup["model"], setup.get("draft"), algorithm, steps, extra)
                    self.add(setup["model"], command, why="algorithm")

    def algorithms_left_out(self) -> None:
        """Note the algorithms of the version that no launch asks for."""
        asked = {word for launch in self.launches.values() for word in launch.flags}
        for name in sorted(self.known - asked):
            self.left_out[name] = "no small draft model is made for it"

    def pairs(self) -> None:
        """Every pair of lever values at least once, on the setups marked for it."""
        with validate_extra():
            from allpairspy import AllPairs
        for setup in self.levers["setups"]:
            algorithm = next((name for name in setup["algorithms"] if name in self.known), None)
            if not setup.get("pairwise") or algorithm is None:
                continue
            hybrid = RECIPES[setup["model"]].family.startswith("hybrid")
            levers = [self.levers["steps"], [f"--attention-backend {b}" for b in self._backends()]]
            for name, values in self.levers["pairwise"].items():
                if hybrid or name in ("overlap", "page"):
                    levers.append([v for value in values for v in self._expanded(value) if self.has(v)])
            for steps, *rest in AllPairs(levers):
                extra = " ".join(word for word in rest if word)
                command = self.command(setup["model"], setup.get("draft"), algorithm, steps, extra)
                self.add(setup["model"], command, why="pairwise")

    def _expanded(self, value: str) -> list[str]:
        """Return ``--flag *`` as one value for each choice that the version documents."""
        option, star, _ = value.partition(" *")
        flag = self.by_option.get(option)
        if not star:
            return [value]
        return (
            [f"{option} {choice}" for choice in flag.choices]
            if flag and isinstance(flag.choices, list)
            else []
        )

    def listed(self, table: str) -> None:
        """The single flags, or the edges, of the lever file."""
        for entry in self.levers[table].values():
            model, draft, algorithm, steps = entry["on"].split()
            if not entry.get("unknown") and algorithm not in self.known | {"-"}:
                self.left_out[algorithm] = NO_SUCH_ALGORITHM
                continue
            base = self.command(
                model,
                None if draft == "-" else draft,
                None if algorithm == "-" else algorithm,
                "" if steps == "-" else steps,
                entry.get("with", ""),
            )
            for flags in entry["flags"]:
                backend = "" if "--attention-backend" in flags + base else entry.get("backend", "triton")
                extra = f"--attention-backend {backend} {flags}" if backend else flags
                # A corpus is text: reading it takes the tokenizer.
                without = ["--skip-tokenizer-init"] if "external-corpus" in flags else []
                sample = any(word in flags for word in SAMPLED)
                env = entry.get("env", {})
                self.add(model, f"{base} {extra}".strip(), why=table, without=without, sample=sample, env=env)

    def on_more_gpus(self) -> Iterator[Launch]:
        """The baselines and algorithms again, spread over the GPUs of one host."""
        for entry in self.levers["two_gpus"].values():
            for launch in self.launches.values():
                triton = "--attention-backend triton" in " ".join(launch.flags)
                plain = triton and launch.why in ("baseline", "algorithm")
                if launch.model in entry["models"] and plain:
                    flags = [*launch.flags, *entry["with"].split()]
                    name = launch_id(launch.model, flags)
                    yield Launch(name, launch.model, flags, margins=launch.margins, brief=True)


def mark(plan: Plan, predictions: Predictions) -> None:
    """Write into each launch whether it is a refusal, an override, a baseline or a plain one."""
    for launch in plan.launches:
        said = predictions.of(launch.id)
        speculative = "--speculative-algorithm" in launch.flags
        launch.kind = "serve" if speculative else "baseline"
        if said and said.refused:
            launch.kind = "refusal"
        elif said and any(flag_changed(launch, name) for name in said.resolved):
            launch.kind = "override"


def flag_changed(launch: Launch, field: str) -> bool:
    """Say whether a changed field is one that the launch itself asks for."""
    return f"--{field.replace('_', '-')}" in launch.flags


def coverage(plan: Plan, snapshot: Snapshot) -> dict[str, tuple[int, int]]:
    """Return ``(exercised, documented)`` for the speculative flags and their choices."""
    asked = [(launch, asked_values(launch.flags, snapshot)) for launch in plan.launches]
    flags = [flag for flag in snapshot.flags if _speculative(flag)]
    used = {dest for _, values in asked for dest in values}
    choices = {(f.dest, c) for f in flags if isinstance(f.choices, list) for c in map(str, f.choices)}
    tried = {(dest, str(value)) for _, values in asked for dest, value in values.items()}
    return {
        "speculative flags": (sum(flag.dest in used for flag in flags), len(flags)),
        "choices": (len(choices & tried), len(choices)),
        "algorithms": (
            len(
                {a.name for a in snapshot.algorithms}
                & {str(v.get("speculative_algorithm")) for _, v in asked}
            ),
            len(snapshot.algorithms),
        ),
    }


def rule_coverage(predictions: Predictions, snapshot: Snapshot) -> tuple[int, int]:
    """Return how many of the rules that name a speculative flag act on a planned launch, of how many."""
    fields = {flag.dest for flag in snapshot.flags if _speculative(flag)}
    acting = [rule for rule in snapshot.rules if rule.kind in ("error", "assert", "override")]
    wanted = [rule.at for rule in acting if fields & set(rule.flags)]
    hit = [
        at
        for at in wanted
        if any((at.path, line) in predictions.places for line in range(at.line, (at.end_line or at.line) + 1))
    ]
    return len(hit), len(wanted)


def _speculative(flag: Flag) -> bool:
    return flag.name.startswith(("speculative", "decoupled-spec", "spec-"))


def _unexercised(plan: Plan, snapshot: Snapshot, reasons: dict[str, str]) -> list[tuple[str, str]]:
    used = {dest for launch in plan.launches for dest in asked_values(launch.flags, snapshot)}
    return [
        (f"--{flag.name}", reasons.get(flag.name, "no lever sets it yet"))
        for flag in snapshot.flags
        if _speculative(flag) and flag.dest not in used
    ]
