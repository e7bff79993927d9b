"""What the summary and a failed case show of metrics over clauses. Nothing for suites judged by rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_sqlbench.run import mean_score
from pytest_sqlbench.verdict import Outcome, Verdict

COMPONENTS = ("select", "top", "from", "group", "having", "where", "order")
FIGURES = ("pcm_f1", "pcm_em", "clause_f1")
SHOWN_ITEMS = 12


def describe_clause_scores(verdicts: Sequence[Verdict]) -> list[str]:
    """Return two lines for a suite that is judged by clauses: the means with their n, and F1 by component.

    Args:
        verdicts: Of one suite.

    Returns:
        No line for a suite of another metric, or without a case that the metric can score.
    """
    metric = verdicts[0].metric if verdicts else ""
    suffix = metric[metric.index("[") :] if "[" in metric else ""
    if metric.removesuffix(suffix) not in FIGURES:
        return []
    scorable = [verdict for verdict in verdicts if verdict.outcome is not Outcome.UNSCORABLE]
    unscorable = f"{len(verdicts) - len(scorable):,} unscorable"
    suite = verdicts[0].suite
    if not scorable:
        return [f"{suite}: {metric} n/a, 0 scored, {unscorable}"]
    mean = mean_score(scorable, f"{FIGURES[0]}{suffix}") if _has_figures(scorable) else None
    if mean is None:
        return [f"{suite}: {metric} n/a, no answer was judged, {unscorable}"]
    parts = [f"{FIGURES[0]}{suffix} {mean.value:.5f} (95 % {mean.low:.3f} to {mean.high:.3f})"]
    parts += [f"{name}{suffix} {mean_score(scorable, f'{name}{suffix}').value:.5f}" for name in FIGURES[1:]]
    invalid = sum("invalid" in verdict.flags for verdict in scorable)
    counts = f"{mean.n:,} scored, {unscorable}, {invalid:,} invalid predictions"
    return [f"{suite}: {', '.join(parts)}; {counts}", *_component_means(scorable)]


def _has_figures(verdicts: Sequence[Verdict]) -> bool:
    return any(verdict.scores for verdict in verdicts)


def _component_means(verdicts: Sequence[Verdict]) -> list[str]:
    """Mean F1 by component, each over the cases that have it: ``f1 by component: select 0.910 of 799, …``."""
    cells: list[str] = []
    for name in COMPONENTS:
        values = [verdict.scores[f"f1_{name}"] for verdict in verdicts if f"f1_{name}" in verdict.scores]
        if values:
            cells.append(f"{name} {sum(values) / len(values):.3f} of {len(values):,}")
    return [f"  f1 by component: {', '.join(cells)}"] if cells else []


def describe_components(verdict: Verdict) -> list[str]:
    """Set the components of a failed case side by side: F1, what both have, what the prediction lacks or adds."""
    lines: list[str] = []
    for component in verdict.facts.get("components", ()):
        score = verdict.scores.get(f"f1_{component['name']}", 0.0)
        lists = _lists(component)
        if score < 1.0 and not component["missing"] and not component["extra"]:
            lists.append("nested items differ")
        lines.append(f"{component['name']:<7} {score:.2f}  {'; '.join(lists)}".rstrip())
    return lines


def _lists(component: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for label in ("matched", "missing", "extra"):
        items = component[label]
        if items:
            more = f" … {len(items) - SHOWN_ITEMS} more" if len(items) > SHOWN_ITEMS else ""
            found.append(f"{label}: {' '.join(items[:SHOWN_ITEMS])}{more}")
    return found
