"""Comparison rules of evaluators that work on data frames (Spider 2.0, defog), without data frames."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, isnan
from typing import Any

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import ResultSet, Row
from pytest_sqlbench.scoring.columns import assign_by_content, make_table
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.rows import set_residue
from pytest_sqlbench.scoring.values import KeyRow, Tolerance, key_rows

_READ_AS_NULL = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"}
    | {"NULL", "NaN", "None", "n/a", "nan", "null"}
)


def matches_spider2(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """Spider 2.0's rule: each gold column that matters has a predicted column of equal values, columns apart.

    Results pass through CSV, as there: '007' is 7, 'NA' and '' are NULL, and NULL is 0. Numbers may differ by 0.01. Row
    order is ignored unless the policy says ``rows: ordered``; then each column is sorted on its own.

    Wrong about: rows (right columns in wrong pairs pass), one predicted column answering twice, NULL against 0, small
    numbers (0.004 is 0.009), and any number of further columns.
    """
    if len(gold.rows) != len(predicted.rows):
        return not _wanted(gold, policy)
    is_ordered = policy.rows == "ordered"
    offered = [_through_csv(column, is_ordered) for column in _columns(predicted)]
    gold_columns = _columns(gold)
    wanted = [_through_csv(gold_columns[place], is_ordered) for place in _wanted(gold, policy)]
    return all(any(_is_close_column(column, other) for other in offered) for column in wanted)


def _wanted(gold: ResultSet, policy: Policy) -> list[int]:
    if not policy.required:
        return list(range(len(gold.columns)))
    labels = [str(label).casefold() for label in gold.columns]
    places: list[int] = []
    for name in policy.required:
        if name.casefold() in labels:
            places.append(labels.index(name.casefold()))
        elif name.isdigit() and 1 <= int(name) <= len(labels):
            places.append(int(name) - 1)
        else:
            raise UsageError(f"policy requires column {name!r}. The gold returns: {', '.join(map(str, gold.columns))}.")
    return places


def _columns(result: ResultSet) -> list[tuple[Any, ...]]:
    return [tuple([row[place] for row in result.rows]) for place in range(len(result.columns))]


def _through_csv(column: Sequence[object], is_ordered: bool) -> list[Any]:
    cells = [None if cell is None or str(cell) in _READ_AS_NULL else cell for cell in column]
    numbers = [_number(cell) for cell in cells]
    if all(number is not None for number, cell in zip(numbers, cells, strict=True) if cell is not None):
        read: list[Any] = [0 if number is None else number for number in numbers]
    else:
        read = [0 if cell is None else str(cell) for cell in cells]
    return read if is_ordered else sorted(read, key=lambda cell: (str(cell), isinstance(cell, (int, float))))


def _number(cell: object) -> int | float | None:
    if cell is None:
        return None
    text = str(cell).strip()
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return None


def _is_close_column(column: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(column) == len(other) and all(map(_is_close_cell, column, other))


def _is_close_cell(cell: Any, other: Any) -> bool:
    if isinstance(cell, (int, float)) and isinstance(other, (int, float)):
        try:
            first, second = float(cell), float(other)
        except OverflowError:  # a whole number that no float can hold
            return cell == other
        return (isnan(first) and isnan(second)) or isclose(first, second, abs_tol=1e-2)
    return bool(cell == other)


def matches_defog(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """defog's rule: equal arrays, or the gold's columns found among the predicted ones, repeats and order aside.

    Wrong about: repeats and order (never checked), further columns (always fine), and the first test, which stretches
    arrays to fit: an empty prediction equals any gold of one row, and one row equals many copies of it.
    """
    if _equals_stretched(gold, predicted):
        return True
    if not gold.rows or not predicted.rows:
        return not gold.rows and not predicted.rows and len(gold.columns) <= len(predicted.columns)
    if len(gold.columns) > len(predicted.columns):
        return False
    tolerance = Tolerance(1e-5, 1e-8)
    keys = key_rows(_filled(gold.rows), _filled(predicted.rows), is_typed=False)
    gold_rows, predicted_rows = list(dict.fromkeys(keys[0])), list(dict.fromkeys(keys[1]))
    found = assign_by_content(
        make_table(gold_rows, predicted_rows, (gold.columns, predicted.columns), tolerance, "set")
    )
    if found is None:
        return False
    projected: list[KeyRow] = [tuple([row[place] for place in found]) for row in predicted_rows]
    return set_residue(gold_rows, projected, tolerance).is_empty


def _filled(rows: Sequence[Row]) -> Sequence[Row]:
    if not any(None in row for row in rows):
        return rows
    return [tuple([-99999 if cell is None else cell for cell in row]) for row in rows]


def _equals_stretched(gold: ResultSet, predicted: ResultSet) -> bool:
    """Say whether two arrays are equal cell by cell after either is stretched along a side of length one."""
    shapes = ((len(gold.rows), len(predicted.rows)), (len(gold.columns), len(predicted.columns)))
    if any(first != second and 1 not in (first, second) for first, second in shapes):
        return False
    n, width = (second if first == 1 else first for first, second in shapes)
    return all(
        _cell(gold, row, column) == _cell(predicted, row, column) is not None
        for row in range(n)
        for column in range(width)
    )


def _cell(result: ResultSet, row: int, column: int) -> object:
    return result.rows[row if len(result.rows) > 1 else 0][column if len(result.columns) > 1 else 0]
