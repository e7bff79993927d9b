"""Bags, sets and sequences of rows: what is left over when equal rows are taken away. Knows no column order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite

from pytest_sqlbench.scoring.values import KeyRow, Tolerance, cluster_numbers, is_number

MATCHED_ONE_BY_ONE = 300
"""Rows left over after rounding that are still paired one by one; more of them count as different."""
MATCHED_ANEW = 500
"""Rows that differ at all, above which pairs that rounding made are not taken apart again."""


@dataclass(frozen=True, slots=True)
class Residue:
    """Row numbers (from 0) that found no partner on the other side; empty twice means equal."""

    gold: list[int] = field(default_factory=list)
    predicted: list[int] = field(default_factory=list)
    is_close: bool = False
    """True if some rows are equal within the tolerance only."""

    @property
    def is_empty(self) -> bool:
        """True if every row has its partner."""
        return not self.gold and not self.predicted


EQUAL = Residue()


def is_same_bag(gold: Sequence[KeyRow], predicted: Sequence[KeyRow]) -> bool:
    """Say whether both hold the same rows equally often, exactly; ends at the first row that is too many."""
    if len(gold) != len(predicted):
        return False
    counts: dict[KeyRow, int] = {}
    for row in gold:
        counts[row] = counts.get(row, 0) + 1
    for row in predicted:
        left = counts.get(row, 0)
        if not left:
            return False
        counts[row] = left - 1
    return True


def bag_residue(gold: Sequence[KeyRow], predicted: Sequence[KeyRow], tolerance: Tolerance) -> Residue:
    """Take equal rows away pairwise, then rows that are equal within the tolerance; return what is left."""
    left_gold, left_predicted = _take_equal(gold, predicted)
    if not left_gold or not left_predicted or tolerance.is_zero or len(gold[0]) != len(predicted[0]):
        return Residue(left_gold, left_predicted)
    fractions = _fraction_columns([gold[i] for i in left_gold] + [predicted[i] for i in left_predicted])
    if not fractions:
        return Residue(left_gold, left_predicted)
    before = len(left_gold)
    left_gold, left_predicted = _take_close(gold, predicted, left_gold, left_predicted, fractions, tolerance)
    return Residue(left_gold, left_predicted, is_close=len(left_gold) < before)


def set_residue(gold: Sequence[KeyRow], predicted: Sequence[KeyRow], tolerance: Tolerance) -> Residue:
    """Return the rows of each side that the other lacks altogether, within the tolerance; repeats do not count."""
    gold_set, predicted_set = set(gold), set(predicted)
    if gold_set == predicted_set:
        return EQUAL
    if not tolerance.is_zero and (columns := _fraction_columns(list(gold_set ^ predicted_set))):
        gold, predicted = _snapped(gold, predicted, columns, tolerance)
        gold_set, predicted_set = set(gold), set(predicted)
    return Residue(
        _first_places(gold, gold_set - predicted_set),
        _first_places(predicted, predicted_set - gold_set),
        is_close=gold_set == predicted_set,
    )


def sequence_residue(gold: Sequence[KeyRow], predicted: Sequence[KeyRow], tolerance: Tolerance) -> Residue:
    """Compare row by row, in order, within the tolerance; rows beyond the shorter side are left over."""
    is_close = False
    differing: list[int] = []
    for place, (row, other) in enumerate(zip(gold, predicted)):  # noqa: B905 -- lengths may differ, see below
        if row == other:
            continue
        if are_close(row, other, tolerance):
            is_close = True
        else:
            differing.append(place)
    common = min(len(gold), len(predicted))
    return Residue(
        differing + list(range(common, len(gold))), differing + list(range(common, len(predicted))), is_close
    )


def are_close(row: KeyRow, other: KeyRow, tolerance: Tolerance) -> bool:
    """Say whether two rows of one width are equal cell by cell within the tolerance."""
    return len(row) == len(other) and all(map(tolerance.is_close, row, other))


def _take_equal(gold: Sequence[KeyRow], predicted: Sequence[KeyRow]) -> tuple[list[int], list[int]]:
    counts = Counter(predicted)
    counts.subtract(gold)  # above 0: too many predicted, below 0: lacking
    left_gold: list[int] = []
    for place, row in enumerate(gold):
        if counts[row] < 0:
            counts[row] += 1
            left_gold.append(place)
    left_predicted: list[int] = []
    for place in range(len(predicted) - 1, -1, -1):
        row = predicted[place]
        if counts[row] > 0:
            counts[row] -= 1
            left_predicted.append(place)
    left_predicted.reverse()
    return left_gold, left_predicted


def _fraction_columns(rows: Sequence[KeyRow]) -> list[int]:
    """Return the columns in which any cell is a fraction."""
    found: set[int] = set()
    for row in rows:
        for place, cell in enumerate(row):
            if type(cell) is float and not cell.is_integer() and isfinite(cell):
                found.add(place)
    return sorted(found)


def _snapped(
    gold: Sequence[KeyRow], predicted: Sequence[KeyRow], columns: Sequence[int], tolerance: Tolerance
) -> tuple[list[KeyRow], list[KeyRow]]:
    """Return both sides with each close group of numbers in the given columns written as one number."""
    leaders = {
        column: cluster_numbers(
            (row[column] for rows in (gold, predicted) for row in rows if is_number(row[column])), tolerance
        )
        for column in columns
    }

    leaders = {column: close for column, close in leaders.items() if close}

    def snap(row: KeyRow) -> KeyRow:
        cells = list(row)
        for column, close in leaders.items():
            if is_number(cells[column]):
                cells[column] = close.get(cells[column], cells[column])
        return tuple(cells)

    return [snap(row) for row in gold], [snap(row) for row in predicted]


def _take_close(
    gold: Sequence[KeyRow],
    predicted: Sequence[KeyRow],
    left_gold: list[int],
    left_predicted: list[int],
    columns: Sequence[int],
    tolerance: Tolerance,
) -> tuple[list[int], list[int]]:
    snapped_gold, snapped_predicted = _snapped(
        [gold[i] for i in left_gold], [predicted[i] for i in left_predicted], columns, tolerance
    )
    waiting: dict[KeyRow, list[int]] = {}
    for place, row in zip(reversed(left_predicted), reversed(snapped_predicted), strict=True):
        waiting.setdefault(row, []).append(place)
    owner: dict[int, int] = {}
    for place, row in zip(left_gold, snapped_gold, strict=True):
        partners = waiting.get(row)
        if partners and are_close(gold[place], predicted[partners[-1]], tolerance):
            owner[partners.pop()] = place
    unpaired_n = len(left_gold) - len(owner), len(left_predicted) - len(owner)
    if all(unpaired_n) and max(unpaired_n) <= MATCHED_ONE_BY_ONE:
        # a row may have taken the only partner of another: so those that are paired already may change, if they are few
        is_small = len(left_predicted) <= MATCHED_ANEW
        free = left_predicted if is_small else [place for place in left_predicted if place not in owner]
        _pair_up(gold, predicted, left_gold, free, owner, tolerance)
    paired = set(owner.values())
    return [g for g in left_gold if g not in paired], [p for p in left_predicted if p not in owner]


def _pair_up(
    gold: Sequence[KeyRow],
    predicted: Sequence[KeyRow],
    left_gold: Sequence[int],
    partners: Sequence[int],
    owner: dict[int, int],
    tolerance: Tolerance,
) -> None:
    """Enlarge a pairing (predicted row to close gold row) as far as it goes: augmenting paths, breadth first."""

    @cache
    def close(g: int) -> list[int]:
        return [p for p in partners if are_close(gold[g], predicted[p], tolerance)]

    paired = set(owner.values())
    for start in left_gold:
        if start in paired:
            continue
        came_from: dict[int, int] = {}
        queue, free = [start], None
        for g in queue:
            for p in close(g):
                if p in came_from:
                    continue
                came_from[p] = g
                if p not in owner:
                    free = p
                    break
                queue.append(owner[p])
            if free is not None:
                break
        if free is None:
            continue
        partner_of = {g: p for p, g in owner.items()}
        while True:
            g = came_from[free]
            owner[free] = g
            if g == start:
                break
            free = partner_of[g]


def _first_places(rows: Sequence[KeyRow], wanted: set[KeyRow]) -> list[int]:
    seen: set[KeyRow] = set()
    places: list[int] = []
    for place, row in enumerate(rows):
        if row in wanted and row not in seen:
            seen.add(row)
            places.append(place)
    return places
