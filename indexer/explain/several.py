"""One launch, many releases: side by side where there is more than one core."""

from __future__ import annotations

import multiprocessing
import os
from functools import partial

from indexer.errors import CannotError
from indexer.explain.explain import Explainer
from indexer.explain.explanation import UNKNOWN, Explanation, UnknownFact
from indexer.explain.launches import Question
from indexer.source import open_source


def explain_versions(versions: list[str], question: Question, most_paths: int) -> list[Explanation]:
    """Return what each release makes of the launch, in their order.

    What stops one release's answer (it can't be fetched or read) is that release's answer.
    """
    work = partial(_explain_version, question=question, most_paths=most_paths)
    workers = min(len(versions), os.cpu_count() or 1)
    if workers < 2:
        return [work(version) for version in versions]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        return pool.map(work, versions, chunksize=1)


def _explain_version(version: str, question: Question, most_paths: int) -> Explanation:
    try:
        return Explainer(open_source(version), most_paths).explain(question)
    except CannotError as error:
        return Explanation(version, UNKNOWN, unknowns=[UnknownFact("outcome", str(error))])
