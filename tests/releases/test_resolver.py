"""The release's resolution, interpreted, against what the real one did."""

from __future__ import annotations

import pytest

from tests.oracle_resolve import compare, names, open_oracle
from tests.oracle_withhold import RELEASES, withheld

pytestmark = [pytest.mark.oracle, pytest.mark.release]

QUICK = {"0.5.9-h200": 24, "0.5.17-b200": 40, "0.5.23-h200": 50}
"""The files of the default run, and of how many cases each one is taken."""


@pytest.mark.parametrize("name", QUICK)
def test_agrees_with_the_real_resolver(name, shared):
    tally = compare(open_oracle(shared, name, QUICK[name]))
    assert not tally.wrong, "\n".join(tally.wrong[:20])
    assert tally.counts["unknown"] == 0, tally.unknown
    assert tally.counts["fields right"] > 20


@pytest.mark.parametrize("fact", ["nvml", "env:SGLANG_ENABLE_SPEC_V2", "config:architectures"])
def test_what_is_said_without_a_fact_holds(fact, shared):
    _check_withheld(open_oracle(shared, "0.5.9-h200"), 2, fact)


def _check_withheld(oracle, count, only=""):
    for fact, tally, unnamed in withheld(oracle, count, only):
        assert not tally.wrong, "\n".join([fact, *tally.wrong])
        assert not unnamed, "\n".join([fact, *unnamed])


@pytest.mark.slow
def test_every_case_of_every_release(shared):
    for name in names(shared):
        tally = compare(open_oracle(shared, name))
        print(name, dict(tally.counts))
        assert not tally.wrong, "\n".join(tally.wrong[:20])
        assert tally.counts["definite"] >= 0.99 * tally.counts["cases"], tally.unknown


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
def test_withholding(name, shared):
    _check_withheld(open_oracle(shared, name), 2)
