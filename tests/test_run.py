"""Scores over verdicts: who is in the denominator, slices, samples, and joining shards."""

from __future__ import annotations

import pytest

from pytest_sqlbench.run import (
    Fingerprint,
    Run,
    SuiteFacts,
    accuracy,
    count_missing,
    mean_score,
    measure_cost,
    pass_at,
    select_slice,
    split_by_slice,
    split_by_suite,
    tally_cases,
)
from pytest_sqlbench.significance import wilson
from tests.verdicts import make_samples, make_verdict, make_verdicts


@pytest.mark.parametrize(
    "letters,n,value",
    [("ccw", 3, 2 / 3), ("ccwm", 4, 0.5), ("ccwg", 4, 0.5), ("ccwu", 3, 2 / 3), ("m", 1, 0.0)],
    ids=["wrong_counts", "no_answer_counts", "broken_gold_counts", "unscorable_is_left_out", "all_trouble_is_zero"],
)
def test_accuracy_counts_every_case_that_was_asked(letters: str, n: int, value: float) -> None:
    score = accuracy(make_verdicts(letters))
    assert (score.n, score.value) == (n, pytest.approx(value))
    assert (score.low, score.high) == (wilson(value, n).low, wilson(value, n).high)


@pytest.mark.parametrize("letters", ["", "u"])
def test_accuracy_of_nothing_has_no_value(letters: str) -> None:
    with pytest.raises(ValueError, match="no cases"):
        accuracy(make_verdicts(letters))


def test_samples_count_as_one_case() -> None:
    score = accuracy(make_samples(["ccccc", "cwcwc", "wwwww", "wwwwm"]))
    assert (score.n, score.value) == (4, 0.4)


def test_a_case_is_right_if_more_than_half_of_its_samples_are() -> None:
    tallies = tally_cases(make_samples(["cw", "ccw", "cww", "cc"])).values()
    assert [tally.is_right for tally in tallies] == [False, True, False, True]
    assert [tally.is_flaky for tally in tallies] == [True, True, True, False]


@pytest.mark.parametrize(
    "letters,sample", [("c", 0), ("w", 0), ("wcc", 1), ("cww", 1), ("cw", 1), ("ccm", 2), ("u", 0)]
)
def test_one_sample_stands_for_the_case(letters: str, sample: int) -> None:
    (tally,) = tally_cases(make_samples([letters])).values()
    assert tally.shown is tally.verdicts[sample]


def test_samples_come_in_order() -> None:
    verdicts = make_samples(["cwm"])
    assert tally_cases(reversed(verdicts)) == tally_cases(verdicts)


def test_mean_score_counts_a_case_without_an_answer_as_zero() -> None:
    verdicts = [make_verdict("a", "c", score=0.75), make_verdict("b", "w", score=0.25), make_verdict("c", "m")]
    assert mean_score(verdicts).value == pytest.approx(1 / 3)


def test_mean_score_of_a_figure_leaves_out_suites_that_do_not_have_it() -> None:
    verdicts = [
        make_verdict("a", "c", scores={"pcm_em": 1.0}),
        make_verdict("b", "m"),
        make_verdict("a", "c", suite="other"),
    ]
    score = mean_score(verdicts, "pcm_em")
    assert (score.n, score.value) == (2, 0.5)


def test_mean_score_of_an_unknown_figure_has_no_value() -> None:
    with pytest.raises(ValueError, match="no cases"):
        mean_score(make_verdicts("cw"), "pcm_em")


def test_pass_at_k_and_pass_hat_k() -> None:
    verdicts = make_samples(["cccc", "ccww", "wwww"])
    assert pass_at(verdicts, 2).value == pytest.approx((1 + 5 / 6 + 0) / 3)
    assert pass_at(verdicts, 2, all_right=True).value == pytest.approx((1 + 1 / 6 + 0) / 3)
    assert pass_at(verdicts, 1).value == pytest.approx(accuracy(verdicts).value)


def test_slices_are_difficulties_and_tags() -> None:
    hard = make_verdict("a", "w", difficulty="hard", tags=("join", "dates"))
    easy = make_verdict("b", "c", difficulty="easy", tags=("join",))
    plain = make_verdict("c", "c", suite="other")
    assert split_by_slice([hard, easy, plain]) == {
        "dates": [hard],
        "easy": [easy],
        "hard": [hard],
        "join": [hard, easy],
    }
    assert split_by_suite([plain, hard, easy]) == {"orders": [hard, easy], "other": [plain]}
    for name, expected in (("", [hard, easy, plain]), ("other", [plain]), ("join", [hard, easy]), ("none", [])):
        assert select_slice([hard, easy, plain], name) == expected


def test_a_run_knows_what_it_lacks() -> None:
    suites = {"orders": SuiteFacts(cases=3), "other": SuiteFacts(cases=2)}
    run = Run(tuple(make_samples(["cc", "cw"])), Fingerprint(suites=suites))
    assert count_missing(run) == {"orders": 1, "other": 2}


def test_cost_is_per_case_and_unknown_is_not_zero() -> None:
    assert measure_cost(make_samples(["cc", "cc"], cost_usd=0.01)) == pytest.approx(0.02)
    assert measure_cost(make_verdicts("cc")) is None
