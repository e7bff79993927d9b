"""Makes rows for the tables that two queries read, around their constants, within the schema's constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from pytest_sqlbench.scoring.witness.constants import Clues, ColumnName, vary
from pytest_sqlbench.scoring.witness.tables import Column, Reference, Schema, Table

Instance = dict[str, list[tuple[object, ...]]]
"""Lower-cased table name to its rows; the columns are those that `Generator.tables` lists."""

SIZES = (0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 14)
"""Rows of a table, drawn anew for each instance."""
FIRST_SIZES = (6, 0, 1)
"""Rows of every table in the first instances: most wrong queries show on few rows, some on none or one."""
BORDERS = 4
"""Constants of a column that stand together in a third of the instances."""
WIDTHS = (1, 2, 2, 3, 4, 6)
"""Different values of a column: few, so that values repeat, tie and meet."""
FROM_CONSTANTS = 0.6
"""Share of a column's values that come from around the queries' constants, where there are some."""
_BASE: dict[str, tuple[object, ...]] = {
    "integer": (0, 1, 2, 3, 5, 10, 100, -1),
    "real": (0.5, 1.0, 1.5, 2.0, 10.25, -1.5, 100.0),
    "numeric": (0, 1, 2, 3.5, 10),
    "text": ("a", "b", "c", "A", "ab", "ba"),
    "blob": ("a", "b", 1, 2),
}


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one table is filled; only columns that the queries read, or that must not be NULL, get values."""

    table: Table
    columns: tuple[Column, ...]
    groups: tuple[ColumnName, ...]
    """For each column the group whose domain it draws from."""
    references: tuple[tuple[Reference, tuple[int, ...]], ...]
    """Foreign keys to tables of the instance, with the places of their targets in the rows of those."""


class Generator:
    """Draws instances for one pair of queries. The same seed and number give the same instance.

    Args:
        schema: Of the real database.
        clues: What the queries look at; `clues.tables` are the tables that get rows.
        seed: Of all instances.
    """

    def __init__(self, schema: Schema, clues: Clues, seed: int) -> None:
        tables = schema.in_order(clues.tables)
        self._seed = seed
        self._groups = _group(clues.joined, tables)
        self._pools: dict[ColumnName, tuple[list[object], list[object]]] = {}
        self._constants: dict[ColumnName, list[object]] = {}
        self._plans: list[_Plan] = []
        for table in tables:
            self._plans.append(self._plan(table, clues))
        for plan in self._plans:
            self._collect(plan, clues)
        self._pools = {name: (_unique(near), _unique(usual) or [0]) for name, (near, usual) in self._pools.items()}

    @property
    def tables(self) -> list[tuple[Table, tuple[Column, ...]]]:
        """The tables that get rows and the columns that get values; a table after those it refers to."""
        return [(plan.table, plan.columns) for plan in self._plans]

    def draw(self, number: int) -> Instance:
        """Make the rows of one instance."""
        draw = Random(self._seed * 1_000_003 + number)
        kind = (number % 2 == 1, number % 3 == 0)
        domains: dict[ColumnName, list[object]] = {}
        instance: Instance = {}
        for plan in self._plans:
            size = FIRST_SIZES[number] if number < len(FIRST_SIZES) else SIZES[int(draw.random() * len(SIZES))]
            instance[plan.table.name] = self._rows(draw, plan, size, domains, kind, instance)
        return instance

    def _plan(self, table: Table, clues: Clues) -> _Plan:
        columns = tuple(
            column
            for column in table.columns
            if not column.is_nullable or column.is_unique or clues.may_read(column.name.lower())
        )
        names = [column.name.lower() for column in columns]
        references: list[tuple[Reference, tuple[int, ...]]] = []
        for reference in table.references:
            parent = next((plan for plan in self._plans if plan.table.name == reference.table), None)
            if parent is None:
                continue
            owned = [column.name.lower() for column in parent.columns]
            if all(name in owned for name in reference.targets) and len(reference.targets) == len(reference.columns):
                references.append((reference, tuple(owned.index(name) for name in reference.targets)))
        keys = [(table.name, name) for name in names]
        return _Plan(table, columns, tuple(self._groups.get(key, key) for key in keys), tuple(references))

    def _collect(self, plan: _Plan, clues: Clues) -> None:
        """Add the values of a table's columns to the pools: those around constants, and the usual ones."""
        for column, group in zip(plan.columns, plan.groups, strict=True):
            near, usual = self._pools.setdefault(group, ([], []))
            constants = clues.by_column.get((plan.table.name, column.name.lower()), ())
            if constants:
                self._constants[group] = _unique([*self._constants.get(group, ()), *constants])
            near.extend(value for constant in (*constants, *column.checked) for value in vary(constant))
            usual.extend((*column.checked, *column.samples))
            usual.extend(() if column.is_closed else _BASE[column.affinity])

    def _domain(self, draw: Random, group: ColumnName, is_border: bool) -> list[object]:
        near, usual = self._pools[group]
        rand = draw.random
        if is_border and (constants := self._constants.get(group)):
            # every constant itself, so that rows stand on all borders at once, and two of its neighbours
            return [*constants[:BORDERS], near[int(rand() * len(near))], near[int(rand() * len(near))]]
        return [
            near[int(rand() * len(near))] if near and rand() < FROM_CONSTANTS else usual[int(rand() * len(usual))]
            for _ in range(WIDTHS[int(rand() * len(WIDTHS))])
        ]

    def _rows(
        self,
        draw: Random,
        plan: _Plan,
        size: int,
        domains: dict[ColumnName, list[object]],
        kind: tuple[bool, bool],
        instance: Instance,
    ) -> list[tuple[object, ...]]:
        has_nulls, is_border = kind
        followed: dict[str, list[object]] = {}
        for reference, places in plan.references:
            rows = [row for row in instance[reference.table] if all(row[place] is not None for place in places)]
            # few schemas say NOT NULL of a foreign key, so the data are asked whether one may be missing
            owned = [column for column in plan.columns if column.name.lower() in reference.columns]
            may_lack = any(column.has_nulls and column.is_nullable for column in owned)
            if may_lack and (has_nulls or not rows):
                rows.append((None,) * (max(places) + 1))
            if not rows:
                return []
            chosen = [rows[int(draw.random() * len(rows))] for _ in range(size)]
            for name, place in zip(reference.columns, places, strict=True):
                followed.setdefault(name, [row[place] for row in chosen])
        columns: list[list[object]] = []
        for column, group in zip(plan.columns, plan.groups, strict=True):
            values = followed.get(column.name.lower())
            if values is None:
                if group not in domains:
                    domains[group] = self._domain(draw, group, is_border)
                values = self._values(draw, column, size, domains[group], group, has_nulls)
            columns.append(values)
        return list(zip(*columns, strict=True)) if columns else [()] * size

    def _values(
        self, draw: Random, column: Column, size: int, domain: list[object], group: ColumnName, has_nulls: bool
    ) -> list[object]:
        if not column.is_unique:
            options = [*domain, None] if has_nulls and column.is_nullable else domain
            rand, n = draw.random, len(options)
            return [options[int(rand() * n)] for _ in range(size)]
        near, usual = self._pools[group]
        values = [*domain, *near[:size], *usual[:size]]
        if column.is_row_number:
            values = [value for value in values if isinstance(value, int)]
        if column.affinity in ("integer", "numeric", "real"):
            values += range(1, size + 1)
        else:
            values += [f"k{i}" for i in range(size)]
        values = _unique(values)
        start = int(draw.random() * len(values)) if size else 0
        return (values[start:] + values[:start])[:size]


def _unique(values: Iterable[object]) -> list[object]:
    return list(dict.fromkeys(values))


def _group(joined: Iterable[tuple[ColumnName, ColumnName]], tables: Sequence[Table]) -> dict[ColumnName, ColumnName]:
    """Return for each joined column the first of its group: columns that are compared draw from one domain."""
    parent: dict[ColumnName, ColumnName] = {}

    def find(name: ColumnName) -> ColumnName:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    known = {(table.name, column.name.lower()) for table in tables for column in table.columns}
    for one, other in joined:
        if one in known and other in known:
            parent[max(find(one), find(other))] = min(find(one), find(other))
    return {name: find(name) for name in parent}
