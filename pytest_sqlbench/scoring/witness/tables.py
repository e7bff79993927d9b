"""What a generated database has to keep: tables, columns, keys, and values that occur in the real data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_sqlbench.case import NOTHING

_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d.*)?|\d\d?[/.:]\d\d?([/.:]\d+)?.*")


def _is_moment(value: object) -> bool:
    return isinstance(value, str) and _MOMENT.fullmatch(value) is not None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    affinity: str = "text"
    """``integer``, ``real``, ``numeric``, ``text`` or ``blob``: what SQLite makes of the declared type."""
    is_nullable: bool = True
    has_nulls: bool = True
    """Whether the real data have a NULL here, as far as was looked."""
    is_unique: bool = False
    """Whether no value may occur twice: the whole of a key or of a unique index."""
    is_row_number: bool = False
    """Whether it is the INTEGER PRIMARY KEY, which takes whole numbers only."""
    samples: tuple[object, ...] = ()
    """Some values of the real data."""
    checked: tuple[object, ...] = ()
    """Constants of a CHECK on the column; other values may be refused."""

    @property
    def is_closed(self) -> bool:
        """True if values of no other kind than the known ones make sense: under a CHECK, or dates."""
        return bool(self.checked) or (len(self.samples) > 1 and all(map(_is_moment, self.samples)))


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: columns whose values, where none is NULL, occur together in another table."""

    columns: tuple[str, ...]
    table: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table; names are lower-cased for look-ups and kept as written in `title`."""

    name: str
    title: str
    columns: tuple[Column, ...]
    references: tuple[Reference, ...] = ()

    def find(self, name: str) -> Column | None:
        """Return the column of this (lower-cased) name."""
        return next((column for column in self.columns if column.name.lower() == name), None)


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a database by lower-cased name."""

    tables: Mapping[str, Table] = field(default_factory=lambda: NOTHING)

    def column_names(self) -> frozenset[str]:
        """Return the lower-cased names of all columns."""
        return frozenset(column.name.lower() for table in self.tables.values() for column in table.columns)

    def in_order(self, names: Iterable[str]) -> list[Table]:
        """Return the tables of these names, a table after those it refers to (cycles as they come)."""
        wanted = [name for name in sorted(set(names)) if name in self.tables]
        ordered: list[Table] = []
        seen: set[str] = set()

        def visit(name: str) -> None:
            if name in seen or name not in wanted:
                return
            seen.add(name)
            for reference in self.tables[name].references:
                visit(reference.table)
            ordered.append(self.tables[name])

        for name in wanted:
            visit(name)
        return ordered
