"""``indexer report``: the full report for a model, algorithm and GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from indexer.explain.report.gather import Report
    from indexer.knowledge.schema import Snapshot

_PROVED = ("speculative", "mamba", "linear_attn")


@click.command("report")
@click.option("--version", "version", metavar="V", help="A release (default: the default pin).")
@click.option("--model", type=click.Path(path_type=Path), help="Folder with the model's config.json.")
@click.option("--arch", metavar="NAME", help="An architecture, where there is no config.json.")
@click.option("--algorithm", default="NEXTN", show_default=True, help="The speculative algorithm.")
@click.option("--draft", metavar="PATH", help="The draft model, where the algorithm needs one.")
@click.option("--gpu", metavar="NAME", help="H200, 'RTX PRO 6000', cpu, or sm120:96GiB.")
@click.option("--gpus", type=click.IntRange(min=1), metavar="N", help="How many GPUs (sets --tp-size).")
@click.option(
    "--weights",
    "weights_gib",
    type=click.FloatRange(min=0),
    metavar="GIB",
    help="Weights on each GPU, target and draft; default: the checkpoint's index, if it is there.",
)
@click.option("--format", "form", type=click.Choice(["markdown", "html", "json"]), default="markdown")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to FILE.")
def command(
    version: str | None,
    model: Path | None,
    arch: str | None,
    algorithm: str,
    draft: str | None,
    gpu: str | None,
    gpus: int | None,
    weights_gib: float | None,
    form: str,
    output: Path | None,
) -> None:
    """Everything there is to know before launching MODEL with a speculative algorithm.

    \b
    indexer report --arch Qwen3_5MoeForConditionalGeneration --gpu H200 --gpus 4
    """
    from indexer.cli._subject import refuse_unclear
    from indexer.errors import UsageError
    from indexer.explain.report.gather import as_json, gather
    from indexer.knowledge.store import write_atomically
    from indexer.progress import busy
    from indexer.snapshots import get_snapshot
    from indexer.source import open_source

    if model is None and arch is None:
        raise UsageError("which model?", "give the folder of its config.json with --model, or --arch NAME")
    refuse_unclear(model, arch, gpu, gpus)
    if model is not None:
        _read_config(model / "config.json")
    with busy("reading SGLang and running its argument resolution"):
        tree = open_source(version)
        snapshot = get_snapshot(tree.version, tree)
        report = gather(
            tree,
            snapshot,
            model=model,
            arch=arch,
            algorithm=algorithm,
            gpu=gpu,
            gpus=gpus,
            draft=draft,
            env={},
            weights_gib=weights_gib,
        )
        _add_evidence(snapshot, report)
    if form == "json":
        text = as_json(report).decode()
    else:
        from indexer.explain.report.markdown import markdown

        text = markdown(report)
        if form == "html":
            from indexer.explain.report.page import page

            text = page(text)
    if output is not None:
        write_atomically(output, text.encode())
        click.echo(str(output), err=True)
    else:
        click.echo(text, nl=False)


def _read_config(file: Path) -> None:
    """Make sure that a model's configuration can be read: without one there is nothing to report on.

    Raises:
        CannotError: it is no JSON object.
    """
    import msgspec

    from indexer.errors import CannotError

    try:
        msgspec.json.decode(file.read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise CannotError(f"{file} is no model's configuration: {error}", "fetch it anew") from error


def _add_evidence(snapshot: Snapshot, report: Report) -> None:
    """Add what the shipped launch records say of the report's algorithm and flags, and of which models."""
    from indexer._resources import data_path
    from indexer.explain.report.gather import Proof
    from indexer.validate.matrix import build_matrix
    from indexer.validate.records import load
    from indexer.validate.small_models import models_of

    try:
        matrix = build_matrix(load(data_path("evidence")), snapshot)
    except FileNotFoundError:
        return
    name = report.algorithm_fact.name if report.algorithm_fact else report.algorithm
    spellings = {report.algorithm.upper(), name}
    if report.algorithm_fact:
        spellings |= {alias.name for alias in report.algorithm_fact.aliases}
    subjects = [f"algorithm:{one}" for one in sorted(spellings)]
    kind = (report.model.hybrid or {}).get("kind") if report.model is not None else None
    if report.memory is not None and kind is not None:
        family = f"family:hybrid-{kind}".lower()
        subjects += sorted({one.subject for one in matrix.cells if one.subject.startswith(family)})
    about = [flag for flag in report.flags if flag.dest.startswith(_PROVED)]
    subjects += [f"flag:{flag.name}" for flag in about]
    found = [
        Proof(cell.subject, cell.machine, cell.version, cell.state, cell.records, cell.line)
        for subject in dict.fromkeys(subjects)
        for cell in matrix.of(subject)
        if cell.machine
    ]
    report.evidence = sorted(found, key=lambda proof: proof.version != report.version)
    told = {one for proof in found for ids in proof.launches.values() for one in ids}
    report.launched = models_of(record for id, record in matrix.records.items() if id in told)
