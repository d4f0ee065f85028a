"""The release's resolution, interpreted, against what the real one did."""

from __future__ import annotations

import pytest

from tests.oracle_resolve import compare, names, open_oracle

pytestmark = [pytest.mark.oracle, pytest.mark.release]

QUICK = {"0.5.9-h200": 24, "0.5.17-b200": 40, "0.5.23-h200": 50}
"""The files of the default run, and of how many cases each one is taken."""

WITHHELD = (
    "gpu-memory",
    "sm",
    "cuda",
    "nvml",
    "package:sgl_kernel",
    "package:flashinfer",
    "config:model_type",
)


@pytest.mark.parametrize("name", QUICK)
def test_agrees_with_the_real_resolver(name, shared):
    tally = compare(open_oracle(shared, name, QUICK[name]))
    assert not tally.wrong, "\n".join(tally.wrong[:20])
    assert tally.counts["unknown"] == 0, tally.unknown
    assert tally.counts["fields right"] > 20


@pytest.mark.parametrize("fact", ["gpu-memory", "nvml"])
def test_a_withheld_fact_makes_no_claim_wrong(fact, shared):
    tally = compare(open_oracle(shared, "0.5.9-h200", 64), fact)
    assert not tally.wrong, "\n".join(tally.wrong[:20])


@pytest.mark.slow
def test_every_case_of_every_release(shared):
    for name in names(shared):
        tally = compare(open_oracle(shared, name))
        print(name, dict(tally.counts))
        assert not tally.wrong, "\n".join(tally.wrong[:20])
        assert tally.counts["definite"] >= 0.99 * tally.counts["cases"], tally.unknown


@pytest.mark.slow
@pytest.mark.parametrize("fact", WITHHELD)
@pytest.mark.parametrize("name", ["0.5.9-h200", "0.5.17-h200", "0.5.23-h200"])
def test_withholding(name, fact, shared):
    tally = compare(open_oracle(shared, name, 20), fact)
    assert not tally.wrong, "\n".join(tally.wrong[:20])
