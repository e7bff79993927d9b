"""A run beside its baseline, and what the gates say, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_sqlbench.comparison import Comparison, Pair, is_graded, measure_difference, select_pairs
from pytest_sqlbench.gate import GateResult
from pytest_sqlbench.report.cells import fold
from pytest_sqlbench.report.failure import headline
from pytest_sqlbench.report.tables import align
from pytest_sqlbench.run import Tally

SHOWN_CASES = 10

HEAD = ("suite", "n", "before", "now", "change", "95 % interval", "p", "fixed", "regressed", "known wrong")

Line = tuple[str, bool | None]
"""A line, and whether it is good news (None: neither)."""


def describe_comparison(comparison: Comparison, shown: int = SHOWN_CASES) -> list[str]:
    """Return the lines of a comparison.

    Args:
        comparison: Of two comparable runs.
        shown: At most so many cases of each group are named.
    """
    lines = [f"compared with {comparison.baseline.name or 'the baseline'}"]
    lines += [f"  {note}" for note in comparison.notes]
    if comparison.pairs:
        lines += align([HEAD, *table_rows(comparison)])
    else:
        lines.append("  no case is in both runs and answered in both")
    lines += _groups(comparison, shown)
    return lines


def table_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return a row of texts for each suite, one more for a graded figure, and one for all where there are several."""
    pairs = comparison.pairs
    suites = sorted({pair.key[0] for pair in pairs})
    rows: list[tuple[str, ...]] = []
    for name in suites:
        rows += _suite_rows(name, select_pairs(pairs, name))
    if len(suites) > 1:
        rows += _suite_rows("all", pairs)
    return rows


def _suite_rows(name: str, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    right = [(pair.old.is_right, pair.new.is_right) for pair in pairs]
    counts = [str(right.count(change)) for change in ((False, True), (True, False), (False, False))]
    rows = [(*_figure_row(name, pairs, "accuracy"), *counts)]
    if is_graded(pairs):
        rows.append((*_figure_row("  mean score", pairs, "score"), "", "", ""))
    return rows


def _figure_row(title: str, pairs: Sequence[Pair], figure: str) -> tuple[str, ...]:
    found = measure_difference(pairs, figure)
    values = [tally.rate if figure == "accuracy" else tally.mean() for pair in pairs for tally in (pair.old, pair.new)]
    before, now = sum(values[::2]) / found.n, sum(values[1::2]) / found.n
    interval = f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"
    change = f"{100 * found.mean:+.1f}"
    return title, f"{found.n:,}", f"{100 * before:.1f} %", f"{100 * now:.1f} %", change, interval, show_p(found.p)


def show_p(p: float) -> str:
    """Return a p-value with two significant digits."""
    return f"{p:.2g}" if p >= 0.0001 else "<0.0001"


def _groups(comparison: Comparison, shown: int) -> list[str]:
    lines: list[str] = []
    for label, keys in (
        ("new", comparison.new),
        ("removed", comparison.removed),
        ("edited", comparison.edited),
        ("unanswered", comparison.unanswered),
        ("fixed", [pair.key for pair in comparison.fixed]),
    ):
        if keys:
            names = ", ".join(f"{suite}[{case}]" for suite, case in keys[:shown])
            more = f", … {len(keys) - shown:,} more" if len(keys) > shown else ""
            lines.append(f"{label:<12}{len(keys):,}: {names}{more}")
    if comparison.regressed:
        lines.append(f"{'regressed':<12}{len(comparison.regressed):,}:")
        lines += [f"  {_describe(pair.new)}" for pair in comparison.regressed[:shown]]
        if len(comparison.regressed) > shown:
            lines.append(f"  … {len(comparison.regressed) - shown:,} more")
    return lines


def _describe(tally: Tally) -> str:
    verdict = tally.shown
    samples = f" {tally.correct} of {tally.samples} samples right," if tally.samples > 1 else ""
    return fold(f"{verdict.suite}[{verdict.case}]:{samples} {headline(verdict)}", 118)


def describe_gates(results: Iterable[GateResult], errors: int, obstacle: str = "") -> list[Line]:
    """Return a line for each gate, good or bad.

    Args:
        results: What the rules came to.
        errors: How many cases got no verdict; a met gate must not hide them.
        obstacle: Why the gates were not evaluated; empty if they were.
    """
    if obstacle:
        return [(f"GATE not evaluated: {obstacle}", None)]
    lines: list[Line] = [(f"GATE {'met' if one.is_met else 'MISSED'}: {one.text}", one.is_met) for one in results]
    if errors and all(is_good for _, is_good in lines):
        lines.append((f"GATE met, but {errors:,} {'case' if errors == 1 else 'cases'} got no verdict", False))
    return lines
