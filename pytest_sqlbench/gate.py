"""The rules that pass or fail a run: their grammar, and what they say of a run and its baseline. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_sqlbench.comparison import Comparison, Pair, is_graded, measure_difference, select_pairs
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.run import Run, Score, accuracy, mean_score, pass_at, select_slice, split_by_suite, tally_cases

COUNTS: Mapping[str, str] = {
    "errors": "cases without a verdict",
    "edited": "edited cases",
    "flaky": "flaky cases",
    "regressions": "regressions",
    "removed": "removed cases",
}
"""What `CompareFail` can count, in words."""

_NEEDS_NO_BASELINE = frozenset({"errors", "flaky"})

_UNDER = re.compile(
    r"(?:(?P<name>[^:\[\]]+)(?:\[(?P<slice>[^\]]+)\])?:)?(?P<level>\d+(?:\.\d*)?|\.\d+)%?(?P<low>@low)?"
)
_LIMIT = re.compile(r"(?P<name>[^:\[\]]+)(?:\[(?P<slice>[^\]]+)\])?:(?P<limit>\d+(?:\.\d*)?|\.\d+)(?P<percent>%?)")
_PASS = re.compile(r"pass(?P<kind>[@^])(?P<k>[1-9]\d*)")

UNDER_GRAMMAR = "[SUITE:]PCT, NAME:PCT or NAME[SLICE]:PCT with PCT from 0 to 100, each with @low or without"
LIMIT_GRAMMAR = (
    f"accuracy:2%, accuracy[hard]:5%, pcm_f1:0.01, pass@3:2%, p:0.05, p[hard]:0.05, cost:20%, {', '.join(COUNTS)} as "
    "regressions:3"
)


@dataclass(frozen=True, slots=True)
class GateResult:
    """What one rule came to."""

    is_met: bool
    text: str
    """One line for a person, numbers with their n."""


class Rule(Protocol):
    """A gate."""

    @property
    def text(self) -> str:
        """The rule as it was written."""

    def judge(self, run: Run, comparison: Comparison | None) -> GateResult:
        """Say whether the run meets the rule."""


@dataclass(frozen=True, slots=True)
class FailUnder:
    """The least value of a score."""

    text: str
    name: str
    """``accuracy``, ``pass@3``, ``pass^3``, a suite (its accuracy) or a figure such as ``pcm_f1`` (its mean)."""
    slice: str
    """A suite, difficulty or tag; empty: all cases."""
    level: float
    """0 to 1."""
    uses_low: bool = False
    """Whether the lower end of the 95 % interval has to reach the level."""

    def judge(self, run: Run, comparison: Comparison | None = None) -> GateResult:
        """Compare the score with the level; a score that cannot be had fails the rule."""
        try:
            score = find_score(run, self.name, self.slice)
        except ValueError as error:
            return GateResult(False, f"{self.text}: {error}")
        reached = score.low if self.uses_low else score.value
        subject = f"{_title(self.name, self.slice)} {_percent(score.value)} (n={score.n})"
        if self.uses_low:
            subject += f", lower end of its interval {_percent(score.low)},"
        is_met = reached >= self.level - 1e-12
        return GateResult(is_met, f"{subject} {'reaches' if is_met else 'is under'} {_percent(self.level)}")


@dataclass(frozen=True, slots=True)
class CompareFail:
    """The most by which a run may be worse than its baseline."""

    text: str
    name: str
    """``accuracy``, ``pass@3``, ``pass^3``, ``p``, ``cost``, a figure such as ``pcm_f1``, or a key of `COUNTS`."""
    slice: str
    limit: float
    """A drop 0 to 1, a p-value, a relative rise, or a count."""

    def judge(self, run: Run, comparison: Comparison | None) -> GateResult:
        """Compare with the baseline; where there is nothing to compare the rule fails."""
        if not needs_baseline(self):
            return self._judge_count(_count(self.name, run, comparison))
        if comparison is None:
            return GateResult(False, f"{self.text}: there is no baseline to compare with")
        if self.name in COUNTS:
            return self._judge_count(_count(self.name, run, comparison))
        if self.name == "cost":
            return self._judge_cost(comparison)
        pairs = select_pairs(comparison.pairs, self.slice)
        if not pairs:
            return GateResult(False, f"{self.text}: no case {_within(self.slice)}is in both runs")
        return self._judge_p(pairs) if self.name == "p" else self._judge_drop(pairs)

    def _judge_count(self, count: int) -> GateResult:
        return GateResult(count <= self.limit, f"{count} {COUNTS[self.name]} (allowed {self.limit:g})")

    def _judge_cost(self, comparison: Comparison) -> GateResult:
        old, new = comparison.baseline.cost_per_case_usd, comparison.run.cost_per_case_usd
        if old is None or new is None:
            whose = "this run" if new is None else "the baseline"
            return GateResult(False, f"{self.text}: the cost of {whose} is unknown")
        allowed = f"(allowed +{_percent(self.limit)})"
        return GateResult(new <= old * (1 + self.limit), f"cost per case {old:.6f} to {new:.6f} USD {allowed}")

    def _judge_p(self, pairs: Sequence[Pair]) -> GateResult:
        figure = "score" if is_graded(pairs) else "accuracy"
        found = measure_difference(pairs, figure)
        is_met = found.mean >= 0 or found.p >= self.limit
        word = "is no drop beyond chance" if is_met else "is a drop beyond chance"
        title = _title("mean score" if figure == "score" else figure, self.slice)
        return GateResult(
            is_met, f"{title} {_points(found.mean)} (n={found.n}, p={found.p:.3g}) {word} (level {self.limit:g})"
        )

    def _judge_drop(self, pairs: Sequence[Pair]) -> GateResult:
        try:
            old, new, n = _paired_values(pairs, self.name)
        except ValueError as error:
            return GateResult(False, f"{self.text}: {error}")
        change = f"{_title(self.name, self.slice)} {_percent(old)} to {_percent(new)} on {n} common cases"
        return GateResult(old - new <= self.limit + 1e-12, f"{change} (allowed drop {_points(self.limit, sign='')})")


def parse_fail_under(text: str) -> FailUnder:
    """Read an absolute gate, such as ``80``, ``orders:80``, ``accuracy[hard]:60@low`` or ``pass@3:90``.

    Raises:
        UsageError: It cannot be read; the message shows the grammar.
    """
    found = _UNDER.fullmatch(text.strip())
    if found is None or float(found["level"]) > 100:
        raise UsageError(f"cannot read the gate {text!r}. Allowed: {UNDER_GRAMMAR}.")
    name = found["name"] or "accuracy"
    return FailUnder(text.strip(), name, found["slice"] or "", float(found["level"]) / 100, bool(found["low"]))


def parse_compare_fail(text: str) -> CompareFail:
    """Read a gate against the baseline, such as ``accuracy:2%`` or ``regressions:3``.

    Raises:
        UsageError: It cannot be read; the message shows the grammar.
    """
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"cannot read the gate {text!r}. Allowed: {LIMIT_GRAMMAR}.")
    name, limit, is_percent = found["name"], float(found["limit"]), bool(found["percent"])
    trouble = _misuse(name, found["slice"], limit, is_percent)
    if trouble:
        raise UsageError(f"cannot read the gate {text!r}: {trouble}. Allowed: {LIMIT_GRAMMAR}.")
    return CompareFail(text.strip(), name, found["slice"] or "", limit / 100 if is_percent else limit)


def _misuse(name: str, slice_name: str | None, limit: float, is_percent: bool) -> str:
    if name in COUNTS or name == "cost":
        if slice_name:
            return f"{name} has no slices"
        if name == "cost":
            return "" if is_percent else "cost takes a per cent"
        return "" if not is_percent and limit.is_integer() else f"{name} takes a whole number"
    if name == "p":
        return "" if not is_percent and 0 < limit < 1 else "p takes a number between 0 and 1"
    if is_percent:
        return "" if limit <= 100 else "a drop is at most 100%"
    return "" if limit <= 1 else f"write {limit:g}% or a number from 0 to 1"


def find_score(run: Run, name: str, slice_name: str = "") -> Score:
    """Return the score that a rule names.

    Raises:
        ValueError: There is none, or it is over no case; the message names what there is.
    """
    suites = split_by_suite(run.verdicts)
    if name in suites and not slice_name:
        return accuracy(suites[name])
    verdicts = select_slice(run.verdicts, slice_name)
    if not verdicts:
        raise ValueError(f"no case {_within(slice_name)}in this run")
    if name == "accuracy":
        return accuracy(verdicts)
    if found := _PASS.fullmatch(name):
        return pass_at(verdicts, int(found["k"]), all_right=found["kind"] == "^")
    if name in {verdict.metric for verdict in verdicts}:
        return mean_score(verdict for verdict in verdicts if verdict.metric == name)
    figures = {figure for verdict in verdicts for figure in verdict.scores}
    if name in figures:
        return mean_score(verdicts, name)
    known = sorted({"accuracy", "pass@K", "pass^K", *suites, *figures, *(verdict.metric for verdict in verdicts)})
    raise ValueError(f"no suite or score is called {name!r}; there are {', '.join(known)}")


def _paired_values(pairs: Sequence[Pair], name: str) -> tuple[float, float, int]:
    """Return old value, new value and n of a score over the same cases."""
    sides = []
    for tallies in ([pair.old for pair in pairs], [pair.new for pair in pairs]):
        verdicts = tuple(verdict for tally in tallies for verdict in tally.verdicts)
        sides.append(find_score(Run(verdicts), name))
    return sides[0].value, sides[1].value, sides[1].n


def _count(name: str, run: Run, comparison: Comparison | None) -> int:
    tallies = tally_cases(run.verdicts).values()
    if name == "errors":
        return sum(tally.is_trouble for tally in tallies)
    if name == "flaky":
        return sum(tally.is_flaky for tally in tallies)
    assert comparison is not None, "every other count is of a comparison"
    groups: Mapping[str, Sequence[object]] = {
        "edited": comparison.edited,
        "regressions": comparison.regressed,
        "removed": comparison.removed,
    }
    return len(groups[name])


def needs_baseline(rule: Rule) -> bool:
    """True if a rule says nothing of a run alone."""
    return isinstance(rule, CompareFail) and rule.name not in _NEEDS_NO_BASELINE


def judge_run(rules: Iterable[Rule], run: Run, comparison: Comparison | None) -> list[GateResult]:
    """Apply every rule, in order."""
    return [rule.judge(run, comparison) for rule in rules]


def _title(name: str, slice_name: str) -> str:
    return f"{name}[{slice_name}]" if slice_name else name


def _within(slice_name: str) -> str:
    return f"of {slice_name!r} " if slice_name else ""


def _percent(rate: float) -> str:
    return f"{100 * rate:.2f}".rstrip("0").rstrip(".") + " %"


def _points(rate: float, sign: str = "+") -> str:
    return f"{100 * rate:{sign}.2f} points"
