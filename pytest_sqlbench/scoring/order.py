"""Row order as the gold asks for it: ordered or not, which rows tie under its keys, and what its LIMIT cut away.

Nothing is worked out before it is asked for: most results match, or differ, without anybody knowing the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from pytest_sqlbench.result import QueryFailure, ResultSet, Row
from pytest_sqlbench.scoring.rows import bag_residue
from pytest_sqlbench.scoring.sqltext import OrderPlan, has_top_level_order, may_cut_rows, plan_order
from pytest_sqlbench.scoring.values import KeyRow, Tolerance, key_rows


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The gold's rows in order, each with the values of its ORDER BY keys, and the rows that a LIMIT cut away."""

    rows: list[Row]
    keys: list[KeyRow]
    start: int
    """Where the gold's own result begins among `rows`."""
    size: int
    """How many rows the gold's own result has."""

    def groups(self) -> Iterator[tuple[int, int]]:
        """Yield where each group of rows that tie begins and ends, in order."""
        begin = 0
        for _, members in groupby(self.keys):
            end = begin + len(list(members))
            yield begin, end
            begin = end

    def find_cut(self) -> tuple[int, int] | None:
        """Return the group of ties inside which the gold's result begins or ends; None if there is none."""
        borders = (self.start, self.start + self.size)
        return next(((a, b) for a, b in self.groups() if any(a < border < b for border in borders)), None)


class GoldOrder:
    """What the text of one gold says about row order; made once per gold, asked by `compare` where it matters.

    Args:
        sql: The gold query.
        dialect: Its grammar.
        fetch: Runs a variant of the gold that also returns its sort keys, without its LIMIT; called at most once, and
            only if a prediction has other rows, or the same rows in another order. None: ties are read off the result.
    """

    def __init__(
        self, sql: str, dialect: str = "sqlite", fetch: Callable[[str], ResultSet | QueryFailure] | None = None
    ) -> None:
        self.sql = sql
        self.dialect = dialect
        self._fetch = fetch

    @cached_property
    def is_ordered(self) -> bool:
        """True if the gold has an ORDER BY at its top level."""
        return has_top_level_order(self.sql)

    @cached_property
    def may_be_cut(self) -> bool:
        """False if the gold surely returns all its rows."""
        return may_cut_rows(self.sql)

    @cached_property
    def _plan(self) -> OrderPlan | None:
        return plan_order(self.sql, self.dialect)

    @cached_property
    def _fetched(self) -> ResultSet | None:
        plan = self._plan
        if plan is None or self._fetch is None or not plan.keyed_sql:
            return None
        result = self._fetch(plan.keyed_sql)
        return result if isinstance(result, ResultSet) else None

    def on(self, fetch: Callable[[str], ResultSet | QueryFailure]) -> GoldOrder:
        """Return the order of the same gold over other data; what was read off its text is kept."""
        return _OrderElsewhere(self, fetch)

    def keyed_rows(self, gold: ResultSet) -> KeyedRows | None:
        """Return the gold's rows with their sort keys; None where the keys cannot be known."""
        plan = self._plan
        if plan is None:
            return None
        width = len(gold.columns)
        if not plan.needs_query:
            return _keyed(gold.rows, plan, width, 0, len(gold.rows))
        fetched = self._fetched
        if fetched is not None and len(fetched.columns) == width + plan.added:
            keyed = _keyed(fetched.rows, plan, width, plan.offset, len(gold.rows))
            rows = key_rows(keyed.rows, gold.rows, is_typed=False)
            # the variant is trusted only if it explains the gold itself
            if fits_ties(keyed, rows[0], rows[1], Tolerance(1e-9, 1e-9)):
                return keyed
        if plan.added == 0:
            return _keyed(gold.rows, plan, width, 0, len(gold.rows))
        return None


class _OrderElsewhere(GoldOrder):
    """The order of a gold over other data."""

    def __init__(self, origin: GoldOrder, fetch: Callable[[str], ResultSet | QueryFailure]) -> None:
        super().__init__(origin.sql, origin.dialect, fetch)
        self._origin = origin

    @property
    def is_ordered(self) -> bool:
        return self._origin.is_ordered

    @property
    def may_be_cut(self) -> bool:
        return self._origin.may_be_cut

    @property
    def _plan(self) -> OrderPlan | None:
        return self._origin._plan


class NarrowedOrder(GoldOrder):
    """The order of a gold of which only some columns are compared; its sort keys may be among the others.

    Args:
        order: The order of the whole gold.
        gold: The whole gold.
        places: The columns that are compared.
    """

    def __init__(self, order: GoldOrder, gold: ResultSet, places: Sequence[int]) -> None:
        super().__init__(order.sql, order.dialect)
        self._order, self._gold, self._places = order, gold, places

    def keyed_rows(self, gold: ResultSet) -> KeyedRows | None:
        """Return the compared columns of the whole gold's rows, with its sort keys."""
        keyed = self._order.keyed_rows(self._gold)
        if keyed is None:
            return None
        return replace(keyed, rows=[tuple([row[place] for place in self._places]) for row in keyed.rows])


def _keyed(rows: Sequence[Row], plan: OrderPlan, width: int, start: int, size: int) -> KeyedRows:
    places = plan.places(width)
    key_cells = [tuple([row[place] for place in places]) for row in rows]
    keys, _ = key_rows(key_cells, (), is_typed=False)
    return KeyedRows([row[:width] for row in rows], keys, start, size)


def fits_ties(keyed: KeyedRows, gold: Sequence[KeyRow], predicted: Sequence[KeyRow], tolerance: Tolerance) -> bool:
    """Say whether predicted rows are the gold's, in its order, but for the order of rows that tie.

    Where the gold's result begins or ends inside a group of ties, any rows of that group will do.

    Args:
        keyed: The gold's rows with their keys.
        gold: The same rows as keys of their values, in the same order.
        predicted: Predicted rows as keys, columns in the gold's order.
        tolerance: For fractions.
    """
    if len(predicted) != keyed.size or keyed.start + keyed.size > len(gold):
        return False
    first, last = keyed.start, keyed.start + keyed.size
    for begin, end in keyed.groups():
        inside = range(max(begin, first), min(end, last))
        if len(inside):
            given = predicted[inside.start - first : inside.stop - first]
            residue = bag_residue(gold[begin:end], given, tolerance)
            if residue.predicted:
                return False
    return True
