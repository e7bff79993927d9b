"""How sure a number is: intervals, paired tests, pass@k. Pure arithmetic on counts and lists; knows no verdict."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
RESAMPLES = 4_000
RESAMPLED_CASES = 2_000
"""Above so many cases the bootstrap of a mean is its normal limit to four digits, and the limit is used."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a value lies with 95 % confidence, both ends included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences, its 95 % interval, and the two-sided p-value of "there is none"."""

    n: int
    mean: float
    low: float
    high: float
    p: float


def wilson(mean: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the Wilson score interval of a rate seen in ``n`` cases.

    Args:
        mean: The rate, 0 to 1: right cases divided by cases.
        n: How many cases; a fraction is allowed, for an effective size.
        confidence: The share of such intervals that cover the true rate.

    Raises:
        ValueError: There is no case, or the rate is not a rate.

    Source: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    if n <= 0:
        raise ValueError("a rate over no cases has no interval")
    if not 0 <= mean <= 1:
        raise ValueError(f"a rate lies between 0 and 1, not at {mean!r}")
    z = _quantile(confidence)
    spread = 1 + z * z / n
    centre = (mean + z * z / (2 * n)) / spread
    half = z / spread * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    # at the ends the formula is exact on paper and off by one bit in floats
    return Interval(0.0 if mean == 0 else max(0.0, centre - half), 1.0 if mean == 1 else min(1.0, centre + half))


def clustered_wilson(rates: Sequence[float], samples: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval of the mean of per-case rates, each seen in several samples.

    Cases are what vary; samples of one case are not independent. So the Wilson interval is taken at the
    effective size, the number of independent trials that would scatter as much as the cases do: at least the
    number of cases (samples all agree), at most cases times samples (cases all alike).

    Args:
        rates: Per case, the share of right samples.
        samples: The most samples that a case has.
        confidence: As for `wilson`.

    Source: Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", with Wilson's interval in place of Clopper and Pearson's.
    """
    n = len(rates)
    if n == 0:
        raise ValueError("a rate over no cases has no interval")
    mean = math.fsum(rates) / n
    variance = math.fsum((rate - mean) ** 2 for rate in rates) / (n - 1) / n if n > 1 else 0.0
    effective = mean * (1 - mean) / variance if variance > 0 else float(n)
    return wilson(min(1.0, mean), min(max(effective, n), n * samples), confidence)


def mcnemar(fixed: int, regressed: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: were cases as likely to be fixed as to regress?

    Only cases on which the two runs disagree say anything; with none of them p is 1.

    Source: McNemar 1947; the exact form is the binomial test at one half.
    """
    n = fixed + regressed
    if n == 0:
        return 1.0
    term = tail = 1
    for k in range(min(fixed, regressed)):
        term = term * (n - k) // (k + 1)
        tail += term
    return min(1.0, _divide_by_power_of_two(2 * tail, n))


def _divide_by_power_of_two(count: int, exponent: int) -> float:
    # whole numbers keep the tail exact; above 1,000 cases the power itself is more than a float can hold
    shift = max(0, count.bit_length() - 64)
    return math.ldexp(count >> shift, shift - exponent)


def compare_right_and_wrong(fixed: int, regressed: int, n: int, confidence: float = CONFIDENCE) -> Difference:
    """Return the difference of two rates over the same ``n`` cases, with interval and exact McNemar p-value.

    Half a case is added to each cell for the interval, so that two runs without one difference between them do
    not claim to be known alike.

    Raises:
        ValueError: There is no case.

    Source: Agresti and Min 2005, "Simple improved confidence intervals for comparing matched proportions".
    """
    if n == 0:
        raise ValueError("a difference over no cases has no value")
    size, better, worse = n + 2, fixed + 0.5, regressed + 0.5
    middle = (better - worse) / size
    half = _quantile(confidence) * math.sqrt(better + worse - (better - worse) ** 2 / size) / size
    low, high = max(-1.0, middle - half), min(1.0, middle + half)
    return Difference(n, (fixed - regressed) / n, low, high, mcnemar(fixed, regressed))


def compare_paired(differences: Sequence[float], seed: int = 0, confidence: float = CONFIDENCE) -> Difference:
    """Return the mean of paired differences with its percentile bootstrap interval and p-value.

    The cases are drawn again with replacement; p is twice the smaller share of resamples on either side of
    zero, and never below what so many resamples can show. The same seed gives the same answer.

    Args:
        differences: Per case, new value minus old value.
        seed: Of the resampling.
        confidence: Of the interval.

    Raises:
        ValueError: There is no case.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapters 13 and 15.
    """
    n = len(differences)
    if n == 0:
        raise ValueError("a difference over no cases has no value")
    mean = math.fsum(differences) / n
    if all(difference == differences[0] for difference in differences):
        # nothing varies, so resampling can say nothing: an honest p needs a model of the cases not seen
        return Difference(n, mean, mean, mean, 1.0 if mean == 0 else 2.0 ** (1 - min(n, 1000)))
    if n > RESAMPLED_CASES:
        return _normal_difference(differences, mean, confidence)
    draws = random.Random(seed)
    means = sorted(math.fsum(draws.choices(differences, k=n)) / n for _ in range(RESAMPLES))
    return Difference(
        n,
        mean,
        percentile(means, (1 - confidence) / 2),
        percentile(means, (1 + confidence) / 2),
        _bootstrap_p(means),
    )


def bootstrap_mean(values: Sequence[float], seed: int = 0, confidence: float = CONFIDENCE) -> Interval:
    """Return the percentile bootstrap interval of a mean over cases, for scores that are not just right or wrong."""
    found = compare_paired(values, seed, confidence)
    return Interval(found.low, found.high)


def _normal_difference(differences: Sequence[float], mean: float, confidence: float) -> Difference:
    n = len(differences)
    error = math.sqrt(math.fsum((difference - mean) ** 2 for difference in differences)) / n
    half = _quantile(confidence) * error
    return Difference(n, mean, mean - half, mean + half, math.erfc(abs(mean) / error / math.sqrt(2)))


def _bootstrap_p(means: Sequence[float]) -> float:
    below = sum(mean <= 0 for mean in means)
    above = sum(mean >= 0 for mean in means)
    return min(1.0, 2 * (min(below, above) + 1) / (len(means) + 1))


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which a share of an ordered list lies, between neighbours where it falls between."""
    place = share * (len(ordered) - 1)
    left = math.floor(place)
    right = min(left + 1, len(ordered) - 1)
    return ordered[left] + (place - left) * (ordered[right] - ordered[left])


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Return the unbiased estimate of the chance that at least one of ``k`` samples of a case is right.

    Raises:
        ValueError: ``k`` is not between 1 and the number of samples, or more are right than there are.

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.
    """
    _check_samples(samples, correct, k)
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def pass_hat_k(samples: int, correct: int, k: int) -> float:
    """Return the unbiased estimate of pass^k, the chance that all ``k`` samples of a case are right.

    Raises:
        ValueError: As for `pass_at_k`.

    Source: Yao et al. 2024, "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains".
    """
    _check_samples(samples, correct, k)
    return math.comb(correct, k) / math.comb(samples, k)


def _check_samples(samples: int, correct: int, k: int) -> None:
    if not 1 <= k <= samples:
        raise ValueError(f"k must lie between 1 and the {samples} samples of a case, not at {k}")
    if not 0 <= correct <= samples:
        raise ValueError(f"{correct} of {samples} samples cannot be right")


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
