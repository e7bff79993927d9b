"""Runs logical forms over the tables of one WikiSQL split: our own statements with bound values, one connection each.

The published database is opened once, or, where there is only the tables file, each table is built in memory when a
case first asks it. No prediction's text ever comes here.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.logical_form import LogicalForm, WebTable, sql_name
from pytest_sqlbench.result import QueryFailure, Status
from pytest_sqlbench.scoring.wikisql.statement import Mode, compile_form, strict_number

KEPT_TABLES = 256
"""Tables held in memory at once. Cases come in the order of their tables, so few are enough."""

_ERRORS = (sqlite3.Error, OverflowError, UnicodeError)
"""What binding or running can raise: a value that SQLite cannot hold is the prediction's fault."""


class WikiSqlTables:
    """The tables of one split, for one worker."""

    def __init__(self, database: Path | None, tables_file: Path | None) -> None:
        """Open the database file, or else the tables file.

        Raises:
            EngineError: Neither can be opened.
        """
        self._file: BinaryIO | None = None
        self._published: sqlite3.Connection | None = None
        try:
            if database is not None:
                self._published = open_read_only(database)
            elif tables_file is not None:
                self._file = tables_file.open("rb")
        except (sqlite3.Error, OSError) as error:
            raise EngineError(f"{database or tables_file}: cannot be opened: {error}") from error
        self._official = _MemoryTables()
        self._strict = _MemoryTables()
        self._comma_columns: dict[str, tuple[int, ...]] = {}

    def run(self, form: LogicalForm, table: WebTable, mode: Mode) -> list[Any] | QueryFailure:
        """Run a form; return the one column of its answer, in the order of the rows."""
        statement = compile_form(form, table, mode)
        if isinstance(statement, QueryFailure):
            return statement
        try:
            rows = self._connection(table, mode).execute(statement.sql, statement.values).fetchall()
        except _ERRORS as error:
            return _failure(error)
        return [row[0] for row in rows]

    def comma_columns(self, table: WebTable) -> tuple[int, ...]:
        """Return the number columns that hold text, such as ``19,952``: the published databases keep it as text."""
        found = self._comma_columns.get(table.id)
        if found is None:
            found = self._comma_columns[table.id] = self._find_comma_columns(table)
        return found

    def copy_table(self, table: WebTable, target: sqlite3.Connection) -> None:
        """Write the table, as the published databases have it, into another database."""
        create_table(target, table, self._rows(table))

    def close(self) -> None:
        """Close every connection and file. Closing twice is allowed."""
        for closable in (self._published, self._file, self._official.connection, self._strict.connection):
            if closable is not None:
                closable.close()

    def _connection(self, table: WebTable, mode: Mode) -> sqlite3.Connection:
        if mode == "strict" and self.comma_columns(table):
            if not self._strict.holds(table):
                self._strict.add(table, with_numbers(self._rows(table), table))
            return self._strict.connection
        if self._published is not None:
            return self._published
        if not self._official.holds(table):
            self._official.add(table, self._rows(table))
        return self._official.connection

    def _find_comma_columns(self, table: WebTable) -> tuple[int, ...]:
        numbers = [number for number, kind in enumerate(table.types) if kind == "real"]
        if not numbers:
            return ()
        counts = ", ".join(f"max(typeof(col{number}) = 'text')" for number in numbers)
        row = self._connection(table, "official").execute(f'SELECT {counts} FROM "{table.name}"').fetchone()
        return tuple(number for number, has_text in zip(numbers, row, strict=True) if has_text)

    def _rows(self, table: WebTable) -> list[Sequence[Any]]:
        if self._published is not None:
            return self._published.execute(f'SELECT * FROM "{table.name}"').fetchall()
        assert self._file is not None
        self._file.seek(table.offset)
        return lowered(json.loads(self._file.readline())["rows"])


class _MemoryTables:
    """A database in memory that keeps the tables asked last."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self._kept: OrderedDict[str, None] = OrderedDict()

    def holds(self, table: WebTable) -> bool:
        if table.id not in self._kept:
            return False
        self._kept.move_to_end(table.id)
        return True

    def add(self, table: WebTable, rows: Iterable[Sequence[Any]]) -> None:
        if len(self._kept) >= KEPT_TABLES:
            oldest, _ = self._kept.popitem(last=False)
            self.connection.execute(f'DROP TABLE "{sql_name(oldest)}"')
        create_table(self.connection, table, rows)
        self._kept[table.id] = None


def open_read_only(database: Path) -> sqlite3.Connection:
    """Open a database file read-only, without locks where nobody can be writing to it."""
    uri = database.absolute().as_uri() + "?mode=ro"
    if not Path(f"{database}-wal").exists():
        uri += "&immutable=1"
    # hardly a statement comes twice, and keeping prepared ones costs more than preparing them
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, cached_statements=0)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def create_table(connection: sqlite3.Connection, table: WebTable, rows: Iterable[Sequence[Any]]) -> None:
    """Create one table as the published databases have it and fill it."""
    columns = ", ".join(f"col{number} {kind}" for number, kind in enumerate(table.types))
    marks = ", ".join("?" * len(table.types))
    connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
    connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', rows)


def lowered(rows: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
    """Lower-case every text, as the published databases do."""
    return [[cell.lower() if isinstance(cell, str) else cell for cell in row] for row in rows]


def with_numbers(rows: Iterable[Sequence[Any]], table: WebTable) -> list[Sequence[Any]]:
    """Read texts in number columns as numbers where they are written with commas: ``19,952``."""
    is_real = [kind == "real" for kind in table.types]
    return [
        [_number(cell) if real and isinstance(cell, str) else cell for cell, real in zip(row, is_real, strict=True)]
        for row in rows
    ]


def _number(text: str) -> object:
    number = strict_number(text)
    return text if number is None else number


def _failure(error: Exception) -> QueryFailure:
    return QueryFailure(Status.ERROR, " ".join(str(error).split())[:500])
