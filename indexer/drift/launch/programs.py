"""Which words start a program that reads the server's options, and where its own words begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexer.drift.launch.located import Located, blank
from indexer.drift.launch.model import DYNAMIC, Launch, Program, Word
from indexer.drift.launch.plain import continued

MODULES: dict[str, Program] = {
    "sglang.launch_server": "server",
    "sglang.srt.server": "server",
    "sglang.srt.entrypoints.http_server": "server",
    "sglang.bench_latency": "embeds",
    "sglang.bench_offline_throughput": "embeds",
    "sglang.bench_one_batch": "embeds",
    "sglang.bench_one_batch_server": "embeds",
    "sglang.benchmark.offline_throughput": "embeds",
    "sglang.benchmark.one_batch": "embeds",
    "sglang.compile_deep_gemm": "embeds",
    "sglang_router.launch_server": "router",
    "sglang_router.launch_router": "other-parser",
    "sglang.bench_serving": "other-parser",
}
"""Modules by the parser that reads their words. Their own options stand among the server's for
``embeds`` and ``router``; ``other-parser`` programs know none of the server's."""

_DYNAMO = re.compile(r"dynamo\.sglang(\.\w+)*$")
_SCRIPTS = re.compile(r"(^|/)sglang/(?:\w+/)*(?:launch_server|bench_one_batch|bench_offline_throughput)\.py$")
_COMMANDS = re.compile(r"(^|/)sglang$")
_OTHER_PROGRAMS = re.compile(
    r"^(sglang(_router|\.multimodal_gen|\.test|\.bench|\.srt|\.check_env|\.profiler)[\w.]*|vllm[\w.]*"
    r"|lmdeploy[\w.]*|tensorrt_llm[\w.]*)$"
)
OTHER_IMAGE = re.compile(r"(^|[/_-])(vllm|lmdeploy|tensorrt[_-]llm|text-generation-inference|ollama)\b")
"""Images of other engines."""
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", ">", ">>", "2>&1", "<", "2>", "&>", "|&"})
_VERSION_CALLS = frozenset({"pkill", "pgrep", "killall", "grep", "egrep", "ps", "which", "echo", "printf"})


_STARTERS = frozenset({
    "exec", "nohup", "time", "env", "sudo", "numactl", "srun", "taskset", "stdbuf", "setsid", "timeout",
})  # fmt: skip
"""Programs that start another one with its words as they stand."""


def is_direct(words: Sequence[Word], launch: Launch) -> bool:
    """Whether a command's words are ``python -m`` and the launch, with nothing but starters before them."""
    at = next((i for i, word in enumerate(words) if word.start == launch.offset), 0)
    before = [word.text for word in words[:at]]
    if before[-1:] == ["-m"] and before[-2:-1] == ["-u"]:
        before = [*before[:-2], "-m"]
    if before[-1:] != ["-m"] or len(before) < 2 or not re.search(r"(^|/)python[\d.]*$", before[-2]):
        return False
    return len(before) == 2 or before[0].rsplit("/", 1)[-1] in _STARTERS


def find_launches(words: Sequence[Word], *, open_end: bool = False) -> Iterator[Launch]:
    """Yield each launch in one command's words: wrappers (docker, srun, numactl) stand before it.

    A program that reads none of the server's options ends the search and gives a launch with the
    program ``other-parser`` so that the words are not taken for a fragment.
    """
    starts = list(_entries(words))
    for (begin, program, entry_at), following in zip(starts, [*starts[1:], None], strict=False):
        end = following[2] if following else len(words)
        own = list(words[begin:end])
        cut = next((i for i, word in enumerate(own) if word.text in _OPERATORS), len(own))
        entry = words[begin - 1]
        yield Launch(
            program=program,
            words=own[:cut],
            open_end=open_end,
            offset=words[entry_at].start,
            entry=entry.text,
            branched=entry.branch != 0,
        )


def _entries(words: Sequence[Word]) -> Iterator[tuple[int, Program, int]]:
    """Yield ``(index behind the entry, program, index of the entry)``."""
    if words and words[0].text.rsplit("/", 1)[-1] in _VERSION_CALLS:
        return
    for i, word in enumerate(words):
        text, previous = word.text, words[i - 1].text if i else ""
        program: Program | None = None
        if text in MODULES:
            program = MODULES[text]
        elif _DYNAMO.match(text):
            program = "embeds"
        elif _SCRIPTS.search(text):
            program = "server" if text.endswith("launch_server.py") else "embeds"
        elif previous == "-m" and _OTHER_PROGRAMS.match(text):
            program = "other-parser"
        elif _COMMANDS.search(previous) and text in ("serve", "generate"):
            program = "serve" if text == "serve" else "other-parser"
            if i > 1 and words[i - 2].text == "-m":
                program = None
        elif text == "serve" and i and re.search(r"(^|/)vllm$", previous):
            program = "other-parser"
        if program is not None:
            yield i + 1, program, i


_BLOCK = re.compile(r"\{%.*?%\}|\{#.*?#\}")
_TEMPLATED = re.compile(r"\$?\{\{.*?\}\}")
_ANGLED = re.compile(r"(?<![<\d&])<[A-Za-z](?:[\w ./|:-]*\w)?>")


def without_placeholders(text: Located) -> Located:
    """Replace what a shell would misread: ``<model>`` as guides write it, and templates."""
    if "<" in text.text:
        text = blank(text, _ANGLED)
    if "{{" in text.text or "{%" in text.text:
        text = continued(text)
        text = blank(blank(text, _BLOCK, " "), _TEMPLATED)
    return text


def starts_sglang(text: str) -> bool:
    """A cheap test whether a string may hold a launch."""
    return "sglang" in text


_PLACEHOLDER = re.compile(
    r"\$\{\{.*?\}\}|\{\{.*?\}\}|\$\{[^}]*\}?|\$\([^)]*\)?|\$\w+|<[A-Za-z][\w ./|-]*>"
    r"|\{\w*\}|%\(?\w*\)?[sd]|@\w+@|\b__\w+__\b|…|\.\.\.",
    re.DOTALL,
)


def soften(word: Word) -> Word:
    """Replace what a template or a shell would fill in by ``DYNAMIC``."""
    if word.text and not word.text.strip(DYNAMIC):
        return Word(DYNAMIC, word.start, word.end, True, word.branch)
    if not any(mark in word.text for mark in "${<%@…_."):
        return word
    text = _PLACEHOLDER.sub(DYNAMIC, word.text)
    if text == word.text:
        return word
    return Word(text, word.start, word.end, word.splits or text == DYNAMIC, word.branch)


def is_flag_list(words: Sequence[Word]) -> bool:
    """True when words without a program are options: a program of another name, or a row of a table,
    begins with something else."""
    return bool(words) and re.match(r"--[a-zA-Z]", words[0].text) is not None
