"""What a refused option is: renamed, removed, too new, another engine's, or a slip."""

from __future__ import annotations

from dataclasses import dataclass, field

from indexer.drift.lint.engines import engine_of
from indexer.drift.lint.facts import Timeline, show
from indexer.drift.lint.typography import dash_name, with_hyphens
from indexer.knowledge.nearest import nearest


@dataclass(slots=True)
class Verdict:
    """The code, what to tell, what to write instead, and whether ``--fix`` may write it."""

    code: str
    message: str
    replacement: str | None = None
    at: str | None = None
    certain: bool = False
    known: bool = True
    """True when some version of SGLang declares exactly this option string."""
    others: list[str] = field(default_factory=list)


def classify(spelled: str, matches: list[str], version: str, timeline: Timeline) -> Verdict:
    """Say what an option is that ``version`` refuses; ``matches`` are the options it could be."""
    key = (spelled, version)
    if key not in timeline.verdicts:
        timeline.verdicts[key] = _classified(spelled, matches, version, timeline)
    verdict: Verdict = timeline.verdicts[key]
    return verdict


def _classified(spelled: str, matches: list[str], version: str, timeline: Timeline) -> Verdict:
    last = timeline.last_before(spelled, version)
    if matches:
        return _ambiguous(spelled, matches, version, timeline, last)
    if last is not None:
        return _gone(spelled, version, timeline, last)
    first = timeline.first_after(spelled, version)
    if first is not None:
        flag = timeline.table(first).by_option[spelled]
        older = _older_name(spelled, version, timeline)
        hint = f"; before that: {older}" if older else ""
        return Verdict(
            "future-flag",
            f"{spelled} does not exist in SGLang {version}; it came with {first}{hint}",
            older,
            show(flag.declared_at),
        )
    return _never(spelled, version, timeline)


def _ambiguous(
    spelled: str, matches: list[str], version: str, timeline: Timeline, last: str | None
) -> Verdict:
    target = successor(spelled, version, timeline)
    history = f"; an option of its own until {last}" if last else ""
    meant = target if target in matches else None
    return Verdict(
        "ambiguous-flag",
        f"{spelled} is ambiguous in SGLang {version}: it could match {', '.join(sorted(matches))}{history}",
        meant,
        show(timeline.table(version).by_option[meant or matches[0]].declared_at),
        certain=meant is not None,
        known=last is not None,
        others=matches,
    )


def _gone(spelled: str, version: str, timeline: Timeline, last: str) -> Verdict:
    old = timeline.table(last).by_option[spelled]
    at = show(old.declared_at)
    said = f"{at} in {last}" if at else None
    target = successor(spelled, version, timeline)
    if target is None:
        return Verdict(
            "removed-flag",
            f"{spelled} is gone from SGLang {version}; {last} was the last to have it",
            None,
            said,
        )
    plain = target in timeline.table(version).by_option
    return Verdict(
        "renamed-flag",
        f"{spelled} is gone from SGLang {version}; {last} was the last to have it; use {target}",
        target,
        show(timeline.table(version).by_option[target].declared_at) if plain else said,
        certain=plain and _same_shape(spelled, last, target, version, timeline),
    )


def _same_shape(old: str, last: str, new: str, version: str, timeline: Timeline) -> bool:
    """True when the successor takes the same values, so that only the name has to be rewritten."""
    before, now = timeline.table(last).by_option[old], timeline.table(version).by_option[new]
    return before.nargs == now.nargs and before.type == now.type


def successor(option: str, version: str, timeline: Timeline) -> str | None:
    """Return what replaced ``option`` as far as ``version`` has it (possibly with a value,
    ``--x=y``), following chains of renames."""
    table = timeline.table(version)
    seen, front = {option}, [option]
    while front:
        following = []
        for name in front:
            for new in timeline.facts.renames.get(name, ()):
                stem = new.partition("=")[0].split(" ")[0]
                if stem in table.by_option:
                    return new
                if new not in seen:
                    seen.add(new)
                    following.append(new)
        front = following
    return _same_dest(option, version, timeline)


def _same_dest(option: str, version: str, timeline: Timeline) -> str | None:
    """Return the option of ``version`` that writes the setting that ``option`` last wrote."""
    last = timeline.last_before(option, version)
    if last is None:
        return None
    old = timeline.table(last).by_option[option]
    same = [flag for flag in timeline.table(version).by_dest.get(old.dest, []) if not flag.deprecated]
    return same[0].option_strings[0] if len(same) == 1 and same[0].nargs == old.nargs else None


def _older_name(option: str, version: str, timeline: Timeline) -> str | None:
    """Return the option of ``version`` that ``option`` replaced later, if one is known."""
    table = timeline.table(version)
    return next(
        (old for old, new in timeline.facts.renames.items() if option in new and old in table.by_option), None
    )


def _never(spelled: str, version: str, timeline: Timeline) -> Verdict:
    table = timeline.table(version)
    typed = with_hyphens(spelled)
    dashed = "--" + (typed or spelled).lstrip("-").replace("_", "-").lower()
    meant = dashed if dashed in table.by_option else None
    if meant is None and typed and len(begun := table.matches(dashed)) == 1:
        meant = begun[0]
    if meant is not None and meant != spelled:
        why = f" ({dash_name(spelled)} stands in it)" if typed else ""
        return Verdict(
            "unknown-flag",
            f"SGLang {version} has no option {spelled}{why}; it is spelled {meant}",
            meant,
            show(table.by_option[meant].declared_at),
            certain=True,
            known=False,
        )
    other = engine_of(spelled)
    if other is not None:
        engine, equivalent = other
        equivalent = equivalent if equivalent in table.by_option else None
        use = f"; SGLang's is {equivalent}" if equivalent else ""
        at = show(table.by_option[equivalent].declared_at) if equivalent else None
        return Verdict(
            "wrong-engine-flag",
            f"{spelled} is an option of {engine}, not of SGLang{use}",
            equivalent,
            at,
            known=False,
        )
    near = nearest(spelled, list(table.by_option))
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return Verdict(
        "unknown-flag",
        f"SGLang {version} has no option {spelled}{hint}",
        near[0] if near else None,
        show(table.by_option[near[0]].declared_at) if near else None,
        known=False,
    )
