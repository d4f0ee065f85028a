"""One search document per fact of a snapshot: what both search engines index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from indexer.knowledge.addresses import address_of, every_fact, fact_id, fact_name
from indexer.knowledge.schema import Algorithm, CodePath, EnvVar, Flag, Location, Model, Rule, Snapshot
from indexer.knowledge.values import plain_form
from indexer.search.words import alternatives, words

_FILLED_IN = re.compile(r"\{[^{}]*\}")
_LONGEST_RULE = 600
"""Characters of a rule that are searched: some guards are pages long."""

_TOPIC = ("speculative", "draft", "mamba", "eagle", "nextn", "ssm", "hybrid", "linear_attn", "spec_")
"""Words of the names this index is about; such facts come first among equals."""


class Document(msgspec.Struct):
    """What can be found: a fact, the names it goes by, the values it takes, and the words said about it.

    ``names`` are identifiers, best first; ``about`` is a line for a reader, ``text`` the words that are
    searched beside the names, ``code`` those of conditions, which say less; ``weight`` (about 1) puts the
    facts this index is about before others that match as well.
    """

    id: str
    kind: str
    name: str
    version: str
    url: str
    title: str
    names: list[str]
    about: str
    text: str
    path: str
    line: int
    weight: float = 1.0
    values: list[str] = []
    code: str = ""

    @property
    def searched(self) -> str:
        """Return all words that are searched beside the names."""
        return " ".join([self.text, self.code, *self.values])


def documents_of(snapshot: Snapshot) -> Iterator[Document]:
    """Yield a document per fact, and one per algorithm alias."""
    version = snapshot.source.version
    for kind, fact in every_fact(snapshot):
        at = _cited(fact)
        if at is None:
            continue
        names, text = _said(fact)
        text, code = " ".join(text.split()), " ".join(_conditions(fact).split())
        document = Document(
            id=fact_id(kind, fact),
            kind=kind,
            name=fact_name(fact),
            version=version,
            url=address_of(version, kind, fact),
            title=title(fact),
            names=names,
            about=" ".join(about(fact).split()),
            text=text[:_LONGEST_RULE] if kind == "rule" else text,
            code=code[: max(0, _LONGEST_RULE - len(text))],
            path=at.path,
            line=at.line,
            values=_choices(fact) if isinstance(fact, Flag) else [],
            weight=_weight(kind, [*names, *getattr(fact, "targets", [])]),
        )
        yield document
        if isinstance(fact, Algorithm):
            yield from _aliases(document, fact)


def _aliases(document: Document, algorithm: Algorithm) -> Iterator[Document]:
    for alias in {alias.name: alias for alias in algorithm.aliases if alias.name != algorithm.name}.values():
        yield msgspec.structs.replace(
            document,
            id=f"algorithm:{alias.name}",
            name=alias.name,
            title=f"{alias.name} → {alias.resolves_to}",
            names=[alias.name],
            path=alias.at.path,
            line=alias.at.line,
        )


def _cited(fact: Any) -> Location | None:
    if isinstance(fact, Rule):
        return fact.at
    if isinstance(fact, CodePath):
        return fact.steps[0].at if fact.steps else None
    if isinstance(fact, EnvVar):
        reads = [read.at for read in (*fact.read_at, *fact.set_at)]
        return fact.declared_at or (reads[0] if reads else None)
    return fact.declared_at or getattr(fact, "registered_at", None)


def title(fact: Any) -> str:
    """Return what a list calls the fact: an option string, a rule's message, a name."""
    if isinstance(fact, Flag):
        return fact.option_strings[0]
    if isinstance(fact, CodePath):
        return fact.title
    if isinstance(fact, Rule):
        return fact.message or (f"sets {', '.join(fact.targets)}" if fact.targets else fact.kind)
    return fact_name(fact)


def about(fact: Any) -> str:
    """Return a line that tells a reader of a list what the fact is."""
    if isinstance(fact, Flag):
        return fact.help if isinstance(fact.help, str) else f"sets {fact.dest}"
    if isinstance(fact, Algorithm):
        return "Speculative algorithm"
    if isinstance(fact, Model):
        hybrid = fact.hybrid.get("kind") if fact.hybrid else None
        return f"Model architecture{f' with {hybrid} state' if hybrid else ''}"
    if isinstance(fact, Rule):
        own = [condition for condition in fact.guard if not condition.how.startswith("caller")]
        guard = " and ".join(("" if c.holds else "not ") + c.text for c in own)
        return f"{fact.kind} in {fact.function}{f', when {guard}' if guard else ''}"
    if isinstance(fact, CodePath):
        return f"Code path of {len(fact.steps)} steps"
    return "Environment variable" + (f", matters for {', '.join(fact.relevance)}" if fact.relevance else "")


def _choices(flag: Flag) -> list[str]:
    return [plain_form(choice) for choice in flag.choices] if isinstance(flag.choices, list) else []


def _said(fact: Any) -> tuple[list[str], str]:
    """Return the identifiers a fact goes by and the prose said about it.

    A rule has no name that people know; the fields it sets belong to their flags.
    """
    if isinstance(fact, Flag):
        prose = [fact.help if isinstance(fact.help, str) else "", fact.namespace or ""]
        return [*fact.option_strings, fact.dest], " ".join(prose)
    if isinstance(fact, Algorithm):
        workers = " ".join(worker.class_name for worker in fact.workers)
        return [fact.name], f"speculative decoding algorithm {workers} {fact.draft_model or ''}"
    if isinstance(fact, Model):
        hybrid = " ".join(str(value) for value in (fact.hybrid or {}).values() if isinstance(value, str))
        draft = " ".join(str(value) for value in (fact.draft or {}).values() if isinstance(value, str))
        told = f"model architecture {'hybrid' if fact.hybrid else ''} {hybrid} {draft}"
        return [fact.architecture, *([fact.config_class] if fact.config_class else [])], told
    if isinstance(fact, Rule):
        return [], " ".join([fact.message or "", *fact.targets, fact.kind, fact.function, fact.group or ""])
    if isinstance(fact, CodePath):
        # What people call it counts as its name; a name is one word for whoever splits a list of them.
        called = ["_".join(one.split()) for one in fact.words if " " in one]
        return [fact.name, *called], " ".join(_path_words(fact))
    return [fact.name], "environment variable " + " ".join(fact.relevance)


def _conditions(fact: Any) -> str:
    if not isinstance(fact, Rule):
        return ""
    return " ".join(condition.text for condition in fact.guard if not condition.how.startswith("caller"))


def _path_words(path: CodePath) -> Iterator[str]:
    """Yield what a code path is about: its question, its steps, the state they touch, what was found."""
    yield from (path.title, "code path", path.question or "", *path.words)
    for step in path.steps:
        yield step.function
        yield from (str(one.get("function", "")) for one in step.alternatives)
    touched = {str(one.get("name", "")) for step in path.steps for one in step.state}
    yield from sorted(touched)
    yield from (str(one.get("what", "")) for one in path.findings)


_KIND_WEIGHT = {"flag": 1.15, "algorithm": 1.2, "path": 1.05, "model": 1.0, "env": 1.0, "rule": 0.85}


def message_words(document: Document) -> set[str]:
    """Return the words of a rule's message but for what is filled in at run time, of other facts none."""
    return set(words(_FILLED_IN.sub(" ", document.title))) if document.kind == "rule" else set()


def is_topic(word: str) -> bool:
    """Tell whether a word, or what it stands for, is of this index's own subject."""
    return any(topic in f"{one}_" for one in (word, *alternatives(word)) for topic in _TOPIC)


def _weight(kind: str, names: list[str]) -> float:
    told = " ".join(names).lower().replace("-", "_")
    return _KIND_WEIGHT[kind] * (1.15 if any(word in told for word in _TOPIC) else 1.0)
