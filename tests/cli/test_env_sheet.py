"""The sheet of an environment variable: whether it is still a setting."""

from __future__ import annotations

import click
import pytest

from indexer.cli._facts import print_fact
from indexer.knowledge.links import Links
from indexer.knowledge.schema import Deprecation, EnvVar, Location, Read
from tests.small_site import small_snapshot

AT = Location("python/sglang/srt/tiny.py", 3)


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        (EnvVar("A", read_at=[Read(AT)]), "not declared, only read"),
        (EnvVar("F", set_at=[Read(AT)]), "not declared, only set"),
        (
            EnvVar("B", read_at=[Read(AT)], notice="warning"),
            "no setting any more: where it is set a warning says so",
        ),
        (
            EnvVar("C", read_at=[Read(AT)], notice="error"),
            "no setting any more: where it is set SGLang raises",
        ),
        (EnvVar("D", deprecated=Deprecation(AT)), "no setting any more: setting it has no effect"),
        (EnvVar("E", deprecated=Deprecation(AT, "SGLANG_NEW")), "not declared; its value is handed on"),
    ],
)
def test_what_is_only_named_in_a_notice_is_no_setting(
    variable: EnvVar, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_fact("env", variable, Links(small_snapshot()))
    assert f"declared     {told}\n" in click.unstyle(capsys.readouterr().out)
