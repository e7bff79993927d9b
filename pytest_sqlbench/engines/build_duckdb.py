"""Fills a new DuckDB file from a recipe. Cells are cast to the types that the schema declares."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.errors import EngineError, UsageError

BLOCK_BYTES = "16384"
"""The smallest there is: each column of each table fills a block, and most recipes are small."""
BLOCK_CELLS = 2_000
"""Values that one statement inserts: row by row DuckDB takes a hundred times as long."""

_Row = tuple[int, Mapping[str, Any]]
"""The line that a row was written in (0: unknown), and its values by column."""


def find_version() -> str:
    """Return DuckDB's version; raise `EngineError` if it is not installed."""
    try:
        return importlib.metadata.version("duckdb")
    except importlib.metadata.PackageNotFoundError as error:
        raise EngineError("the engine duckdb needs DuckDB: pip install 'pytest-sqlbench[duckdb]'") from error


def fill(database: Database, path: Path) -> None:
    """Create the file and fill it.

    Raises:
        UsageError: The schema does not run, or a row does not fit it; names file and line.
        EngineError: The file cannot be written.
    """
    import duckdb

    from pytest_sqlbench.engines.row_order import tables_in_order

    try:
        connection = duckdb.connect(str(path), config={"threads": "1", "default_block_size": BLOCK_BYTES})
    except duckdb.Error as error:
        raise EngineError(f"database {database.name!r} cannot be built: {error}") from error
    with closing(connection):
        try:
            connection.execute(database.schema)
        except duckdb.Error as error:
            raise UsageError(f"database {database.name!r}: the schema does not run on DuckDB: {error}") from error
        for table, where, rows in tables_in_order(database):
            _insert(connection, database.name, table, rows, where)


def _insert(connection: Any, name: str, table: str, rows: Iterable[_Row], where: str) -> None:
    """Insert all rows in blocks; where one does not fit, once more row by row, so that the error names it."""
    import duckdb

    kept = list(rows)
    connection.execute("BEGIN")
    try:
        for block in _blocks(kept):
            _insert_block(connection, table, block)
    except duckdb.Error:
        connection.execute("ROLLBACK")
        connection.execute("BEGIN")
        for line, row in kept:
            at = f"{where}:{line}" if line else where
            try:
                _insert_block(connection, table, [(line, row)])
            except duckdb.CatalogException as error:
                raise UsageError(f"database {name!r}: {at}: the schema has no table {table!r}") from error
            except duckdb.Error as error:
                message = str(error).splitlines()[0]
                raise UsageError(f"{at}: the row does not fit table {table!r}: {message}") from error
    connection.execute("COMMIT")


def _blocks(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Put rows together that have the same columns and, column by column, values of one type or NULL.

    In one statement DuckDB makes the values of a column one type before it casts them to that of the table.
    """
    block: list[_Row] = []
    kinds: dict[str, type | None] = {}
    for line, row in rows:
        new = {column: None if value is None else type(value) for column, value in row.items()}
        fits = list(new) == list(kinds) and all(
            None in (kind, kinds[column]) or kind is kinds[column] for column, kind in new.items()
        )
        if block and (not fits or (len(block) + 1) * len(row) > BLOCK_CELLS):
            yield block
            block, kinds = [], {}
        kinds = {column: kind or kinds.get(column) for column, kind in new.items()}
        block.append((line, row))
    if block:
        yield block


def _insert_block(connection: Any, table: str, block: list[_Row]) -> None:
    row = block[0][1]
    marks = ", ".join([f"({', '.join('?' * len(row))})"] * len(block))
    values = [value for _, row in block for value in row.values()]
    connection.execute(f"INSERT INTO {_quote(table)} ({', '.join(map(_quote, row))}) VALUES {marks}", values)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
