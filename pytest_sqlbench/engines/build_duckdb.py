"""Fills a new DuckDB file from a recipe. Cells are cast to the types that the schema declares."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.errors import EngineError, UsageError

BLOCK_BYTES = "16384"
"""The smallest there is: each column of each table fills a block, and most recipes are small."""


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


def _insert(connection: Any, name: str, table: str, rows: Iterable[tuple[int, Mapping[str, Any]]], where: str) -> None:
    import duckdb

    connection.execute("BEGIN")
    for line, row in rows:
        at = f"{where}:{line}" if line else where
        columns = ", ".join(map(_quote, row))
        marks = ", ".join("?" * len(row))
        try:
            connection.execute(f"INSERT INTO {_quote(table)} ({columns}) VALUES ({marks})", list(row.values()))
        except duckdb.CatalogException as error:
            raise UsageError(f"database {name!r}: {at}: the schema has no table {table!r}") from error
        except duckdb.Error as error:
            message = str(error).splitlines()[0]
            raise UsageError(f"{at}: the row does not fit table {table!r}: {message}") from error
    connection.execute("COMMIT")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
