"""systemd units: ``ExecStart=`` lines (with continuations) and ``Environment=``; the same of supervisor's
programs (``command=``)."""

from __future__ import annotations

import re

from indexer.drift.launch.located import Builder, Located
from indexer.drift.launch.model import FileLaunches, Setting
from indexer.drift.launch.shell import read_shell

_LINE = re.compile(r"^[ \t]*(\w+)[ \t]*=((?:[^\n\\]|\\.|\\\n)*)$", re.MULTILINE)
_COMMENT_WITHIN = re.compile(r"(?<=\\\n)(?:[ \t]*[#;][^\n]*\n)+")
"""systemd leaves out comments between the lines of a continued one."""
_PREFIX = re.compile(r"^[@\-+!:|]*")


def _setting(between: str) -> re.Pattern[str]:
    """Return what finds a variable of SGLang's and its value, where such characters stand between two."""
    return re.compile(rf"(?:^|[{between}\"'])((?:SGLANG|SGL)_[A-Z0-9_]+)=[\"']?([^{between}\"']*)")


_SETTING, _SUPERVISOR_SETTING = _setting(r"\s"), _setting(r"\s,")
_SPECIFIER = re.compile(r"%(?:\(\w+\)[sd]|[a-zA-Z])")
_PROGRAM = re.compile(r"^\[program:", re.MULTILINE)
_SUPERVISOR_BLANK = re.compile(r"[ \t];[^\n]*|\n(?=[ \t]+[^\s;])")
"""In supervisor's files: a comment, and the end of a line whose value goes on below."""


def read_unit(text: Located) -> FileLaunches:
    """Read a unit file. ``Environment=`` variables are known to the command."""
    found = FileLaunches()
    text = Located(_COMMENT_WITHIN.sub(lambda match: " " * len(match[0]), text.text), text.runs())
    setting_of = _SETTING
    if _PROGRAM.search(text.text):
        setting_of = _SUPERVISOR_SETTING
        text = Located(_SUPERVISOR_BLANK.sub(lambda match: " " * len(match[0]), text.text), text.runs())
    variables: dict[str, Located] = {}
    for match in _LINE.finditer(text.text):
        key, begin = match[1], match.start(2)
        if key.lower() == "environment":
            for setting in setting_of.finditer(match[2]):
                start = text.at(begin + setting.start(1))
                found.settings.append(Setting(setting[1], setting[2], start, start + len(setting[1])))
            for name in re.finditer(r"(\w+)=([^\s\"']+)", match[2]):
                variables[name[1]] = text.cut(begin + name.start(2), begin + name.end(2))
        elif key.startswith("Exec") or key == "command":
            skip = _PREFIX.match(match[2].lstrip())
            lead = len(match[2]) - len(match[2].lstrip()) + (skip.end() if skip else 0)
            command = _percent(text.cut(begin + lead, match.end(2)))
            more = read_shell(command, variables=variables)
            found.launches += more.launches
            found.settings += more.settings
    return found


def _percent(command: Located) -> Located:
    """Turn specifiers (``%i``) into variables that nothing sets."""
    if "%" not in command.text:
        return command
    builder, position = Builder(), 0
    for match in _SPECIFIER.finditer(command.text):
        builder.add_located(command.cut(position, match.start()))
        builder.add("$_", command.at(match.start()))
        position = match.end()
    builder.add_located(command.cut(position))
    return builder.done()
