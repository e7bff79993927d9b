"""The summary of a run as lines for a terminal: a table of suites, slices, reasons, the slowest cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_sqlbench.report.clauses import describe_clause_scores
from pytest_sqlbench.report.quadrants import describe_quadrants
from pytest_sqlbench.report.samples import describe_samples
from pytest_sqlbench.report.tables import align, show_rate, wrap
from pytest_sqlbench.run import Fingerprint, accuracy, split_by_slice, split_by_suite, tally_cases
from pytest_sqlbench.verdict import Outcome, Verdict

SHOWN_SLICES = 12
SHOWN_REASONS = 8
SHOWN_SLOW = 3
SLOW_MS = 100.0
"""A case is worth naming as slow from here on."""

HEAD = ("suite", "n", "accuracy", "95 % interval", "wrong", "errors", "vacuous")


def describe_summary(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the lines of the summary; at most a screen.

    Args:
        verdicts: Of the whole run, at least one.

    Raises:
        ValueError: There is no verdict.
    """
    if not verdicts:
        raise ValueError("a summary of no verdicts says nothing")
    suites = split_by_suite(verdicts)
    rows = [_suite_row(name, group) for name, group in suites.items()]
    if len(suites) > 1:
        rows.append(_suite_row("all", verdicts))
    lines = align([HEAD, *rows])
    lines += describe_samples(verdicts)
    for group in suites.values():
        lines += describe_clause_scores(group)
    lines += _readings(verdicts)
    lines += _luck(verdicts)
    lines += describe_quadrants(verdicts)
    lines += _slices(verdicts)
    lines += _reasons(verdicts)
    lines += _suspicious(verdicts)
    lines += _terminated(verdicts)
    lines += _slowest(verdicts)
    return lines


def _suite_row(name: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the counts of a suite: of cases, however many samples each has."""
    tallies = [tally for tally in tally_cases(verdicts).values() if tally.is_scorable]
    rate, interval = show_rate(accuracy(verdicts)) if tallies else ("n/a", "")
    errors = sum(tally.is_trouble for tally in tallies)
    wrong = sum(not tally.is_trouble and not tally.is_right for tally in tallies)
    vacuous = sum(any("vacuous" in verdict.flags for verdict in tally.verdicts) for tally in tallies)
    return name, f"{len(tallies):,}", rate, interval, f"{wrong:,}", f"{errors:,}", f"{vacuous:,}"


def _luck(verdicts: Sequence[Verdict]) -> list[str]:
    """Say how many right answers a generated database exposes, and what the accuracy is without them."""
    asked = [verdict for verdict in verdicts if verdict.outcome is not Outcome.UNSCORABLE]
    right = [verdict for verdict in asked if verdict.outcome is Outcome.CORRECT]
    tried = [verdict for verdict in right if "passed_by_luck" in verdict.scores]
    lucky = sum(verdict.scores["passed_by_luck"] > 0 for verdict in tried)
    if not tried:
        return []
    rate = 100 * (len(right) - lucky) / len(asked)
    return wrap("luck", [f"{lucky:,} of {len(tried):,} right answers fail on generated data: {rate:.1f} % without"], "")


def _readings(verdicts: Sequence[Verdict]) -> list[str]:
    """Say what other policies make of the same rows; a case that one of them has not read counts as wrong."""
    asked = [verdict for verdict in verdicts if verdict.outcome is not Outcome.UNSCORABLE]
    names = sorted({name for verdict in asked for name in verdict.scores if name.startswith("policy:")})
    cells: list[str] = []
    for name in names:
        right = sum(verdict.scores.get(name, 0.0) for verdict in asked)
        cells.append(f"{name.removeprefix('policy:')} {100 * right / len(asked):.1f} % of {len(asked):,}")
    return wrap("also", cells, "") if cells else []


def _slices(verdicts: Sequence[Verdict]) -> list[str]:
    sizes = Counter(verdict.suite for verdict in verdicts)
    groups = [
        (name, group)
        for name, group in split_by_slice(verdicts).items()
        if len(group) < len(verdicts)
        and not (len({one.suite for one in group}) == 1 and len(group) == sizes[group[0].suite])
    ]
    groups = [pair for pair in groups if any(one.outcome is not Outcome.UNSCORABLE for one in pair[1])]
    if not groups:
        return []
    largest = sorted(groups, key=lambda pair: (-len(pair[1]), pair[0]))[:SHOWN_SLICES]
    cells: list[str] = []
    for name, group in sorted(largest):
        score = accuracy(group)
        cells.append(f"{name} {100 * score.value:.1f} % of {score.n:,}")
    more = f" (and {len(groups) - len(largest)} smaller)" if len(groups) > len(largest) else ""
    return wrap("slices", cells, more)


def _commonest(counts: Counter[str], n: int) -> list[tuple[str, int]]:
    """Return the largest counts, equal ones by name: the order of reports differs from run to run under xdist."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:n]


def _reasons(verdicts: Sequence[Verdict]) -> list[str]:
    counts = Counter(
        verdict.reason.value.replace("_", " ")
        for verdict in verdicts
        if verdict.reason is not None and verdict.outcome is not Outcome.UNSCORABLE
    )
    if not counts:
        return []
    cells = [f"{reason} {n:,}" for reason, n in _commonest(counts, SHOWN_REASONS)]
    more = f" (and {len(counts) - SHOWN_REASONS} more)" if len(counts) > SHOWN_REASONS else ""
    return wrap("reasons", cells, more)


def _suspicious(verdicts: Sequence[Verdict]) -> list[str]:
    counts = Counter(
        flag.replace("_", " ")
        for verdict in verdicts
        for flag in verdict.flags
        if verdict.outcome is Outcome.CORRECT and flag not in ("vacuous", "ties", "passed_by_luck")
    )
    cells = [f"{flag} {n:,}" for flag, n in _commonest(counts, 6)]
    return wrap("right, but", cells, "") if cells else []


def _terminated(verdicts: Sequence[Verdict]) -> list[str]:
    count = sum("terminated" in verdict.flags for verdict in verdicts)
    return wrap("server", [f"{count:,} processes had to be terminated, since they did not stop"], "") if count else []


def _slowest(verdicts: Sequence[Verdict]) -> list[str]:
    slow = sorted(verdicts, key=lambda verdict: -(verdict.gold_ms + verdict.predicted_ms))[:SHOWN_SLOW]
    cells = [
        f"{verdict.suite}[{verdict.case}] {verdict.gold_ms + verdict.predicted_ms:,.0f} ms"
        for verdict in slow
        if verdict.gold_ms + verdict.predicted_ms >= SLOW_MS
    ]
    return wrap("slowest", cells, "") if cells else []


def describe_trouble(verdicts: Sequence[Verdict]) -> str:
    """Say how many cases the bench failed on, and why; empty where there is none."""
    troubled = [verdict for verdict in verdicts if verdict.is_trouble]
    if not troubled:
        return ""
    counts = Counter(verdict.reason.value.replace("_", " ") for verdict in troubled if verdict.reason is not None)
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in _commonest(counts, len(counts)))
    return f"trouble     {len(troubled):,} of {len(verdicts):,} could not be judged and count as not right: {reasons}"


def describe_fingerprint(origin: Fingerprint) -> list[str]:
    """Say by what the run was made: everything that has to be the same for two runs to be compared."""
    cells = [f"model {origin.model}" if origin.model else "", f"extraction {origin.extraction}"]
    policies = sorted({facts.policy for facts in origin.suites.values()})
    cells.append(f"policy {', '.join(policies[:2])}" + (f" and {len(policies) - 2} more" if len(policies) > 2 else ""))
    cells += [f"{name} {version}" for name, version in sorted(origin.engines.items())]
    databases = sorted(
        f"{suite if name == 'main' else name} {digest[:8]}"
        for suite, facts in origin.suites.items()
        for name, digest in facts.databases.items()
    )
    if databases:
        more = f" and {len(databases) - 4} more" if len(databases) > 4 else ""
        cells.append(f"data {', '.join(databases[:4])}{more}")
    cells += [origin.selection, f"samples {origin.samples}" if origin.samples > 1 else ""]
    cells.append(f"pytest-sqlbench {origin.plugin}")
    return wrap("made by", [cell for cell in cells if cell and cell != "policy "], "")
