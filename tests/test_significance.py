"""The statistics, against tables, laws, and the libraries that everybody trusts."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from pytest_sqlbench.significance import (
    Interval,
    bootstrap_mean,
    clustered_wilson,
    compare_paired,
    compare_right_and_wrong,
    mcnemar,
    pass_at_k,
    pass_hat_k,
    wilson,
)


@pytest.mark.parametrize("n", [1, 2, 17, 200, 1034, 80_000])
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.707, 1.0])
def test_wilson_agrees_with_statsmodels(n: int, rate: float) -> None:
    statsmodels = pytest.importorskip("statsmodels.stats.proportion")
    right = round(rate * n)
    low, high = statsmodels.proportion_confint(right, n, method="wilson")
    assert wilson(right / n, n).low == pytest.approx(low, abs=1e-9)
    assert wilson(right / n, n).high == pytest.approx(high, abs=1e-9)


def test_wilson_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for right, n in ((0, 5), (41, 56), (56, 92), (1592, 1592)):
        expected = stats.binomtest(right, n).proportion_ci(method="wilson")
        assert wilson(right / n, n) == Interval(
            pytest.approx(expected.low, abs=1e-9), pytest.approx(expected.high, abs=1e-9)
        )


def test_wilson_of_nothing_has_no_value() -> None:
    with pytest.raises(ValueError, match="no cases"):
        wilson(0.0, 0)


@pytest.mark.parametrize("fixed,regressed", [(0, 0), (0, 1), (3, 12), (12, 3), (9, 9), (70, 40), (600, 700)])
def test_mcnemar_agrees_with_statsmodels(fixed: int, regressed: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    if fixed + regressed:
        expected = tables.mcnemar([[100, fixed], [regressed, 50]], exact=True).pvalue
        assert mcnemar(fixed, regressed) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("fixed,regressed", [(0, 1), (3, 12), (70, 40), (600, 700), (9000, 9400)])
def test_mcnemar_agrees_with_scipy(fixed: int, regressed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(fixed, fixed + regressed, 0.5).pvalue
    assert mcnemar(fixed, regressed) == pytest.approx(expected, abs=1e-9)


def test_mcnemar_needs_cases_that_disagree() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(0, 5) == 2 / 2**5
    assert mcnemar(0, 4) > 0.05 > 2 * 0.5**6


def test_the_interval_of_a_paired_difference_covers_as_often_as_it_says() -> None:
    draws = random.Random(13)
    covered = 0
    for _ in range(1000):
        changes = draws.choices((1, -1, 0), weights=(0.06, 0.11, 0.83), k=200)
        found = compare_right_and_wrong(changes.count(1), changes.count(-1), 200)
        covered += found.low <= -0.05 <= found.high
    assert 0.93 <= covered / 1000 <= 0.975


def test_two_runs_without_a_difference_are_not_known_to_be_alike() -> None:
    found = compare_right_and_wrong(0, 0, 100)
    assert (found.mean, found.p) == (0.0, 1.0)
    assert found.low == -found.high < -0.01


def test_bootstrap_agrees_with_scipy_within_its_own_error() -> None:
    stats = pytest.importorskip("scipy.stats")
    draws = random.Random(7)
    differences = [draws.choice((-1.0, 0.0, 0.0, 0.25, 1.0)) for _ in range(300)]
    found = compare_paired(differences)
    expected = stats.bootstrap(
        (differences,), lambda values, axis: values.mean(axis=axis), method="percentile", n_resamples=20_000, rng=1
    ).confidence_interval
    error = 6 * (expected.high - expected.low) / math.sqrt(4_000)
    assert found.mean == pytest.approx(sum(differences) / 300, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=error)


def test_bootstrap_p_agrees_with_the_paired_t_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    draws = random.Random(3)
    differences = [draws.gauss(0.02, 0.2) for _ in range(400)]
    assert compare_paired(differences).p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.02)


def test_bootstrap_is_the_same_for_the_same_seed() -> None:
    differences = [0.0, 1.0, -1.0, 0.5, 0.0, 0.5]
    assert compare_paired(differences, seed=4) == compare_paired(differences, seed=4)


def test_many_cases_use_the_normal_limit() -> None:
    draws = random.Random(5)
    differences = [draws.choice((-1.0, 0.0, 0.0, 0.0, 1.0)) for _ in range(2_000)]
    few, many = compare_paired(differences), compare_paired([*differences, differences[0]])
    assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.002)
    assert few.p == pytest.approx(many.p, abs=0.03)


@pytest.mark.parametrize("value,p", [(0.0, 1.0), (0.5, 2 / 2**8), (-1.0, 2 / 2**8)])
def test_differences_that_are_all_alike(value: float, p: float) -> None:
    found = compare_paired([value] * 8)
    assert (found.mean, found.p) == (value, p)


def test_bootstrap_of_nothing_has_no_value() -> None:
    with pytest.raises(ValueError, match="no cases"):
        compare_paired([])


def test_bootstrap_mean_covers_the_mean() -> None:
    interval = bootstrap_mean([0.1, 0.9, 0.4, 0.6, 0.5])
    assert 0.1 <= interval.low < 0.5 < interval.high <= 0.9


def test_one_sample_gives_the_plain_wilson_interval() -> None:
    assert clustered_wilson([1.0] * 7 + [0.0] * 3, samples=1) == wilson(0.7, 10)


def test_agreeing_samples_add_nothing() -> None:
    assert clustered_wilson([1.0] * 7 + [0.0] * 3, samples=5) == wilson(0.7, 10)


def test_independent_samples_count_as_cases() -> None:
    """Cases that are all alike, each a coin of its own, scatter as cases times samples would."""
    found = clustered_wilson([0.8, 0.6] * 50, samples=5)
    assert found == wilson(0.7, 500)


def test_clustered_wilson_covers_as_often_as_it_says() -> None:
    draws = random.Random(11)
    covered = 0
    for _ in range(400):
        chances = [draws.betavariate(1.4, 0.6) for _ in range(200)]
        rates = [sum(draws.random() < chance for _ in range(5)) / 5 for chance in chances]
        interval = clustered_wilson(rates, samples=5)
        covered += interval.low <= 0.7 <= interval.high
    assert 0.92 <= covered / 400 <= 0.985


@pytest.mark.parametrize("samples,correct", [(1, 0), (1, 1), (5, 0), (5, 2), (5, 5), (8, 3)])
def test_pass_at_k_counts_every_choice(samples: int, correct: int) -> None:
    """The estimators are the shares of all ways to choose k samples."""
    marks = [True] * correct + [False] * (samples - correct)
    for k in range(1, samples + 1):
        choices = list(itertools.combinations(marks, k))
        assert pass_at_k(samples, correct, k) == pytest.approx(sum(map(any, choices)) / len(choices), abs=1e-9)
        assert pass_hat_k(samples, correct, k) == pytest.approx(sum(map(all, choices)) / len(choices), abs=1e-9)


def test_pass_at_k_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for samples, correct, k in ((10, 3, 5), (200, 13, 100), (100, 99, 2)):
        draw = stats.hypergeom(samples, correct, k)
        assert pass_at_k(samples, correct, k) == pytest.approx(1 - draw.pmf(0), abs=1e-9)
        assert pass_hat_k(samples, correct, k) == pytest.approx(draw.pmf(k), abs=1e-9)


@pytest.mark.parametrize("k", [0, 6])
def test_pass_at_k_needs_k_samples(k: int) -> None:
    with pytest.raises(ValueError, match="between 1 and the 5 samples"):
        pass_at_k(5, 2, k)
