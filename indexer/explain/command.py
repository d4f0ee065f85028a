"""From what people paste to the arguments of the server: ``python -m sglang.launch_server …``."""

from __future__ import annotations

import re
import shlex

from indexer.errors import UsageError

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_ENTRY = re.compile(r"(.*/)?(sglang\.launch_server|sglang/launch_server\.py|launch_server\.py)")
_VARIABLE = re.compile(r"\$(\{[^}]*\}|\(|[A-Za-z_][A-Za-z0-9_]*)")


def split_command(text: str) -> list[str]:
    """Split a shell command line into words, joining continued lines.

    Raises:
        UsageError: a quote is left open.
    """
    try:
        return shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise UsageError(f"the command can't be split into words ({error})", "close every quote") from error


def server_arguments(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the server's arguments and the variables set in front of the program.

    Words that start with a dash are taken to be the arguments themselves.

    Raises:
        UsageError: it is not a launch of SGLang's server, or shell variables are left in it.
    """
    env: dict[str, str] = {}
    rest = list(words)
    while rest and (_ASSIGNMENT.fullmatch(rest[0]) or rest[0] in ("env", "exec", "nohup", "sudo")):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if equals:
            env[name] = value
    arguments = _after_program(rest)
    for word in [*arguments, *env, *env.values()]:
        if not word.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UsageError(f"{word!a} is not text in UTF-8", "give it in UTF-8")
        if _VARIABLE.search(word):
            raise UsageError(f"{word!r} holds a shell variable, whose value is not known", "put its value in")
    return arguments, env


def _after_program(words: list[str]) -> list[str]:
    if not words or words[0].startswith("-"):
        return words
    for index, word in enumerate(words):
        if _ENTRY.fullmatch(word):
            return words[index + 1 :]
        if word == "serve" and index and words[index - 1].rpartition("/")[2] == "sglang":
            return words[index + 1 :]
    raise UsageError(
        f"{' '.join(words[:3])} … does not launch SGLang's server",
        "give python -m sglang.launch_server … or just its arguments",
    )
