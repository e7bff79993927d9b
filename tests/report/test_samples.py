"""Samples in the summary: counted by case, with pass@k and the cases that are not stable."""

from __future__ import annotations

from pytest_sqlbench.report.samples import describe_samples
from pytest_sqlbench.report.summary import describe_summary
from tests.verdicts import make_samples, make_verdicts


def test_one_sample_a_case_adds_nothing() -> None:
    assert describe_samples(make_verdicts("cwmu")) == []
    assert describe_samples(make_verdicts("u")) == []


def test_several_samples() -> None:
    lines = describe_samples(make_samples(["ccc", "cwc", "www", "wwc", "uuu"]))
    assert lines == [
        "samples     3 for each of 4 cases, pass@3 75.0 % (30.1 to 95.4), pass^3 25.0 % (4.6 to 69.9)",
        "flaky       2: orders[0001], orders[0003]",
    ]


def test_the_table_counts_cases() -> None:
    lines = describe_summary(make_samples(["ccc", "cwc", "www", "wwc", "ccm", "uuu"]))
    assert lines[1].split()[:4] + lines[1].split()[-3:] == "orders 5 53.3 % 2 1 0".split()


def test_only_the_first_flaky_cases_are_named() -> None:
    assert describe_samples(make_samples(["cw"] * 30))[-1].endswith(", … 20 more")
