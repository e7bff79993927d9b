"""A run: verdicts and where they came from, and the scores over them. Pure; knows no files and no pytest."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_sqlbench.case import NOTHING
from pytest_sqlbench.significance import bootstrap_mean, clustered_wilson, pass_at_k, pass_hat_k
from pytest_sqlbench.verdict import Outcome, Verdict

Key = tuple[str, str]
"""Suite and case: what names a case in every run."""


def natural_order(key: Key) -> list[tuple[int, str]]:
    """Return what cases are sorted by: numbers inside an id count as numbers, so that 9 stands before 10."""
    parts = re.split(r"(\d+)", "\0".join(key))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What one suite was judged by."""

    metric: str = "execution_accuracy"
    policy: str = "default"
    """`policy.describe_policy`: two policies that differ in any field differ here."""
    threshold: float = 1.0
    digest: str = ""
    """Of the manifest and the case files."""
    prompt: str = ""
    """Digest of the prompt template; empty where no prompt is made."""
    databases: Mapping[str, str] = NOTHING
    """Database to the digest of its data."""
    cases: int = 0
    """How many cases the suite has under the run's selection; a run with fewer is partial."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Where a run came from: enough to say whether two runs may be compared."""

    plugin: str = ""
    """Version of this package."""
    policy_version: int = 0
    extraction: str = ""
    """How a statement is picked out of a reply."""
    model: str = ""
    """The model spec, without secrets."""
    parameters: Mapping[str, str | int | float | bool] = NOTHING
    samples: int = 1
    selection: str = ""
    """What cut the suites on purpose, such as ``limit=100``; empty: nothing."""
    shard: str = ""
    """Which part of the selected cases this is, such as ``3/8``; empty: all of them."""
    engines: Mapping[str, str] = NOTHING
    """Engine to its version."""
    suites: Mapping[str, SuiteFacts] = NOTHING
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """Verdicts of one model over some suites."""

    verdicts: tuple[Verdict, ...]
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    name: str = ""
    """What a person calls it: the name or path it was saved under."""
    cost_per_case_usd: float | None = None
    """None: unknown, which is not zero."""


@dataclass(frozen=True, slots=True)
class Score:
    """A metric over ``n`` cases with its 95 % interval; all three values are 0 to 1."""

    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tally:
    """One case over all samples of it."""

    verdicts: tuple[Verdict, ...]
    """At least one, in order of sample."""

    @property
    def key(self) -> Key:
        """Suite and case."""
        return self.verdicts[0].suite, self.verdicts[0].case

    @property
    def samples(self) -> int:
        """How many predictions were judged or asked for."""
        return len(self.verdicts)

    @property
    def correct(self) -> int:
        """How many of them are right."""
        return sum(verdict.outcome is Outcome.CORRECT for verdict in self.verdicts)

    @property
    def rate(self) -> float:
        """The share of samples that are right."""
        return self.correct / self.samples

    @property
    def is_right(self) -> bool:
        """True if more than half of the samples are right."""
        return 2 * self.correct > self.samples

    @property
    def is_flaky(self) -> bool:
        """True if some samples are right and some are not."""
        return 0 < self.correct < self.samples

    @property
    def is_trouble(self) -> bool:
        """True if the bench failed on any sample."""
        return any(verdict.is_trouble for verdict in self.verdicts)

    @property
    def is_scorable(self) -> bool:
        """False if the metric is not defined for the gold of this case."""
        return all(verdict.outcome is not Outcome.UNSCORABLE for verdict in self.verdicts)

    @property
    def shown(self) -> Verdict:
        """The sample that stands for the case: trouble if there is any, else the first that is as the case is."""
        if len(self.verdicts) == 1:
            return self.verdicts[0]
        if self.is_trouble:
            return next(verdict for verdict in self.verdicts if verdict.is_trouble)
        return next(v for v in self.verdicts if (v.outcome is Outcome.CORRECT) is self.is_right)

    def mean(self, name: str = "") -> float:
        """Return the mean over samples of the metric's value, or of the figure ``name``; without an answer it is 0."""
        values = ((verdict.scores.get(name) if name else verdict.score) or 0.0 for verdict in self.verdicts)
        return math.fsum(values) / self.samples


def tally_cases(verdicts: Iterable[Verdict]) -> dict[Key, Tally]:
    """Put the samples of each case together, in order of first appearance."""
    groups: defaultdict[Key, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.suite, verdict.case].append(verdict)
    return {
        key: Tally(tuple(group) if len(group) == 1 else tuple(sorted(group, key=lambda one: one.sample)))
        for key, group in groups.items()
    }


def accuracy(verdicts: Iterable[Verdict]) -> Score:
    """Return the share of right answers over cases, with Wilson's interval.

    Every case that was asked counts, one that got no answer as not right. Only cases that the metric cannot
    score are left out. With several samples a case counts with the share of them that are right.

    Raises:
        ValueError: There is no case to score.
    """
    tallies = _scorable(verdicts)
    rates = [tally.rate for tally in tallies]
    interval = clustered_wilson(rates, max(tally.samples for tally in tallies))
    return Score(len(rates), math.fsum(rates) / len(rates), interval.low, interval.high)


def mean_score(verdicts: Iterable[Verdict], name: str = "") -> Score:
    """Return the mean of the metric's value over cases, or of the further figure ``name``, such as ``pcm_em``.

    Suites that do not have the figure are left out; a case without an answer counts as 0.

    Raises:
        ValueError: There is no case to score.
    """
    given = list(verdicts)
    if name:
        suites = {verdict.suite for verdict in given if name in verdict.scores}
        given = [verdict for verdict in given if verdict.suite in suites]
    return _mean_of(_scorable(given), lambda tally: tally.mean(name))


def pass_at(verdicts: Iterable[Verdict], k: int, *, all_right: bool = False) -> Score:
    """Return pass@k over cases (any of k samples right), or pass^k (all of them).

    Raises:
        ValueError: There is no case to score, or one has fewer than ``k`` samples.
    """
    estimate = pass_hat_k if all_right else pass_at_k
    return _mean_of(_scorable(verdicts), lambda tally: estimate(tally.samples, tally.correct, k))


def _scorable(verdicts: Iterable[Verdict]) -> list[Tally]:
    tallies = [tally for tally in tally_cases(verdicts).values() if tally.is_scorable]
    if not tallies:
        raise ValueError("a score over no cases has no value")
    return tallies


def _mean_of(tallies: Sequence[Tally], value: Callable[[Tally], float]) -> Score:
    values = [value(tally) for tally in tallies]
    interval = clustered_wilson(values, 1) if set(values) <= {0.0, 1.0} else bootstrap_mean(values)
    return Score(len(values), math.fsum(values) / len(values), interval.low, interval.high)


def split_by_suite(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Return the verdicts of each suite, suites in order of name."""
    groups: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[verdict.suite].append(verdict)
    return dict(sorted(groups.items()))


def split_by_slice(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Return the verdicts of each difficulty and of each tag, in order of name; a case is in all of its slices."""
    groups: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        for name in {verdict.difficulty, *verdict.tags} - {""}:
            groups[name].append(verdict)
    return dict(sorted(groups.items()))


def select_slice(verdicts: Iterable[Verdict], name: str) -> list[Verdict]:
    """Return the verdicts of the suite, difficulty or tag ``name``; of all where the name is empty."""
    return [
        verdict
        for verdict in verdicts
        if not name or name == verdict.suite or name == verdict.difficulty or name in verdict.tags
    ]


def count_missing(run: Run) -> dict[str, int]:
    """Return, per suite, how many of its cases have no verdict. Nothing comes back for a whole run."""
    have = {name: len(tally_cases(group)) for name, group in split_by_suite(run.verdicts).items()}
    lacking = {name: facts.cases - have.get(name, 0) for name, facts in run.fingerprint.suites.items()}
    return {name: n for name, n in sorted(lacking.items()) if n > 0}


def measure_cost(verdicts: Sequence[Verdict]) -> float | None:
    """Return US dollars per case; None where no verdict knows its cost."""
    costs = [verdict.cost_usd for verdict in verdicts if verdict.cost_usd is not None]
    return math.fsum(costs) / len(tally_cases(verdicts)) if costs else None
