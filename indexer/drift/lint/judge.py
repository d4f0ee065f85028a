"""From a launch to findings: the walk's uses and problems, told in the lints' words."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.drift.launch.model import DYNAMIC, Keyword, Launch, Word
from indexer.drift.lint.argv import Problem, Use, Walked, judge_value, known_choices, walk
from indexer.drift.lint.classify import Verdict, classify, successor
from indexer.drift.lint.config_word import unread_config
from indexer.drift.lint.facts import OptionFact, Timeline, VersionTable, show, value_count
from indexer.drift.lint.lints import LINTS
from indexer.drift.lint.raw import Raw
from indexer.drift.lint.serve import Condition, command_problems, doubt_about, words_of_parser
from indexer.drift.lint.typography import dash_name, dashed_words, glued_option
from indexer.drift.report.record import HINT, MEANING, START
from indexer.knowledge.nearest import nearest


def judge_launch(launch: Launch, version: str, timeline: Timeline, *, strict: bool = False) -> list[Raw]:
    """Return what is wrong with one launch on one version.

    Missing required options are findings only of a launch that is ``told``. ``strict`` is for words that are
    exactly what the program receives: then stray ones are findings too.
    """
    table = timeline.table(version)
    words = words_of_parser(launch.program, launch.words)
    walked = walk(words, table, open_end=launch.open_end)
    found = list(_of_command(launch, version, timeline)) if launch.program == "serve" else []
    found += _problems(walked, launch, version, timeline, strict)
    found += _dashes(launch, words, walked, version, timeline)
    found += _uses(walked, launch, version, timeline)
    found += _duplicates(walked, launch)
    found += unread_config(walked, launch, version, timeline)
    if launch.told and not walked.opaque:
        found += _required(walked, launch, table)
    found += _keywords(launch, version, timeline)
    return _one_per_place(found)


def _one_per_place(found: list[Raw]) -> list[Raw]:
    """A variable's words may be walked in several launches: say each thing once."""
    seen: dict[tuple[object, ...], Raw] = {}
    for raw in found:
        seen.setdefault((raw.code, raw.start, raw.end, raw.flag), raw)
    return list(seen.values())


def _raw(code: str, message: str, word: Word, spelled: str | None, **more: object) -> Raw:
    level = str(more.pop("level", LINTS[code].level))
    end = min(word.end, word.start + len(spelled)) if spelled else word.end
    return Raw(code, level, message, word.start, max(end, word.start + 1), spelled, **more)  # type: ignore[arg-type]


def _fix(word: Word, spelled: str, new: str | None, certain: bool) -> str | None:
    """Return the rewrite of the option part, only where the file spells it letter by letter."""
    written = word.end - word.start >= len(spelled)
    return new if certain and new and written and new.replace("-", "").isalnum() else None


def _of_command(launch: Launch, version: str, timeline: Timeline) -> Iterator[Raw]:
    for one in command_problems(launch, version, timeline):
        yield Raw(one.code, LINTS[one.code].level, one.message, one.start, one.end, one.flag, at=one.at)


def _with_doubt(raw: Raw, condition: Condition | None) -> Raw:
    """Say on which condition a finding holds; None: in any case."""
    if condition is not None:
        raw.level = condition.level
        raw.message = f"{raw.message}; sglang serve refuses it {condition.text}"
    return raw


def _problems(
    walked: Walked, launch: Launch, version: str, timeline: Timeline, strict: bool
) -> Iterator[Raw]:
    doubt = doubt_about(launch, walked.uses, version, timeline)
    for problem in walked.problems:
        if problem.kind in ("unknown", "ambiguous"):
            table = timeline.table(version)
            verdict = classify(problem.spelled, problem.matches, version, timeline)
            if _is_servers(verdict, launch, problem):
                raw = _raw(
                    verdict.code,
                    verdict.message,
                    problem.word,
                    problem.spelled,
                    replacement=verdict.replacement,
                    at=verdict.at,
                    fix=_fix(
                        problem.word,
                        problem.spelled,
                        verdict.replacement,
                        verdict.certain and _keeps_value(problem.word, verdict.replacement, launch, table),
                    ),
                )
                yield _with_doubt(raw, doubt.of_option(problem.spelled, verdict) if doubt else None)
        elif problem.kind == "stray":
            glued = glued_option(problem.word, timeline.table(version), timeline)
            if glued is not None and launch.program in ("server", "serve"):
                yield _glued(problem, glued, timeline.table(version))
            elif strict or _is_word_after_switch(problem, walked, launch):
                yield _stray(problem, version)
        elif launch.program in ("server", "serve") or _is_clean(walked, problem):
            raw = _value_problem(problem, version, timeline)
            yield _with_doubt(raw, doubt.of_value(problem) if doubt else None)


def _dashes(
    launch: Launch, words: list[Word], walked: Walked, version: str, timeline: Timeline
) -> Iterator[Raw]:
    """``—tp 4``: no option at all for argparse, so it is left over, or the value of another one."""
    table = timeline.table(version)
    for word, spelled, meant, taker in dashed_words(words, walked, table, timeline):
        if meant is None and (taker or launch.program != "server"):
            continue
        becomes = f"it becomes a value of {taker}" if taker else "it is refused as a word too many"
        flag = table.by_option.get(meant or "")
        yield _raw(
            "unknown-flag",
            f"{spelled} begins with {dash_name(spelled)}, so for SGLang {version} it is no option and "
            f"{becomes}" + (f"; it is spelled {meant}" if meant else "; options begin with two hyphens"),
            word,
            spelled,
            level=MEANING if taker else START,
            replacement=meant,
            at=show(flag.declared_at) if flag else None,
            fix=_fix(word, spelled, meant, certain=True),
        )


def _keeps_value(word: Word, new: str | None, launch: Launch, table: VersionTable) -> bool:
    """Whether the value given to an option is one that its successor takes too."""
    flag = table.by_option.get(new or "")
    if flag is None:
        return False
    _, equals, value = word.text.partition("=")
    if not equals:
        at = launch.words.index(word) + 1 if word in launch.words else len(launch.words)
        following = launch.words[at].text if at < len(launch.words) else "--"
        if following.startswith("--"):
            return value_count(flag) in (0, "?", "*")
        value = following
    return DYNAMIC in value or value_count(flag) == 0 or judge_value(flag, value, table.json_types) is None


def _is_servers(verdict: Verdict, launch: Launch, problem: Problem) -> bool:
    """Whether a refused option can be blamed on the server's parser.

    Another program's own options stand among the server's in ``embeds`` and ``router`` launches; a
    fragment belongs to a server by its spelling only. There, only what some version of SGLang
    declared exactly is certain to be meant for it.
    """
    if launch.owned and (verdict.replacement is not None or verdict.code == "wrong-engine-flag"):
        return True
    if launch.program not in ("server", "serve"):
        return verdict.known and problem.spelled.startswith("--")
    return verdict.known or verdict.certain or not (launch.branched and problem.word.branch)


_CLEAN_FROM = 3
"""Of a list without a program, this many options must stand there for its values to be judged."""


def _is_clean(walked: Walked, problem: Problem) -> bool:
    """Whether a list without a program of its own is so surely a server's that its values count."""
    return (
        problem.kind != "missing-value"
        and len(walked.uses) >= _CLEAN_FROM
        and not any(other.kind in ("unknown", "stray") for other in walked.problems)
    )


def _is_word_after_switch(problem: Problem, walked: Walked, launch: Launch) -> bool:
    """``--enable-metrics true``: a plain truth value after an option that takes none."""
    if launch.program != "server" or problem.word.text.lower() not in ("true", "false"):
        return False
    words = launch.words
    before = words[words.index(problem.word) - 1] if problem.word in words[1:] else None
    return any(use.word is before and not use.values for use in walked.uses)


def _glued(problem: Problem, glued: tuple[str, str], table: VersionTable) -> Raw:
    option, rest = glued
    takes_one = [value_count(table.by_option[one]) is None for one in table.meant(option)] == [True]
    return _raw(
        "invalid-value",
        f"{option} stands in one argument with what follows it ({_shorten(rest, 60)}), which SGLang "
        f"{table.version} refuses as a word too many; each option and each value is an argument of its own",
        problem.word,
        option,
        replacement=f"{option}={rest}" if takes_one and " --" not in rest and "…" not in rest else None,
    )


def _stray(problem: Problem, version: str) -> Raw:
    text = problem.word.text
    return _raw("invalid-value", f"SGLang {version} expects no value here: {text}", problem.word, text)


def _value_problem(problem: Problem, version: str, timeline: Timeline) -> Raw:
    flag, spelled = problem.flag, problem.spelled
    assert flag is not None
    at = show(flag.declared_at)
    text = problem.word.text
    if problem.kind == "missing-value":
        message = f"{spelled} needs {problem.detail} in SGLang {version}"
        return _raw("missing-value", message, problem.word, spelled, at=at)
    if problem.kind == "takes-no-value":
        message = f"{spelled} takes no value in SGLang {version}, but is given {text}"
        return _raw("invalid-value", message, problem.word, text, at=at)
    if problem.kind == "invalid-type":
        kind = {"int": "a whole number", "float": "a number"}[problem.detail]
        message = f"{spelled} takes {kind} in SGLang {version}, not {text}"
        return _raw("invalid-value", message, problem.word, text, at=at)
    if problem.kind == "invalid-json":
        message = f"{spelled} takes JSON in SGLang {version}, not {text} ({problem.detail})"
        written = problem.word.end - problem.word.start == len(text)  # a shell takes quotes away
        return _raw("invalid-value", message, problem.word, text if written else None, at=at)
    return _raw(
        "invalid-choice",
        f"{spelled} does not accept {text} in SGLang {version}"
        f"{_choice_history(spelled, text, version, timeline)}; it accepts {_shorten(problem.detail)}",
        problem.word,
        text,
        at=at,
        replacement=next(iter(nearest(text, [str(c) for c in known_choices(flag) or []], 1)), None),
    )


def _shorten(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else text[:limit].rsplit(",", 1)[0] + ", …"


def _choice_history(option: str, value: str, version: str, timeline: Timeline) -> str:
    at = timeline.position[version]

    def accepts(index: int) -> bool:
        flag = timeline.table(timeline.versions[index]).by_option.get(option)
        choices = known_choices(flag) if flag else None
        return choices is not None and value in map(str, choices)

    older = next((i for i in range(at - 1, -1, -1) if accepts(i)), None)
    if older is not None:
        return f" ({timeline.versions[older]} was the last to accept it)"
    newer = next((i for i in range(at + 1, len(timeline.versions)) if accepts(i)), None)
    return f" ({timeline.versions[newer]} is the first to accept it)" if newer is not None else ""


def _uses(walked: Walked, launch: Launch, version: str, timeline: Timeline) -> Iterator[Raw]:
    # What else begins so among the options of such a program's own is not known.
    has_own = launch.program in ("embeds", "router")
    for use in walked.uses:
        flag = use.flag
        if use.option != use.spelled and not has_own:
            yield _abbreviated(use, version, timeline)
        if flag.deprecated is not None:
            yield _deprecated(use, version, timeline)


def _abbreviated(use: Use, version: str, timeline: Timeline) -> Raw:
    last = timeline.last_before(use.spelled, version)
    was = f"; until {last} it was an option of its own" if last else ""
    return _raw(
        "abbreviated-flag",
        f"{use.spelled} works in SGLang {version} only as an abbreviation of {use.option}{was}",
        use.word,
        use.spelled,
        replacement=use.option,
        at=show(use.flag.declared_at),
        fix=_fix(use.word, use.spelled, use.option, certain=True),
    )


def _deprecated(use: Use, version: str, timeline: Timeline) -> Raw:
    said = use.flag.deprecated
    assert said is not None
    target = said.replacement or successor(use.option, version, timeline)
    instead = f"; use {target}" if target else ""
    verb = "is refused as deprecated" if said.raises else "is deprecated"
    table = timeline.table(version)
    new = table.by_option.get(target or "")
    same = new is not None and new.nargs == use.flag.nargs and new.dest == use.flag.dest
    return _raw(
        "deprecated-flag",
        f"{use.option} {verb} in SGLang {version}{instead}",
        use.word,
        use.spelled,
        level=START if said.raises else HINT,
        replacement=target if target != use.option else None,
        at=show(use.flag.declared_at),
        fix=_fix(use.word, use.spelled, target, same),
    )


def _duplicates(walked: Walked, launch: Launch) -> Iterator[Raw]:
    by_dest: dict[str, Use] = {}
    for use in walked.uses:
        earlier = by_dest.get(use.flag.dest)
        by_dest[use.flag.dest] = use
        if earlier is None or earlier.word.start == use.word.start or earlier.word.branch or use.word.branch:
            continue
        values = [[word.text for word in one.values] for one in (earlier, use)]
        known = all(DYNAMIC not in text for texts in values for text in texts)
        differ = known and (values[0] != values[1] or _opposite(earlier, use))
        yield _raw(
            "duplicate-flag",
            f"{use.spelled} is given again: it replaces {_told(earlier)}",
            use.word,
            use.spelled,
            level=MEANING if differ and launch.program != "fragment" else HINT,
            at=show(use.flag.declared_at),
        )


def _opposite(first: Use, second: Use) -> bool:
    return first.option.startswith("--no-") != second.option.startswith("--no-")


def _told(use: Use) -> str:
    return " ".join([use.spelled, *(word.text.replace(DYNAMIC, "…") for word in use.values)])


def _required(walked: Walked, launch: Launch, table: VersionTable) -> Iterator[Raw]:
    if any(problem.kind in ("unknown", "ambiguous") for problem in walked.problems):
        return  # it may be the one that is missing, misspelled
    given = {use.flag.dest for use in walked.uses} | {p.flag.dest for p in walked.problems if p.flag}
    first = next((p.word for p in walked.problems if p.kind == "stray" and p.word is launch.words[0]), None)
    for flag in table.required:
        if flag.dest not in given and not any(use.flag.dest == "config" for use in walked.uses):
            yield Raw(
                "missing-value",
                START,
                f"SGLang {table.version} needs {flag.option_strings[0]}, which is not given"
                + (f"; write {flag.option_strings[0]} {first.text}" if first else ""),
                launch.offset,
                launch.offset + len(launch.entry),
                at=show(flag.declared_at),
            )


def _keywords(launch: Launch, version: str, timeline: Timeline) -> Iterator[Raw]:
    fields = timeline.facts.fields_at(version) if launch.keywords else frozenset()
    for keyword in launch.keywords:
        if fields and keyword.name not in fields:
            yield _unknown_keyword(keyword, version, timeline, fields)


def _unknown_keyword(keyword: Keyword, version: str, timeline: Timeline, fields: frozenset[str]) -> Raw:
    table = timeline.table(version)
    option = "--" + keyword.name.replace("_", "-")
    flag: OptionFact | None = table.by_option.get(option)
    why, target = "", None
    if flag is not None and flag.dest in fields:
        target, why = flag.dest, f"; {option} is an option string, its field is {flag.dest}"
    elif (gone := timeline.last_before(option, version)) is not None:
        new = successor(option, version, timeline)
        flag = table.by_option.get((new or "").partition("=")[0])
        target = flag.dest if flag and flag.dest in fields else None
        why = f"; {gone} was the last to have {option}" + (f"; use {target}" if target else "")
    elif (later := timeline.first_after(option, version)) is not None:
        why = f"; it came with {later}"
    else:
        target = next(iter(nearest(keyword.name, sorted(fields), 1)), None)
        why = f"; nearest: {target}" if target else ""
    return Raw(
        "unknown-keyword",
        LINTS["unknown-keyword"].level,
        f"ServerArgs of SGLang {version} has no field {keyword.name}{why}",
        keyword.start,
        keyword.end,
        flag=keyword.name,
        replacement=target,
        at=show(flag.declared_at) if flag else None,
    )
