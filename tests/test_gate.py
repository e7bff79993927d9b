"""Gates: what can be written, and what each rule says of a run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_sqlbench.comparison import compare_runs
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.gate import CompareFail, FailUnder, GateResult, find_score, parse_compare_fail, parse_fail_under
from pytest_sqlbench.run import Run
from pytest_sqlbench.verdict import Verdict
from tests.verdicts import make_samples, make_verdict, make_verdicts


@pytest.mark.parametrize(
    "text,expected",
    [
        ("80", ("accuracy", "", 0.8, False)),
        ("80.5%", ("accuracy", "", 0.805, False)),
        ("orders:80", ("orders", "", 0.8, False)),
        ("accuracy[hard]:60@low", ("accuracy", "hard", 0.6, True)),
        ("pass@3:90", ("pass@3", "", 0.9, False)),
        ("pass^3[orders]:50", ("pass^3", "orders", 0.5, False)),
        ("pcm_f1:75@low", ("pcm_f1", "", 0.75, True)),
        ("0", ("accuracy", "", 0.0, False)),
    ],
)
def test_absolute_gates_are_read(text: str, expected: tuple[str, str, float, bool]) -> None:
    assert parse_fail_under(text) == FailUnder(text, *expected)


@pytest.mark.parametrize(
    "text", ["", "high", "101", "-5", "orders:", "orders:80:90", "accuracy[]:80", "80@high", "nan"]
)
def test_other_absolute_gates_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"cannot read the gate .*Allowed: \[SUITE:\]PCT"):
        parse_fail_under(text)


@pytest.mark.parametrize(
    "text,expected",
    [
        ("accuracy:2%", ("accuracy", "", 0.02)),
        ("accuracy:0.02", ("accuracy", "", 0.02)),
        ("accuracy[hard]:5%", ("accuracy", "hard", 0.05)),
        ("pcm_f1:0.01", ("pcm_f1", "", 0.01)),
        ("pass@3:1%", ("pass@3", "", 0.01)),
        ("regressions:3", ("regressions", "", 3.0)),
        ("p:0.05", ("p", "", 0.05)),
        ("p[orders]:.05", ("p", "orders", 0.05)),
        ("errors:0", ("errors", "", 0.0)),
        ("cost:20%", ("cost", "", 0.2)),
        ("cost:150%", ("cost", "", 1.5)),
    ],
)
def test_gates_against_the_baseline_are_read(text: str, expected: tuple[str, str, float]) -> None:
    assert parse_compare_fail(text) == CompareFail(text, *expected)


@pytest.mark.parametrize(
    "text,trouble",
    [
        ("accuracy", "gate 'accuracy'. Allowed"),
        ("accuracy:2", "write 2% or a number from 0 to 1"),
        ("accuracy:200%", "a drop is at most 100%"),
        ("regressions:1.5", "regressions takes a whole number"),
        ("errors:1%", "errors takes a whole number"),
        ("regressions[hard]:1", "regressions has no slices"),
        ("p:5%", "p takes a number between 0 and 1"),
        ("p:0", "p takes a number between 0 and 1"),
        ("cost:20", "cost takes a per cent"),
        ("accuracy:-1%", "Allowed: accuracy:2%"),
    ],
)
def test_other_gates_against_the_baseline_are_refused(text: str, trouble: str) -> None:
    with pytest.raises(UsageError, match=trouble):
        parse_compare_fail(text)


MIXED = [
    *make_verdicts("cccw", "orders", difficulty="easy"),
    *make_verdicts("cwww", "shop", difficulty="hard", metric="pcm_f1", scores={"pcm_em": 0.5}),
]


@pytest.mark.parametrize(
    "text,is_met,line",
    [
        ("50", True, "accuracy 50 % (n=8) reaches 50 %"),
        ("50.01", False, "accuracy 50 % (n=8) is under 50.01 %"),
        ("orders:80", False, "orders 75 % (n=4) is under 80 %"),
        ("accuracy[hard]:25", True, "accuracy[hard] 25 % (n=4) reaches 25 %"),
        ("pcm_f1:20", True, "pcm_f1 25 % (n=4) reaches 20 %"),
        ("pcm_em:50", True, "pcm_em 50 % (n=4) reaches 50 %"),
        ("50@low", False, "accuracy 50 % (n=8), lower end of its interval 21.52 %, is under 50 %"),
        ("21.5@low", True, "accuracy 50 % (n=8), lower end of its interval 21.52 %, reaches 21.5 %"),
        (
            "ordres:80",
            False,
            "ordres:80: no suite or score is called 'ordres'; there are accuracy, execution_accuracy, ",
        ),
        ("accuracy[med]:80", False, "accuracy[med]:80: no case of 'med' in this run"),
        ("pass@3:80", False, "pass@3:80: k must lie between 1 and the 1 samples of a case, not at 3"),
    ],
)
def test_absolute_gates(text: str, is_met: bool, line: str) -> None:
    found = parse_fail_under(text).judge(Run(tuple(MIXED)))
    assert (found.is_met, found.text[: len(line)]) == (is_met, line)


@pytest.mark.parametrize("text", ["80", "orders:80", "accuracy[hard]:0"])
def test_no_case_meets_no_gate(text: str) -> None:
    assert not parse_fail_under(text).judge(Run(())).is_met


def judge(text: str, old: Sequence[Verdict], new: Sequence[Verdict], *costs: float) -> GateResult:
    old_cost, new_cost = costs or (None, None)
    baseline = Run(tuple(old), cost_per_case_usd=old_cost)
    run = Run(tuple(new), cost_per_case_usd=new_cost)
    return parse_compare_fail(text).judge(run, compare_runs(baseline, run))


@pytest.mark.parametrize(
    "text,new,is_met,line",
    [
        ("accuracy:2%", "c" * 8 + "ww", True, "accuracy 80 % to 80 % on 10 common cases (allowed drop 2.00 points)"),
        ("accuracy:10%", "c" * 7 + "www", True, "accuracy 80 % to 70 % on 10 common cases (allowed drop 10.00 points)"),
        ("accuracy:9%", "c" * 7 + "www", False, "accuracy 80 % to 70 % on 10 common cases (allowed drop 9.00 points)"),
        ("accuracy:0%", "c" * 10, True, "accuracy 80 % to 100 % on 10 common cases"),
        ("accuracy:0%", "m" + "c" * 7 + "ww", True, "accuracy 77.78 % to 77.78 % on 9 common cases"),
        ("accuracy[hard]:0%", "c" * 10, False, "accuracy[hard]:0%: no case of 'hard' is in both runs"),
        ("nonsense:1%", "c" * 10, False, "nonsense:1%: no suite or score is called 'nonsense'"),
        ("regressions:1", "w" + "c" * 9, True, "1 regressions (allowed 1)"),
        ("regressions:0", "w" + "c" * 9, False, "1 regressions (allowed 0)"),
        ("errors:0", "m" + "c" * 9, False, "1 cases without a verdict (allowed 0)"),
        ("errors:1", "m" + "c" * 9, True, "1 cases without a verdict (allowed 1)"),
        ("removed:0", "c" * 9, False, "1 removed cases (allowed 0)"),
        ("p:0.05", "w" * 5 + "c" * 3 + "ww", True, "accuracy -50.00 points (n=10, p=0.0625) is no drop beyond chance"),
        (
            "p:0.05",
            "w" * 8 + "ww",
            False,
            "accuracy -80.00 points (n=10, p=0.00781) is a drop beyond chance (level 0.05)",
        ),
        ("p:0.5", "c" * 10, True, "accuracy +20.00 points (n=10, p=0.5) is no drop beyond chance (level 0.5)"),
        ("cost:20%", "c" * 10, False, "cost:20%: the cost of this run is unknown"),
    ],
)
def test_gates_against_the_baseline(text: str, new: str, is_met: bool, line: str) -> None:
    found = judge(text, make_verdicts("c" * 8 + "ww"), make_verdicts(new))
    assert (found.is_met, found.text[: len(line)]) == (is_met, line)


@pytest.mark.parametrize("new,is_met", [(0.012, True), (0.0121, False), (0.0, True)])
def test_cost_may_rise_by_so_much(new: float, is_met: bool) -> None:
    assert judge("cost:20%", [], [], 0.01, new).is_met is is_met


def test_cost_that_was_nothing_may_not_become_something() -> None:
    assert not judge("cost:20%", [], [], 0.0, 0.01).is_met


def test_a_graded_metric_is_gated_by_its_mean() -> None:
    old = [make_verdict(str(n), "c", metric="pcm_f1", score=0.8 + n / 1000) for n in range(40)]
    new = [make_verdict(str(n), "c", metric="pcm_f1", score=0.75 + n / 1000) for n in range(40)]
    assert not judge("pcm_f1:0.01", old, new).is_met
    assert judge("pcm_f1:0.06", old, new).is_met
    assert judge("p:0.05", old, new).text.startswith("mean score -5.00 points (n=40, p=")
    assert not judge("p:0.05", old, new).is_met


def test_samples_have_gates_of_their_own() -> None:
    run = Run(tuple(make_samples(["ccc", "ccw", "www"])))
    assert not parse_compare_fail("flaky:0").judge(run, None).is_met
    assert parse_compare_fail("flaky:1").judge(run, None).is_met
    assert parse_fail_under("pass@3:66").judge(run).is_met
    assert not parse_fail_under("pass^3:34").judge(run).is_met


def test_a_missing_baseline_is_never_met() -> None:
    run = Run(tuple(make_verdicts("ccc")))
    for text in ("accuracy:100%", "p:0.01", "cost:100%", "regressions:9"):
        found = parse_compare_fail(text).judge(run, None)
        assert (found.is_met, found.text) == (False, f"{text}: there is no baseline to compare with")


def test_a_suite_goes_before_a_figure_of_its_name() -> None:
    run = Run((make_verdict("a", "c", suite="pcm_em"), make_verdict("b", "c", scores={"pcm_em": 0.0})))
    assert find_score(run, "pcm_em").value == 1.0
