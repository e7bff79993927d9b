"""Comparison rules of published evaluators, reproduced with their faults so that published numbers can be had.

Each function says what its rule gets wrong; `docs/policies.md` says it for users. The rules work on the values as the
engine gives them, as the originals do, except where noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import ResultSet, Row
from pytest_sqlbench.scoring.columns import assign_by_content, assign_without_choice, make_table
from pytest_sqlbench.scoring.frames import matches_defog, matches_spider2
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.rows import is_same_bag
from pytest_sqlbench.scoring.values import Tolerance, key_rows
from pytest_sqlbench.scoring.words import without_distinct

_EXACT = Tolerance(0.0, 0.0)


def matches_published(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """Say whether the evaluator that `policy.rule` names would call the prediction right."""
    rule = _RULES[policy.rule]
    try:
        return rule(gold, predicted, policy, order)
    except TypeError:  # lists and maps of other engines have no hash
        rows = key_rows(gold.rows, predicted.rows, is_typed=False)
        return rule(replace(gold, rows=rows[0]), replace(predicted, rows=rows[1]), policy, order)


def policy_text(sql: str, policy: Policy) -> str:
    """Return the text that a policy runs in the place of `sql`: the same, but for Spider's test-suite rule.

    That evaluator repairs comparison operators that are written apart and, unless told to keep it, removes DISTINCT.
    """
    if policy.rule != "spider":
        return sql
    if "= " in sql or " =" in sql:
        for broken, whole in (("> =", ">="), ("< =", "<="), ("! =", "!=")):
            sql = sql.replace(broken, whole)
    return sql if policy.keeps_distinct else without_distinct(sql)


def matches_bird(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """BIRD's execution accuracy: equal sets of rows.

    Wrong about: repeats (a lost DISTINCT or a fan-out passes), order (a missing ORDER BY passes), columns in another
    order (fails), fractions (any rounding noise fails), and empty results of unlike shape (pass).
    """
    return set(gold.rows) == set(predicted.rows)


def matches_wikisql(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """WikiSQL's execution accuracy: equal lists of rows. Wrong about: row order, which its questions never ask for."""
    return gold.rows == predicted.rows


def matches_spider(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """Spider's test-suite rule: some order of the columns makes the rows equal, as a list if the gold says ORDER BY.

    Wrong about: DISTINCT (removed before the queries run, so COUNT(DISTINCT a) equals COUNT(a)), ``order by`` in a
    subquery or a literal (taken for an order of the result), ties (their order counts), swapped columns (pass), and
    empty results of unlike shape (pass). The original tries permutations, and hangs on columns that look alike.
    """
    if not gold.rows and not predicted.rows:
        return True
    if len(gold.rows) != len(predicted.rows) or not gold.rows or len(gold.rows[0]) != len(predicted.rows[0]):
        return False
    is_ordered = order is not None and "order by" in order.sql.lower()
    if not _is_plausible(gold.rows, predicted.rows, is_ordered):
        return False
    if is_ordered:
        if gold.rows == predicted.rows:
            return True
    elif is_same_bag(gold.rows, predicted.rows):
        return True
    labels = (gold.columns, predicted.columns)
    table = make_table(gold.rows, predicted.rows, labels, _EXACT, "sequence" if is_ordered else "bag")
    found = assign_without_choice(table) if is_ordered else assign_by_content(table)
    return found is not None


def _is_plausible(gold: Sequence[Row], predicted: Sequence[Row], is_ordered: bool) -> bool:
    """Compare rows with their cells sorted as text, as the original does first; it tells 1 from 1.0 in some rows."""
    gold_rows, predicted_rows = [_unordered(row) for row in gold], [_unordered(row) for row in predicted]
    return gold_rows == predicted_rows if is_ordered else set(gold_rows) == set(predicted_rows)


def _unordered(row: Row) -> tuple[Any, ...]:
    return row if len(row) == 1 else tuple(sorted(row, key=_text_and_type))


def _text_and_type(cell: object) -> str:
    return f"{cell}{type(cell)}"


_RULES: Mapping[str, Callable[[ResultSet, ResultSet, Policy, GoldOrder | None], bool]] = {
    "bird": matches_bird,
    "defog": matches_defog,
    "spider": matches_spider,
    "spider2": matches_spider2,
    "wikisql": matches_wikisql,
}
