"""``indexer validate``: prove on real GPUs that what is documented works, and keep the evidence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.validate.extra import validate_extra

if TYPE_CHECKING:
    from indexer.validate.launchspec import Plan
    from indexer.validate.predict import Predictions

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("validate")
def command() -> None:
    """Plan launches from a version's facts, run real servers, keep what they prove.

    \b
    indexer validate plan --version 0.5.17 -o plan.json
    indexer validate run plan.json --models ./models --out ./results --local
    indexer validate collect ./results --plan plan.json -o ./evidence
    """


@command.command("plan")
@click.option("--version", metavar="V", help="A release (default: the default pin).")
@click.option("--gpus", type=click.IntRange(1), default=1, show_default=True, help="GPUs of the host.")
@click.option("--gpu", metavar="NAME", default="H200", show_default=True, help="The kind of GPU.")
@click.option("--models", metavar="NAME,…", help="Only these small models.")
@click.option("--static/--no-static", default=False, help="Ask `explain` about every launch.")
@click.option("-o", "--out", type=FILE, help="Write the plan here (default: print it as JSON).")
def plan_command(
    version: str | None, gpus: int, gpu: str, models: str | None, static: bool, out: Path | None
) -> None:
    """Derive the launches from the version's flags, choices and algorithms."""
    import msgspec

    from indexer.knowledge.store import write_atomically
    from indexer.snapshots import get_snapshot

    with validate_extra():
        from indexer.validate.plan import build_plan, coverage, mark, rule_coverage

    snapshot = get_snapshot(version, code_paths=False)
    made = build_plan(snapshot, gpus, gpu, models.split(",") if models else None)
    predictions = _static(made, None) if static else None
    if predictions:
        mark(made, predictions)
    data = msgspec.json.format(msgspec.json.encode(made), indent=1)
    if out is None:
        click.echo(data.decode())
        return
    write_atomically(out, data + b"\n")
    click.echo(f"{len(made.launches)} launches of {made.version} for {gpus} × {gpu}: {out}")
    for name, (used, there) in coverage(made, snapshot).items():
        click.echo(f"  {name}: {used} of {there}")
    if predictions:
        acting, documented = rule_coverage(predictions, snapshot)
        click.echo(f"  rules about them: {acting} of {documented}")
    for what, why in made.left_out:
        click.echo(f"  not exercised: {what}: {why}")


@command.command("models")
@click.argument("folder", type=FOLDER)
@click.argument("names", nargs=-1)
def models_command(folder: Path, names: tuple[str, ...]) -> None:
    """Write the small models (all, or those named) with their digests in models.json."""
    import json

    from indexer.errors import UsageError
    from indexer.knowledge.store import write_atomically

    with validate_extra():
        from indexer.validate.models import RECIPES, write_models
    unknown = [name for name in names if name not in RECIPES]
    if unknown:
        raise UsageError(f"no model {unknown[0]}", f"there are {', '.join(RECIPES)}")
    digests = write_models(folder, names)
    write_atomically(folder / "models.json", json.dumps(digests, indent=1).encode() + b"\n")
    click.echo(f"{len(digests)} models in {folder}")


@command.command("resolve")
@click.argument("plan", type=FILE)
@click.option("--models", type=FOLDER, required=True, help="The models folder.")
@click.option("--python", "interpreter", required=True, help="An interpreter with that SGLang.")
@click.option("--gpu", default=None, help="Describe a GPU instead of asking for one: H200, or JSON.")
@click.option("--jobs", type=int, default=2, show_default=True)
@click.option("-o", "--out", type=FILE, required=True)
def resolve_command(
    plan: Path, models: Path, interpreter: str, gpu: str | None, jobs: int, out: Path
) -> None:
    """Run the real SGLang's argument resolver on every launch; no server, no GPU needed."""
    import json
    import tempfile

    from indexer.validate import resolver
    from indexer.validate.hosts.local import follow
    from indexer.validate.launchspec import arguments, read_plan

    made = read_plan(plan)
    cases = [{"id": one.id, "argv": arguments(made, one), "env": one.env} for one in made.launches]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps(cases), "utf-8")
        words = [interpreter, str(resolver.__file__), "--cases", str(file), "--models", str(models)]
        words += ["--out", str(out), "--jobs", str(jobs), *(["--gpu", gpu] if gpu else [])]
        follow(words, dict(os.environ), lambda line: click.echo(line, err=True))


@command.command("run")
@click.argument("plan", type=FILE)
@click.option("--models", type=FOLDER, help="The models folder (made when it is not there).")
@click.option("--out", type=FOLDER, required=True, help="Raw results; finished launches are skipped.")
@click.option("--local", "where", flag_value="local", default=True, help="On this machine.")
@click.option("--ssh", "host", metavar="USER@HOST", help="On a host reached by OpenSSH.")
@click.option("--ray", "address", metavar="ADDRESS", help="On a Ray cluster.")
@click.option("--enter", metavar="COMMAND", help="With --ssh: leads into a container there.")
@click.option("--python", "interpreter", help="The interpreter that has SGLang.")
@click.option("--sglang", help="A folder with sglang in it (a checkout's python/).")
@click.option("--width", type=click.IntRange(1), default=8, show_default=True, help="Servers at a time.")
@click.option("--deadline", type=float, help="End everything after so many seconds.")
@click.option("--only", metavar="PATTERN", default="*", show_default=True, help="Launch ids to run.")
@click.option("--resume", is_flag=True, help="Continue in a folder that holds results.")
def run_command(
    plan: Path,
    models: Path | None,
    out: Path,
    where: str,
    host: str | None,
    address: str | None,
    enter: str | None,
    interpreter: str | None,
    sglang: str | None,
    width: int,
    deadline: float | None,
    only: str,
    resume: bool,
) -> None:
    """Start the plan's servers side by side, send the requests, keep the raw results.

    Exit code 1 where launches are left to be done (--resume continues).
    """
    import sys

    from indexer.errors import UsageError
    from indexer.validate.launchspec import read_plan

    made = read_plan(plan)
    if out.is_dir() and any(out.glob("*.json")) and not resume:
        raise UsageError(f"{out} holds results", "continue with --resume, or name a new folder")
    options = ["--width", str(width), "--only", only, *(["--deadline", str(deadline)] if deadline else [])]
    with _progress(len(made.launches)) as told:
        if address:
            from indexer.validate.hosts import cluster

            code = cluster.run(address, made, out, interpreter, options[2:], told)
        elif host:
            code = _over_ssh(host, made, out, interpreter, sglang, enter, options, told)
        else:
            from indexer.validate.hosts import local

            with validate_extra():
                from indexer.validate.models import write_models

            models = models or out.parent / "models"
            if not models.is_dir():
                write_models(models)
            code = local.run(plan, models, out, interpreter, Path(sglang) if sglang else None, options, told)
    sys.exit(code)


def _over_ssh(
    host: str,
    plan: Plan,
    out: Path,
    interpreter: str | None,
    sglang: str | None,
    enter: str | None,
    options: list[str],
    told: Any,
) -> int:
    import tempfile

    from indexer.validate.bundle import write_bundle
    from indexer.validate.hosts import ssh

    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle"
        write_bundle(bundle, plan)
        return ssh.run(host, bundle, out, interpreter, sglang, enter, options, told)


@command.command("bundle")
@click.argument("plan", type=FILE)
@click.argument("target", type=FOLDER)
@click.option("--wheels", type=FILE, help="A wheel list; without it the host must have SGLang.")
@click.option("--sm", type=int, help="Keep GPU code of this SM alone (90: Hopper).")
@click.option("--part-mib", type=float, default=1024, show_default=True, help="Size of a part.")
@click.option("--python-version", default="3.12", show_default=True, help="CPython of the host.")
@click.option("--find-links", type=FOLDER, multiple=True, help="Folders with wheels already here.")
@click.option("--quick", is_flag=True, help="Pack large libraries in a tenth of the time, a bit larger.")
def bundle_command(
    plan: Path,
    target: Path,
    wheels: Path | None,
    sm: int | None,
    part_mib: float,
    python_version: str,
    find_links: tuple[Path, ...],
    quick: bool,
) -> None:
    """Write a folder that runs the plan on a host without network (run.sh there)."""
    from indexer.validate.bundle import write_bundle
    from indexer.validate.launchspec import read_plan

    size = int(part_mib * 2**20)
    links = list(find_links)
    made = write_bundle(target, read_plan(plan), wheels, sm, size, python_version, links, quick)
    click.echo(f"{target}: {len(made)} parts; there: sh run.sh")


@command.command("collect")
@click.argument("results", type=FOLDER)
@click.option("--plan", "plan_file", type=FILE, required=True, help="The plan that was run.")
@click.option("--models", type=FILE, help="models.json of the run, for the models' digests.")
@click.option("--resolved", type=FILE, help="The resolver tier's answers.")
@click.option("--static/--no-static", default=True, help="Ask `explain` about every launch.")
@click.option("-o", "--out", type=FOLDER, required=True, help="Where the records go.")
def collect_command(
    results: Path,
    plan_file: Path,
    models: Path | None,
    resolved: Path | None,
    static: bool,
    out: Path,
) -> None:
    """Judge raw results and write one record a launch. Exit code 1 where a check failed."""
    import json
    import sys

    from indexer.errors import CLEAN, FINDINGS
    from indexer.snapshots import get_snapshot
    from indexer.validate.launchspec import read_plan
    from indexer.validate.predict import read_resolver
    from indexer.validate.records import save

    with validate_extra():
        from indexer.validate.collect import collect

    made = read_plan(plan_file)
    predictions = [read_resolver(resolved)] if resolved else []
    if static:
        predictions.append(_static(made, results))
    digests = json.loads(models.read_bytes()) if models else {}
    records = collect(results, made, get_snapshot(made.version, code_paths=False), predictions, digests)
    save(records, out)
    failed = [record for record in records if not record.proved]
    for record in failed:
        click.echo(_told(record))
    click.echo(f"{len(records)} records in {out}, {len(records) - len(failed)} proved what they were for")
    sys.exit(FINDINGS if failed else CLEAN)


@command.command("show")
@click.argument("pattern", default="*")
@click.option("--evidence", type=FOLDER, help="The records (default: those that ship).")
@click.option("--json", "as_json", is_flag=True, help="The records as JSON lines.")
@click.option("--schema", "as_schema", is_flag=True, help="The JSON schema of a record.")
def show_command(pattern: str, evidence: Path | None, as_json: bool, as_schema: bool) -> None:
    """Show the records whose flags (without dashes) or outcome match PATTERN, or whose name holds it."""
    import fnmatch
    import json

    import msgspec

    from indexer._resources import data_path
    from indexer.cli._terminal import fit
    from indexer.errors import UsageError
    from indexer.validate import records

    if as_schema:
        click.echo(json.dumps(records.schema(), indent=1))
        return
    found = [
        record
        for record in records.load(evidence or data_path("evidence"))
        if any(
            fnmatch.fnmatch(text.lstrip("-"), pattern)
            for text in (record.id, record.launch, *record.flags, record.outcome)
        )
        or pattern in record.id
    ]
    if not found:
        raise UsageError(f"no record matches {pattern!r}", "see `indexer validate show`")
    for record in found:
        click.echo(msgspec.json.encode(record) if as_json else fit(_told(record)))


def _told(record: Any) -> str:
    mark = "proved" if record.proved else "NOT PROVED"
    lines = [f"{record.id}: {record.outcome}, {mark}"]
    if record.error:
        lines.append(f"    {record.error} ({record.where})")
    lines += [f"    {c.name}: {c.detail}" for c in record.checks if c.passed is False]
    return "\n".join(lines)


def _static(plan: Plan, results: Path | None) -> Predictions:
    """Ask the static tier about every launch of a plan, with the models made for the purpose."""
    import tempfile

    from indexer.explain.explain import Explainer
    from indexer.explain.launches import Question
    from indexer.source.release import open_release
    from indexer.validate.launchspec import arguments
    from indexer.validate.predict import static_predictions

    with validate_extra():
        from indexer.validate.models import write_models

    wanted = [one for one in plan.launches if results is None or (results / f"{one.id}.json").exists()]
    with tempfile.TemporaryDirectory() as folder, _progress(len(wanted)) as told:
        write_models(Path(folder))
        explainer = Explainer(open_release(plan.version))
        answers = []
        for one in wanted:
            argv = [word.replace("{models}", folder) for word in arguments(plan, one)]
            question = Question(argv=argv, env=one.env, gpu=plan.gpu, gpus=plan.gpus, id=one.id)
            answers.append(explainer.explain(question))
            told(f"{one.id}: {answers[-1].outcome}")
        return static_predictions(answers, folder)


def _progress(total: int) -> Any:
    """Return a context whose value takes lines: shown above a bar on a terminal, printed elsewhere."""
    import contextlib

    @contextlib.contextmanager
    def shown() -> Any:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

        console = Console(stderr=True)
        if not console.is_terminal:
            yield lambda line: click.echo(line, err=True)
            return
        with Progress(
            *Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
        ) as bar:
            task = bar.add_task("launches", total=total)

            def told(line: str) -> None:
                bar.console.print(line, highlight=False, markup=False)
                bar.advance(task)

            yield told

    return shown()
