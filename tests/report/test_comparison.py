"""The comparison as a terminal shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sqlbench.comparison import compare_runs
from pytest_sqlbench.gate import GateResult
from pytest_sqlbench.report.comparison import describe_comparison, describe_gates, show_p
from pytest_sqlbench.run import Fingerprint, Run
from tests.verdicts import make_samples, make_verdict, make_verdicts

OLD = Run(
    (*make_verdicts("cccww"), *make_verdicts("cwc", "shop", digest="aa"), make_verdict("gone", "c")),
    Fingerprint(model="gold"),
    "main.json",
)
NEW = Run(
    (
        *make_verdicts("wcccw", detail="row 1, column 1: 2 is not 3"),
        *make_verdicts("cm", "shop", digest="aa"),
        make_verdict("0002", "c", "shop", digest="bb"),
        make_verdict("fresh", "w"),
    ),
    Fingerprint(model="file:new.jsonl"),
)


def test_a_comparison_as_printed() -> None:
    assert describe_comparison(compare_runs(OLD, NEW)) == [
        "compared with main.json",
        "  model was gold and is file:new.jsonl",
        "suite   n   before      now  change   95 % interval  p  fixed  regressed  known wrong",
        "orders  5   60.0 %   60.0 %    +0.0  -48.5 to +48.5  1      1          1            1",
        "shop    1  100.0 %  100.0 %    +0.0  -65.3 to +65.3  1      0          0            0",
        "all     6   66.7 %   66.7 %    +0.0  -42.4 to +42.4  1      1          1            1",
        "new         1: orders[fresh]",
        "removed     1: orders[gone]",
        "edited      1: shop[0002]",
        "unanswered  1: shop[0001]",
        "fixed       1: orders[0003]",
        "regressed   1:",
        "  orders[0000]: wrong: values: row 1, column 1: 2 is not 3",
    ]


def test_only_the_first_cases_of_a_group_are_named() -> None:
    lines = describe_comparison(compare_runs(Run(tuple(make_verdicts("c" * 5))), Run(tuple(make_verdicts("w" * 5)))), 2)
    assert lines[-4:] == [
        "regressed   5:",
        "  orders[0000]: wrong: values",
        "  orders[0001]: wrong: values",
        "  … 3 more",
    ]
    lines = describe_comparison(compare_runs(Run(tuple(make_verdicts("w" * 5))), Run(tuple(make_verdicts("c" * 5)))), 2)
    assert lines[-1] == "fixed       5: orders[0000], orders[0001], … 3 more"


def test_nothing_in_common_is_said() -> None:
    lines = describe_comparison(compare_runs(Run(()), Run(tuple(make_verdicts("c")))))
    assert lines == [
        "compared with the baseline",
        "  no case is in both runs and answered in both",
        "new         1: orders[0000]",
    ]


def test_a_graded_metric_has_a_row_for_its_mean() -> None:
    old = Run(tuple(make_verdict(str(n), "c", score=0.5 + n / 100) for n in range(9)))
    new = Run(tuple(replace(verdict, score=0.45 + n / 100) for n, verdict in enumerate(old.verdicts)))
    rows = describe_comparison(compare_runs(old, new))
    assert rows[2].split()[:5] == ["orders", "9", "100.0", "%", "100.0"]
    assert rows[3].split()[:8] == ["mean", "score", "9", "54.0", "%", "49.0", "%", "-5.0"]


def test_samples_are_counted() -> None:
    found = compare_runs(Run(tuple(make_samples(["ccc", "ccc"]))), Run(tuple(make_samples(["cww", "ccw"]))))
    lines = describe_comparison(found)
    assert lines[-1] == "  orders[0000]: 1 of 3 samples right, wrong: values"


MET, MISSED = GateResult(True, "accuracy 80 % (n=5) reaches 70 %"), GateResult(False, "3 regressions (allowed 1)")


@pytest.mark.parametrize(
    "results,errors,obstacle,lines",
    [
        ([MET], 0, "", [("GATE met: accuracy 80 % (n=5) reaches 70 %", True)]),
        ([MISSED], 2, "", [("GATE MISSED: 3 regressions (allowed 1)", False)]),
        ([], 0, "interrupted", [("GATE not evaluated: interrupted", None)]),
    ],
)
def test_gates(results: list[GateResult], errors: int, obstacle: str, lines: list[tuple[str, bool | None]]) -> None:
    assert describe_gates(results, errors, obstacle) == lines


def test_a_met_gate_does_not_hide_errors() -> None:
    assert describe_gates([MET], 1)[-1] == ("GATE met, but 1 case got no verdict", False)


@pytest.mark.parametrize("p,text", [(1.0, "1"), (0.04999, "0.05"), (0.0421, "0.042"), (1e-9, "<0.0001")])
def test_p_values(p: float, text: str) -> None:
    assert show_p(p) == text
