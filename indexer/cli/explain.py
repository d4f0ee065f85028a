"""``indexer explain``: what will SGLang do with this command?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from indexer.explain.explanation import Explanation
    from indexer.source.tree import SourceTree


class _Explain(click.Command):
    """Without ``--``, options that aren't ours are the server's; before a ``--`` they are mistakes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = "--" not in args
        return super().parse_args(ctx, args)


@click.command("explain", cls=_Explain)
@click.option("--version", "versions", multiple=True, metavar="V", help="A release (again for more).")
@click.option("--versions", "span", metavar="A..B", help="All releases from A to B (A..: to the newest).")
@click.option("--checkout", type=click.Path(path_type=Path), help="A SGLang git checkout instead.")
@click.option("--rev", help="A revision of the checkout.")
@click.option("--model", type=click.Path(path_type=Path), help="Folder with the model's config.json.")
@click.option("--arch", metavar="NAME", help="An architecture, where there is no config.json.")
@click.option("--gpu", metavar="NAME", help="H200, B200, 'RTX PRO 6000', cpu, or sm120:96GiB.")
@click.option("--gpus", type=click.IntRange(min=1), metavar="N", help="How many GPUs there are.")
@click.option("--env", "env", multiple=True, metavar="K=V", help="An environment variable.")
@click.option("--package", "packages", multiple=True, metavar="NAME=VERSION", help="What is installed.")
@click.option(
    "--host-ram", type=click.FloatRange(min=0, min_open=True), metavar="GiB", help="Memory of the host."
)
@click.option(
    "--paths", type=click.IntRange(min=1), default=48, show_default=True, help="Most combinations to try."
)
@click.option("--batch", type=click.Path(path_type=Path), help="JSON lines of questions ('-': stdin).")
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(
    versions: tuple[str, ...],
    span: str | None,
    checkout: Path | None,
    rev: str | None,
    model: Path | None,
    arch: str | None,
    gpu: str | None,
    gpus: int | None,
    env: tuple[str, ...],
    packages: tuple[str, ...],
    host_ram: float | None,
    paths: int,
    batch: Path | None,
    as_json: bool,
    words: tuple[str, ...],
) -> None:
    """Run the argument resolution of a release, from its source, on a command.

    \b
    indexer explain --gpu H200 --model ./qwen3-next -- \\
        python -m sglang.launch_server --speculative-algorithm NEXTN

    Exit code 1 where the launch is or may be refused, or is accepted but can't serve (a draft model that it
    doesn't name, too few GPUs); 3 where that can't be known; with --batch, whose answers say it, 0.
    """
    from indexer.errors import CANNOT, FINDINGS, UsageError
    from indexer.explain.explanation import UNKNOWN

    _refuse_contradictions(versions, span, checkout, rev)
    if batch is not None:
        said = {
            "--model": model, "--arch": arch, "--gpu": gpu, "--gpus": gpus, "--env": env,
            "--package": packages, "--host-ram": host_ram, "a command": words,
        }  # fmt: skip
        stray = [name for name, value in said.items() if value]
        if stray:
            raise UsageError(f"--batch and {stray[0]}: each question of a batch says its own", "leave it out")
        from indexer.explain.batch import run_batch

        named: list[str | None] = [*_named(versions, span)] or [None]
        trees = [_tree(version, checkout, rev) for version in named]
        run_batch(batch, trees, paths, sys.stdout.buffer)
        return
    if not words:
        raise UsageError("no command to explain", "put it after --, or give its arguments")
    question = _question(words, model, arch, gpu, gpus, env, packages, host_ram)
    answers = _explain_all(_named(versions, span), checkout, rev, question, paths)
    if as_json:
        import msgspec

        payload: Any = answers[0] if len(answers) == 1 else answers
        click.echo(msgspec.json.format(msgspec.json.encode(payload), indent=2).decode())
    else:
        from indexer.explain.render import render

        click.echo(render(answers))
        _tell_meant(answers, question.argv)
    if any(answer.refusal or answer.refusals or answer.reservations for answer in answers):
        raise SystemExit(FINDINGS)
    if any(answer.outcome == UNKNOWN or not answer.looked_up for answer in answers):
        raise SystemExit(CANNOT)


def _tell_meant(answers: list[Explanation], argv: list[str]) -> None:
    """Say which algorithm was probably meant by a name that a refusing release has not."""
    from indexer.explain.hints import meant_algorithm

    refusing = [answer.version for answer in answers if answer.refusal or answer.refusals]
    meant = meant_algorithm(argv, refusing[-1]) if refusing else None
    if meant is not None:
        click.echo(f"\nDid you mean --speculative-algorithm {meant}?")


def _refuse_contradictions(
    versions: tuple[str, ...], span: str | None, checkout: Path | None, rev: str | None
) -> None:
    """Refuse two ways at once of saying which SGLang is meant.

    Raises:
        UsageError: there are two.
    """
    from indexer.errors import UsageError

    if versions and span:
        raise UsageError(
            "--version and --versions both say which releases",
            "give --versions A..B alone",
        )
    if checkout is not None and (versions or span):
        raise UsageError("--checkout and --version both say which SGLang", "give one of them")
    if rev is not None and checkout is None:
        raise UsageError("--rev without --checkout", "say whose revision with --checkout PATH")


def _question(
    words: tuple[str, ...],
    model: Path | None,
    arch: str | None,
    gpu: str | None,
    gpus: int | None,
    env: tuple[str, ...],
    packages: tuple[str, ...],
    host_ram: float | None,
) -> Any:
    from indexer.cli._subject import refuse_unclear
    from indexer.errors import UsageError
    from indexer.explain.command import server_arguments, split_command
    from indexer.explain.launches import Question

    argv, variables = server_arguments(split_command(words[0]) if len(words) == 1 else list(words))
    if {"-h", "--help"} & {*argv}:
        raise UsageError("--help makes the server print its options and stop", "leave it out")
    refuse_unclear(model, arch, gpu, gpus)
    return Question(
        argv=argv,
        model=str(model) if model else None,
        arch=arch,
        env=variables | _pairs(env, "--env"),
        gpu=gpu,
        gpus=gpus,
        packages=_pairs(packages, "--package"),
        host_ram_bytes=round(host_ram * (1 << 30)) if host_ram else None,
    )


def _pairs(given: tuple[str, ...], option: str) -> dict[str, str]:
    from indexer.errors import UsageError

    pairs = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} {one}: not NAME=VALUE")
        pairs[name] = value
    return pairs


def _named(versions: tuple[str, ...], span: str | None) -> list[str]:
    if not span:
        return [*versions]
    from indexer.knowledge.history import load_history
    from indexer.knowledge.spans import versions_between

    return versions_between(span, load_history().versions)


def _tree(version: str | None, checkout: Path | None, rev: str | None) -> SourceTree:
    from indexer.source import open_source

    return open_source(checkout=checkout, rev=rev) if checkout is not None else open_source(version)


def _explain_all(
    versions: list[str], checkout: Path | None, rev: str | None, question: Any, paths: int
) -> list[Explanation]:
    from indexer.progress import busy

    with busy(f"running the resolution of SGLang {', '.join(versions[:3])}".rstrip()):
        if len(versions) > 1 and checkout is None:
            from indexer.explain.annotate import annotate_known
            from indexer.explain.several import explain_versions

            answers = explain_versions(versions, question, paths)
            return [annotate_known(answer, question) for answer in answers]
        from indexer.explain.explain import Explainer

        tree = _tree(versions[0] if versions else None, checkout, rev)
        answer = Explainer(tree, paths).explain(question)
        if checkout is None:
            from indexer.explain.annotate import annotator_of

            annotator = annotator_of(tree.version, extract=True)
            if annotator is not None:
                annotator.annotate(answer, question)
        return [answer]
