"""Which predicted column answers which gold column: one assignment for all rows, found without trying permutations.

Columns are compared by what they hold (how often each value occurs), then by the rows that they form together. Values
that lie within the tolerance are taken as one here; whoever asks checks the rows of the assignment that comes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_sqlbench.scoring.values import Key, KeyRow, Tolerance, cluster_numbers, is_fraction, is_number

Assignment = tuple[int, ...]
"""For each gold column the predicted column (from 0) that answers it; no column answers twice."""
Column = tuple[Key, ...]
Kind = Literal["bag", "set", "sequence"]

_NUMBERS = frozenset({int, float, bool})
STEPS = 2_000
"""Columns tried before a search is given up."""
CELLS = 4_000_000
"""Cells looked at before a search is given up."""
REFINED = 3
"""Rounds in which columns that look alike are told apart by the rows they meet."""


@dataclass(frozen=True, slots=True)
class Table:
    """Two results as columns, and what stands above them."""

    gold: list[Column]
    predicted: list[Column]
    gold_labels: tuple[str, ...]
    predicted_labels: tuple[str, ...]
    kind: Kind = "bag"
    """What the rows are: a bag, a set, or a sequence in which row stands against row."""


def make_table(
    gold: Sequence[KeyRow],
    predicted: Sequence[KeyRow],
    labels: tuple[Sequence[str], Sequence[str]],
    tolerance: Tolerance,
    kind: Kind = "bag",
) -> Table:
    """Turn rows into columns, with close numbers written as one where any number is a fraction.

    Args:
        gold: At least one row.
        predicted: At least one row.
        labels: Of the gold columns and of the predicted ones.
        tolerance: What counts as close.
        kind: What the rows are.
    """
    if kind == "set":
        gold, predicted = list(dict.fromkeys(gold)), list(dict.fromkeys(predicted))
    gold_columns, predicted_columns = list(zip(*gold)), list(zip(*predicted))  # noqa: B905 -- equal by construction
    if not tolerance.is_zero and any(float in set(map(type, column)) for column in gold_columns + predicted_columns):
        cells = {cell for column in gold_columns + predicted_columns for cell in column if type(cell) in _NUMBERS}
        if any(map(is_fraction, cells)) and (leaders := cluster_numbers(cells, tolerance)):
            gold_columns = [_snap(column, leaders) for column in gold_columns]
            predicted_columns = [_snap(column, leaders) for column in predicted_columns]
    return Table(
        gold_columns,
        predicted_columns,
        tuple(map(fold_label, labels[0])),
        tuple(map(fold_label, labels[1])),
        kind,
    )


def _snap(column: Column, leaders: dict[Key, Key]) -> Column:
    return tuple([leaders.get(cell, cell) if is_number(cell) else cell for cell in column])


def fold_label(label: str) -> str:
    """Return a label as it is compared: without case, quotes or spaces at its ends."""
    return str(label).strip().strip("\"'`[]").casefold()


def assign_by_label(gold_labels: Sequence[str], predicted_labels: Sequence[str]) -> Assignment | None:
    """Assign columns of equal (folded) labels, repeated ones in their order; None if a gold label has no partner."""
    places: dict[str, list[int]] = {}
    for place in range(len(predicted_labels) - 1, -1, -1):
        places.setdefault(predicted_labels[place], []).append(place)
    chosen: list[int] = []
    for label in gold_labels:
        if not places.get(label):
            return None
        chosen.append(places[label].pop())
    return tuple(chosen)


def candidates(table: Table) -> list[list[int]]:
    """Return, for each gold column, the predicted columns that hold the same values equally often."""
    by_content: dict[Any, list[int]] = {}
    for place, column in enumerate(table.predicted):
        by_content.setdefault(_content(column, table.kind), []).append(place)
    return [by_content.get(_content(column, table.kind), []) for column in table.gold]


def _content(column: Column, kind: Kind) -> Any:
    if kind == "sequence":
        return column
    return frozenset(Counter(column).items()) if kind == "bag" else frozenset(column)


def assign_without_choice(table: Table) -> Assignment | None:
    """Assign columns where the values leave no choice, or where equal labels settle the choice; otherwise None.

    Predicted columns that are equal in every row are no choice: either gives the same rows.
    """
    chosen: list[int] = []
    taken: set[int] = set()
    for place, options in enumerate(candidates(table)):
        free = [option for option in options if option not in taken]
        if not free:
            return None
        contents = {table.predicted[option] for option in options}
        if len(contents) == 1:
            choice = free[0]
        else:
            named = [option for option in options if table.predicted_labels[option] == table.gold_labels[place]]
            if len(named) != 1 or named[0] in taken or table.gold_labels.count(table.gold_labels[place]) != 1:
                return None
            choice = named[0]
        taken.add(choice)
        chosen.append(choice)
    return tuple(chosen)


def assign_by_content(table: Table) -> Assignment | None:
    """Find an assignment under which both sides hold the same rows; None if there is none or the search is too long.

    Candidates are narrowed by what their rows hold in other columns, then tried one after another while the rows
    made of the columns assigned so far still agree. Columns that are equal in every row are tried once.
    """
    options = candidates(table)
    if not all(options):
        return None
    if len(table.gold) == len(table.predicted) and any(len(option) > 1 for option in options):
        options = _refined(table, options)
        if not all(options):
            return None
    return _Search(table, options).run()


def _refined(table: Table, options: list[list[int]]) -> list[list[int]]:
    """Narrow candidates by colours: of a column by its rows' colours, of a row by its columns' colours, in turns."""
    numbers: dict[Any, int] = {}

    def number(colour: Any) -> int:
        return numbers.setdefault(colour, len(numbers))

    gold = [number(_content(column, table.kind)) for column in table.gold]
    predicted = [number(_content(column, table.kind)) for column in table.predicted]
    for _ in range(REFINED):
        before = len(set(gold))
        gold = _recolour(table.gold, gold, number)
        predicted = _recolour(table.predicted, predicted, number)
        if sorted(gold) != sorted(predicted):
            return [[] for _ in gold]
        if len(set(gold)) == before:
            break
    return [[option for option in options[place] if predicted[option] == colour] for place, colour in enumerate(gold)]


def _recolour(columns: list[Column], colours: list[int], number: Any) -> list[int]:
    rows = [
        number(frozenset(Counter(zip(colours, row, strict=True)).items()))
        for row in zip(*columns)  # noqa: B905 -- columns of one table are equally long
    ]
    return [
        number((colour, frozenset(Counter(zip(rows, column, strict=True)).items())))
        for colour, column in zip(colours, columns, strict=True)
    ]


class _Search:
    """Depth-first search that keeps, for each depth, the rows of both sides as numbers: equal number, equal row."""

    def __init__(self, table: Table, options: list[list[int]]) -> None:
        self._table = table
        self._order = sorted(range(len(options)), key=lambda place: len(options[place]))
        self._options = [self._ranked(place, options[place]) for place in self._order]
        self._steps = 0
        height = max(1, len(table.gold[0]) + len(table.predicted[0])) if table.gold else 1
        self._allowed = min(STEPS, max(200, CELLS // height))

    def _ranked(self, place: int, options: list[int]) -> list[int]:
        labels, own = self._table.predicted_labels, self._table.gold_labels[place]
        return sorted(options, key=lambda option: (labels[option] != own, option != place, option))

    def run(self) -> Assignment | None:
        """Return the first assignment whose rows agree."""
        table, depth, chosen = self._table, 0, [-1] * len(self._order)
        rows = [([0] * len(table.gold[0]), [0] * len(table.predicted[0]))]
        waiting = [iter(self._options[0])]
        tried: list[set[Column]] = [set()]
        while waiting:
            option = next(waiting[-1], None)
            if option is None:
                waiting.pop(), tried.pop(), rows.pop()
                depth -= 1
                continue
            column = table.predicted[option]
            if option in chosen[:depth] or column in tried[-1]:
                continue
            tried[-1].add(column)
            self._steps += 1
            if self._steps > self._allowed:
                return None
            extended = self._extend(rows[-1], table.gold[self._order[depth]], column)
            if extended is None:
                continue
            chosen[depth] = option
            depth += 1
            if depth == len(chosen):
                return tuple(option for _, option in sorted(zip(self._order, chosen, strict=True)))
            rows.append(extended)
            waiting.append(iter(self._options[depth]))
            tried.append(set())
        return None

    def _extend(
        self, rows: tuple[list[int], list[int]], gold: Column, predicted: Column
    ) -> tuple[list[int], list[int]] | None:
        """Add one column to the rows of both sides; None if they no longer agree."""
        numbers: dict[tuple[int, Key], int] = {}
        gold_rows = [numbers.setdefault(pair, len(numbers)) for pair in zip(rows[0], gold, strict=True)]
        predicted_rows: list[int] = []
        for pair in zip(rows[1], predicted, strict=True):
            number = numbers.get(pair)
            if number is None:
                return None
            predicted_rows.append(number)
        if self._table.kind == "bag":
            agree = Counter(gold_rows) == Counter(predicted_rows)
        else:
            agree = len(set(predicted_rows)) == len(numbers)
        return (gold_rows, predicted_rows) if agree else None
