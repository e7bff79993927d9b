"""Why two results differ: the reason, the first difference, the rows too many or too few, and who would be content."""

from __future__ import annotations

from functools import cached_property
from unicodedata import normalize

from pytest_sqlbench.policy import PRESETS, Policy
from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.scoring.columns import assign_by_content, candidates, make_table
from pytest_sqlbench.scoring.compare import find_match
from pytest_sqlbench.scoring.looks import looks_alike
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.rows import Residue, bag_residue, is_same_bag, sequence_residue
from pytest_sqlbench.scoring.values import KeyRow, Tolerance, key_rows
from pytest_sqlbench.verdict import Match, Reason

NEAR = ("default", "paper", "dbt", "bird", "spider:keep_distinct", "spider2", "defog")
"""Presets that are tried on a mismatch, in the order in which they are named."""
_FREE = frozenset({"spider2", "defog"})
"""Presets that may be content though a gold column has no predicted column of equal values."""
_BAGS = frozenset({"default", "paper", "dbt", "spider:keep_distinct"})
"""Presets that need, for each gold column, a predicted column that holds the same values equally often."""
SHOWN_TEXT = 60
"""Characters of a cell that a detail shows."""
SHOWN = 10
"""Rows that are kept of those too many or too few."""
MOST_LOOKED_AT = 2_000
"""Rows that differ, above which nobody asks whether they look alike."""
MOST_CELLS = 200_000
"""Results above this size are not tried under other presets."""

_SUPERSET = Policy(rows="multiset", columns="superset")
_TOLERANCE = Tolerance(Policy().rel_tol, Policy().abs_tol)
_LENIENT = Tolerance(1e-5, 1e-8)


def explain(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> Match:
    """Return the mismatch of two results that do not match under the policy."""
    return _Difference(gold, predicted, policy, order).match()


class _Difference:
    """Two results that do not match, with what several questions about them share."""

    def __init__(self, gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> None:
        self._gold, self._predicted, self._policy, self._order = gold, predicted, policy, order

    def match(self) -> Match:
        reason, detail = self._reason()
        residue = self._residue
        return Match(
            is_match=False,
            reason=reason,
            detail=detail or self._first_difference(),
            near=self._near(),
            missing=tuple([self._gold.rows[place] for place in residue.gold[:SHOWN]]),
            extra=tuple([self._predicted.rows[place] for place in residue.predicted[:SHOWN]]),
            missing_n=len(residue.gold),
            extra_n=len(residue.predicted),
        )

    @cached_property
    def _keys(self) -> tuple[list[KeyRow], list[KeyRow]]:
        return key_rows(self._gold.rows, self._predicted.rows, is_typed=False)

    @cached_property
    def _residue(self) -> Residue:
        """Rows by position of columns, in any order, under the default's values."""
        return bag_residue(*self._keys, _TOLERANCE)

    @cached_property
    def _has_options(self) -> bool:
        """False if some gold column holds values that no predicted column holds, repeats aside."""
        if not self._gold.rows or not self._predicted.rows:
            return False
        labels = (self._gold.columns, self._predicted.columns)
        return all(candidates(make_table(*self._keys, labels, _LENIENT, "set")))

    @cached_property
    def _has_bag_options(self) -> bool:
        """False if some gold column has no predicted column that holds the same values equally often."""
        if not self._has_options or len(self._gold.rows) != len(self._predicted.rows):
            return False
        labels = (self._gold.columns, self._predicted.columns)
        return all(candidates(make_table(*self._keys, labels, _LENIENT)))

    def _near(self) -> tuple[str, ...]:
        gold, predicted = self._gold, self._predicted
        size = (len(gold.rows) + len(predicted.rows)) * max(len(gold.columns), len(predicted.columns))
        if size > MOST_CELLS:
            return ()
        is_empty = not gold.rows and not predicted.rows
        names = [name for name in NEAR if name != self._policy.name and (is_empty or self._is_possible(name))]
        return tuple(name for name in names if find_match(gold, predicted, PRESETS[name], self._order) is not None)

    def _is_possible(self, name: str) -> bool:
        if name in _FREE:
            return True
        if self._has_bag_options if name in _BAGS else self._has_options:
            return True
        # other rows can be right only where the gold was cut in the middle of a tie
        return name == "default" and self._order is not None and self._order.may_be_cut

    def _reason(self) -> tuple[Reason, str]:
        gold, predicted = self._gold, self._predicted
        if not gold.rows and not predicted.rows:
            return self._both_empty()
        if not predicted.rows:
            return Reason.EMPTY_AGAINST_ROWS, f"no rows, gold has {len(gold.rows)}"
        if not gold.rows:
            return Reason.ROWS_AGAINST_EMPTY, f"{_count(len(predicted.rows), 'row')}, gold has none"
        if len(gold.columns) != len(predicted.columns):
            return self._unlike_widths()
        if self._residue.is_empty:
            return self._equal_bags()
        if self._has_options:
            if self._has_bag_options and self._is_permuted():
                return Reason.COLUMN_ORDER, "the rows agree with the columns in another order"
            if set(self._keys[0]) == set(self._keys[1]):
                return Reason.DUPLICATES_ONLY, f"{self._rows_text()} when repeats count"
        if len(gold.rows) != len(predicted.rows):
            return Reason.ROW_COUNT, self._rows_text()
        return self._look() or Reason.VALUES, ""

    def _look(self) -> Reason | None:
        residue = self._residue
        if len(residue.gold) > MOST_LOOKED_AT:
            return None
        rows = [self._keys[0][place] for place in residue.gold], [self._keys[1][place] for place in residue.predicted]
        return looks_alike((self._gold.columns, self._predicted.columns), rows)

    def _both_empty(self) -> tuple[Reason, str]:
        gold_n, predicted_n = len(self._gold.columns), len(self._predicted.columns)
        if gold_n == predicted_n and self._policy.vacuous == "fail":
            return Reason.VACUOUS, "both results are empty, which this policy does not accept"
        reason = Reason.EXTRA_COLUMNS if predicted_n > gold_n else Reason.MISSING_COLUMNS
        if gold_n == predicted_n:
            reason = Reason.COLUMN_ORDER
        return reason, f"{self._columns_text()}; both results are empty"

    def _is_permuted(self) -> bool:
        labels = (self._gold.columns, self._predicted.columns)
        found = assign_by_content(make_table(*self._keys, labels, _TOLERANCE))
        if found is None:
            return False
        rows = [tuple([row[place] for place in found]) for row in self._keys[1]]
        return bag_residue(self._keys[0], rows, _TOLERANCE).is_empty

    def _equal_bags(self) -> tuple[Reason, str]:
        """Name what is left to differ where both hold the same rows: their order, noise, types, or labels."""
        gold_keys, keys = self._keys
        in_order = sequence_residue(gold_keys, keys, _TOLERANCE)
        if self._is_ordered() and not in_order.is_empty:
            return Reason.ORDER_ONLY, "the same rows in another order: " + self._pair_text(
                in_order.gold[0], in_order.predicted[0]
            )
        if not is_same_bag(gold_keys, keys):
            return Reason.ROUNDING, self._unequal_text(gold_keys, keys)
        typed = key_rows(self._gold.rows, self._predicted.rows, is_typed=True)
        if not is_same_bag(*typed):
            return Reason.TYPE_ONLY, self._unequal_text(*typed)
        return Reason.COLUMN_ORDER, (
            f"labels say that columns stand in another order ({', '.join(map(str, self._predicted.columns))} for "
            f"{', '.join(map(str, self._gold.columns))}), and the values fit both ways"
        )

    def _is_ordered(self) -> bool:
        if self._policy.rows == "auto":
            return self._order is not None and self._order.is_ordered
        return self._policy.rows == "ordered"

    def _unlike_widths(self) -> tuple[Reason, str]:
        gold, predicted, text = self._gold, self._predicted, self._columns_text()
        is_wider = len(predicted.columns) > len(gold.columns)
        if is_wider and self._has_options and find_match(gold, predicted, _SUPERSET) is not None:
            return Reason.EXTRA_COLUMNS, text
        if not is_wider and find_match(predicted, gold, _SUPERSET) is not None:
            return Reason.MISSING_COLUMNS, text
        if len(gold.rows) != len(predicted.rows):
            return Reason.ROW_COUNT, f"{self._rows_text()}; {text}"
        labels = (gold.columns, predicted.columns)
        shared = sum(bool(options) for options in candidates(make_table(*self._keys, labels, _TOLERANCE)))
        if shared:
            return Reason.OVERLAP, f"{text}; {shared} of the gold's agree"
        return (Reason.EXTRA_COLUMNS if is_wider else Reason.MISSING_COLUMNS), text

    def _first_difference(self) -> str:
        """Describe the first predicted row that is not right beside the gold row that it is most like."""
        residue, (gold_keys, keys) = self._residue, self._keys
        if not residue.gold or not residue.predicted:
            return self._rows_text()
        place = residue.predicted[0]

        def likeness(other: int) -> tuple[int, bool]:
            # of equally similar rows the one of the same number reads most naturally
            return sum(map(_TOLERANCE.is_close, gold_keys[other], keys[place])), other == place

        return self._pair_text(max(residue.gold[:200], key=likeness), place)

    def _pair_text(self, gold_place: int, place: int) -> str:
        cells = zip(self._keys[0][gold_place], self._keys[1][place])  # noqa: B905 -- widths may differ
        for column, (cell, other) in enumerate(cells):
            if not _TOLERANCE.is_close(cell, other):
                row, gold_row = self._predicted.rows[place], self._gold.rows[gold_place]
                return _cell_text(place, column, row[column], gold_row[column])
        return f"row {place + 1} is not among the gold's"

    def _unequal_text(self, gold_keys: list[KeyRow], keys: list[KeyRow]) -> str:
        for place, (row, other) in enumerate(zip(gold_keys, keys, strict=True)):
            for column, (cell, own) in enumerate(zip(row, other, strict=True)):
                if cell != own:
                    return _cell_text(
                        place, column, self._predicted.rows[place][column], self._gold.rows[place][column]
                    )
        return ""

    def _columns_text(self) -> str:
        return f"{_count(len(self._predicted.columns), 'column')}, gold has {len(self._gold.columns)}"

    def _rows_text(self) -> str:
        return f"{_count(len(self._predicted.rows), 'row')}, gold has {len(self._gold.rows)}"


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


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
