"""Many questions in one process: JSON lines in, one JSON answer a line out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from indexer.errors import CannotError, IndexerError
from indexer.explain.annotate import Annotator, annotator_of
from indexer.explain.command import server_arguments
from indexer.explain.explain import Explainer
from indexer.explain.explanation import UNKNOWN, Explanation, UnknownFact
from indexer.explain.launches import Question
from indexer.source.tree import SourceTree


class BatchLine(msgspec.Struct):
    """One question; ``argv`` without the program. ``packages`` maps a name to a version or null."""

    argv: list[str]
    id: str | int | None = None
    model: str | None = None
    arch: str | None = None
    env: dict[str, str] = {}
    gpu: str | None = None
    gpus: int | None = None
    packages: dict[str, str | None] | list[str] = {}
    host_ram_bytes: int | None = None
    cpus: int | None = None


def run_batch(file: Path, trees: list[SourceTree], most_paths: int, out: BinaryIO) -> None:
    """Answer every line of ``file`` for every tree, in order, as soon as each is known.

    A line that can't be answered gets an answer that says why, so that lines in and out correspond.

    Raises:
        CannotError: the file can't be read.
    """
    explainers = [Explainer(tree, most_paths) for tree in trees]
    annotators = {
        tree.version: annotator_of(tree.version, extract=False) for tree in trees if tree.origin == "release"
    }
    for number, line in _lines(file):
        asked: BatchLine | None
        problem = ""
        try:
            asked = msgspec.json.decode(line, type=BatchLine)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            asked = None
            problem = f"{file}:{number}: not a question ({error})"
        for explainer in explainers:
            if asked is None:
                answer = Explanation(
                    explainer.tree.version, UNKNOWN, unknowns=[UnknownFact("outcome", problem)]
                )
            else:
                answer = _answer(explainer, annotators.get(explainer.tree.version), asked)
            out.write(msgspec.json.encode(answer) + b"\n")
            out.flush()


def _answer(explainer: Explainer, annotator: Annotator | None, asked: BatchLine) -> Explanation:
    identity = None if asked.id is None else str(asked.id)
    try:
        argv, variables = server_arguments(asked.argv)
        question = Question(
            argv=argv,
            model=asked.model,
            arch=asked.arch,
            env=variables | asked.env,
            gpu=asked.gpu,
            gpus=asked.gpus,
            packages=_packages(asked.packages),
            host_ram_bytes=asked.host_ram_bytes,
            cpus=asked.cpus,
            id=identity,
        )
        answer = explainer.explain(question)
        return annotator.annotate(answer, question) if annotator is not None else answer
    except IndexerError as error:
        return Explanation(
            explainer.tree.version, UNKNOWN, unknowns=[UnknownFact("outcome", str(error))], id=identity
        )


def _packages(given: dict[str, str | None] | list[str]) -> dict[str, str]:
    if isinstance(given, list):
        return {name: version for name, _, version in (one.partition("=") for one in given)}
    return {name: "none" if version is None else version for name, version in given.items()}


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        stream = sys.stdin.buffer if str(file) == "-" else file.open("rb")
    except OSError as error:
        raise CannotError(f"{file}: {error.strerror}") from error
    with stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, line
