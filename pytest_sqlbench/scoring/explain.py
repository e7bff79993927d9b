"""Why two results differ: the reason, the first difference, the rows too many or too few, and who would be content."""

from __future__ import annotations

from dataclasses import replace
from unicodedata import normalize

from pytest_sqlbench.policy import PRESETS, Policy
from pytest_sqlbench.result import ResultSet, Row
from pytest_sqlbench.scoring.columns import Table, candidates, make_table
from pytest_sqlbench.scoring.compare import find_match
from pytest_sqlbench.scoring.looks import looks_alike
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.rows import Residue, bag_residue, is_same_bag, sequence_residue
from pytest_sqlbench.scoring.values import KeyRow, Tolerance, key_rows
from pytest_sqlbench.verdict import Match, Reason

NEAR = ("default", "paper", "dbt", "bird", "spider:keep_distinct", "spider2", "defog")
"""Presets that are tried on a mismatch, in the order in which they are named."""
SHOWN_TEXT = 60
"""Characters of a cell that a detail shows."""
SHOWN = 10
"""Rows that are kept of those too many or too few."""
MOST_CELLS = 200_000
"""Results above this size are not tried under other presets."""

_LOOSE = Policy(rows="multiset", columns="permute")
_TOLERANCE = Tolerance(_LOOSE.rel_tol, _LOOSE.abs_tol)


def explain(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> Match:
    """Return the mismatch of two results that do not match under the policy."""
    reason, detail = _find_reason(gold, predicted, policy, order)
    match = Match(is_match=False, reason=reason, detail=detail)
    match = _with_rows(match, gold, predicted)
    if not match.detail:
        match = replace(match, detail=_first_difference(match, gold, predicted))
    size = (len(gold.rows) + len(predicted.rows)) * max(len(gold.columns), len(predicted.columns))
    if size > MOST_CELLS:
        return match
    near = tuple(
        name for name in NEAR if name != policy.name and find_match(gold, predicted, PRESETS[name], order) is not None
    )
    return replace(match, near=near)


def _find_reason(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> tuple[Reason, str]:
    gold_n, predicted_n = len(gold.columns), len(predicted.columns)
    if not gold.rows and not predicted.rows:
        if gold_n == predicted_n and policy.vacuous == "fail":
            return Reason.VACUOUS, "both results are empty, which this policy does not accept"
        reason = Reason.EXTRA_COLUMNS if predicted_n > gold_n else Reason.MISSING_COLUMNS
        if gold_n == predicted_n:
            reason = Reason.COLUMN_ORDER
        return reason, f"{_columns_text(gold, predicted)}; both results are empty"
    if not predicted.rows:
        return Reason.EMPTY_AGAINST_ROWS, f"no rows, gold has {len(gold.rows)}"
    if not gold.rows:
        return Reason.ROWS_AGAINST_EMPTY, f"{_count(len(predicted.rows), 'row')}, gold has none"
    if gold_n != predicted_n:
        return _unlike_widths(gold, predicted)
    if _matches(gold, predicted, policy, rows="multiset", columns="exact"):
        return _equal_bags(gold, predicted, _is_ordered(policy, order))
    if _matches(gold, predicted, policy, rows="multiset", columns="permute"):
        return Reason.COLUMN_ORDER, "the rows agree with the columns in another order"
    if _matches(gold, predicted, policy, rows="set", columns="exact"):
        return Reason.DUPLICATES_ONLY, _counts_text(gold, predicted) + " when repeats count"
    return _unlike_values(gold, predicted)


def _matches(gold: ResultSet, predicted: ResultSet, policy: Policy, **changes: object) -> bool:
    loose = replace(
        policy, rule="relational", values="normalised", required=(), rel_tol=_LOOSE.rel_tol, abs_tol=_LOOSE.abs_tol
    )
    return find_match(gold, predicted, replace(loose, **changes)) is not None  # type: ignore[arg-type]  # field names


def _is_ordered(policy: Policy, order: GoldOrder | None) -> bool:
    if policy.rows == "auto":
        return order is not None and order.is_ordered
    return policy.rows == "ordered"


def _equal_bags(gold: ResultSet, predicted: ResultSet, is_ordered: bool) -> tuple[Reason, str]:
    """Name what is left to differ where both hold the same rows: types, noise, or the order of rows or columns."""
    keys = key_rows(gold.rows, predicted.rows, is_typed=False)
    in_order = sequence_residue(keys[0], keys[1], _TOLERANCE)
    if is_ordered and not in_order.is_empty:
        return Reason.ORDER_ONLY, "the same rows in another order: " + _first_pair(
            gold.rows, predicted.rows, in_order.gold[0], in_order.predicted[0]
        )
    if not is_same_bag(*keys):
        return Reason.ROUNDING, _first_unequal(*keys, gold.rows, predicted.rows)
    typed = key_rows(gold.rows, predicted.rows, is_typed=True)
    if not is_same_bag(*typed):
        return Reason.TYPE_ONLY, _first_unequal(*typed, gold.rows, predicted.rows)
    return Reason.COLUMN_ORDER, (
        f"labels say that columns stand in another order ({', '.join(map(str, predicted.columns))} for "
        f"{', '.join(map(str, gold.columns))}), and the values fit both ways"
    )


def _unlike_widths(gold: ResultSet, predicted: ResultSet) -> tuple[Reason, str]:
    text = _columns_text(gold, predicted)
    if len(predicted.columns) > len(gold.columns):
        if find_match(gold, predicted, replace(_LOOSE, columns="superset")) is not None:
            return Reason.EXTRA_COLUMNS, text
    elif find_match(predicted, gold, replace(_LOOSE, columns="superset")) is not None:
        return Reason.MISSING_COLUMNS, text
    shared = sum(bool(options) for options in candidates(_table(gold, predicted)))
    if shared and len(gold.rows) == len(predicted.rows):
        return Reason.OVERLAP, f"{text}; {shared} of the gold's agree"
    if len(gold.rows) != len(predicted.rows):
        return Reason.ROW_COUNT, f"{_counts_text(gold, predicted)}; {text}"
    return (Reason.EXTRA_COLUMNS if len(predicted.columns) > len(gold.columns) else Reason.MISSING_COLUMNS), text


def _unlike_values(gold: ResultSet, predicted: ResultSet) -> tuple[Reason, str]:
    if len(gold.rows) != len(predicted.rows):
        return Reason.ROW_COUNT, _counts_text(gold, predicted)
    reason = looks_alike(gold, predicted)
    if reason is not None:
        return reason, ""
    return Reason.VALUES, ""


def _table(gold: ResultSet, predicted: ResultSet) -> Table:
    keys = key_rows(gold.rows, predicted.rows, is_typed=False)
    return make_table(keys[0], keys[1], (gold.columns, predicted.columns), _TOLERANCE)


def _with_rows(match: Match, gold: ResultSet, predicted: ResultSet) -> Match:
    """Add the rows that one side has and the other lacks, by position of columns."""
    residue = _residue(gold, predicted)
    return replace(
        match,
        missing=tuple(gold.rows[place] for place in residue.gold[:SHOWN]),
        extra=tuple(predicted.rows[place] for place in residue.predicted[:SHOWN]),
        missing_n=len(residue.gold),
        extra_n=len(residue.predicted),
    )


def _residue(gold: ResultSet, predicted: ResultSet) -> Residue:
    keys = key_rows(gold.rows, predicted.rows, is_typed=False)
    return bag_residue(keys[0], keys[1], _TOLERANCE)


def _first_difference(match: Match, gold: ResultSet, predicted: ResultSet) -> str:
    """Describe the first predicted row that is not right beside the gold row that it is most like."""
    keys = key_rows(gold.rows, predicted.rows, is_typed=False)
    residue = bag_residue(keys[0], keys[1], _TOLERANCE)
    if not residue.gold or not residue.predicted:
        return _counts_text(gold, predicted)
    place = residue.predicted[0]
    row = keys[1][place]
    # the gold row of the same number first, so that equal likeness reads naturally
    nearest = max(residue.gold[:200], key=lambda other: (_likeness(keys[0][other], row), other == place))
    return _first_pair(gold.rows, predicted.rows, nearest, place)


def _likeness(row: KeyRow, other: KeyRow) -> int:
    return sum(map(_TOLERANCE.is_close, row, other))


def _first_pair(gold: list[Row], predicted: list[Row], gold_place: int, place: int) -> str:
    keys = key_rows([gold[gold_place]], [predicted[place]], is_typed=False)
    for column, (cell, other) in enumerate(zip(keys[0][0], keys[1][0])):  # noqa: B905 -- widths may differ
        if not _TOLERANCE.is_close(cell, other):
            return _cell_text(place, column, predicted[place][column], gold[gold_place][column])
    return f"row {place + 1} is not among the gold's"


def _first_unequal(gold_keys: list[KeyRow], keys: list[KeyRow], gold: list[Row], predicted: list[Row]) -> str:
    for place, (row, other) in enumerate(zip(gold_keys, keys, strict=True)):
        for column, (cell, own) in enumerate(zip(row, other, strict=True)):
            if cell != own:
                return _cell_text(place, column, predicted[place][column], gold[place][column])
    return ""


def _cell_text(row: int, column: int, found: object, wanted: object) -> str:
    text = f"row {row + 1}, column {column + 1}: {show_cell(found)} is not {show_cell(wanted)}"
    if isinstance(found, str) and isinstance(wanted, str) and found != wanted and _is_same_letters(found, wanted):
        text += " (the same letters in another Unicode form)"
    return text


def _is_same_letters(text: str, other: str) -> bool:
    return len(text) + len(other) < 10_000 and normalize("NFC", text) == normalize("NFC", other)


def show_cell(cell: object) -> str:
    """Return a cell as a person reads it, at most 60 characters: NULL, quoted text, plain numbers."""
    if cell is None:
        return "NULL"
    if isinstance(cell, (str, bytes)):
        cell = cell[:SHOWN_TEXT]  # before it is spelled out: a cell may hold megabytes
    text = repr(cell) if isinstance(cell, (str, bytes)) else str(cell)
    return text if len(text) <= SHOWN_TEXT else f"{text[: SHOWN_TEXT - 3]}..."


def _columns_text(gold: ResultSet, predicted: ResultSet) -> str:
    return f"{_count(len(predicted.columns), 'column')}, gold has {len(gold.columns)}"


def _counts_text(gold: ResultSet, predicted: ResultSet) -> str:
    return f"{_count(len(predicted.rows), 'row')}, gold has {len(gold.rows)}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
