"""Reads the tables of a WikiSQL split: headers and types, from the tables file or from the database."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.logical_form import WebTable

TYPES = ("text", "real")

_PUBLISHED_TABLE = re.compile(r"CREATE TABLE \w+ \(col[0-9]+ (?:text|real)(?:, col[0-9]+ (?:text|real))*\)")
"""How the published databases spell it; anything else is asked of SQLite, which is slower."""
_COLUMN = re.compile(r"(col[0-9]+) (text|real)")


def read_tables_file(path: Path, digest: Any, *, needs_rows: bool) -> dict[str, WebTable]:
    """Read ``*.tables.jsonl``, a table a line, and return the tables by id; rows are checked and not kept.

    Args:
        path: The file.
        digest: A hash object that takes the file's bytes.
        needs_rows: Whether each table must have its rows, because there is no database.
    """
    tables: dict[str, WebTable] = {}
    offset = 0
    try:
        with path.open("rb") as file:
            for line, raw in enumerate(file, 1):
                digest.update(raw)
                if raw.strip():
                    table = _read_table(path, line, raw, offset, needs_rows)
                    if table.id in tables:
                        raise CaseError(path, line, f"table {table.id} stands twice")
                    tables[table.id] = table
                offset += len(raw)
    except OSError as error:
        raise CaseError(path, 0, f"cannot be read: {error.strerror}") from error
    return tables


def _read_table(path: Path, line: int, raw: bytes, offset: int, needs_rows: bool) -> WebTable:
    try:
        entry = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CaseError(path, line, f"is not JSON: {error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise CaseError(path, line, "wanted an object with id, header, types and rows")
    name = entry["id"]
    headers, types, rows = entry.get("header"), entry.get("types"), entry.get("rows")
    if not isinstance(headers, list) or not headers or not all(isinstance(header, str) for header in headers):
        raise CaseError(path, line, f"table {name}: header is {str(headers)[:80]!r}, wanted a list of texts")
    if not isinstance(types, list) or len(types) != len(headers):
        n = len(types) if isinstance(types, list) else 0
        raise CaseError(path, line, f"table {name} has {len(headers)} headers and {n} types")
    if odd := [kind for kind in types if kind not in TYPES]:
        raise CaseError(path, line, f"table {name}: type is {odd[0]!r}. Allowed: {', '.join(TYPES)}.")
    if rows is None and needs_rows:
        raise CaseError(path, line, f"table {name} has no rows, and there is no database file")
    _check_rows(path, line, name, rows or (), len(headers))
    return WebTable(
        id=sys.intern(name),
        headers=tuple(map(sys.intern, headers)),
        types=tuple(map(sys.intern, types)),
        title=_title(entry),
        offset=offset,
        rows=-1 if rows is None else len(rows),
    )


def _check_rows(path: Path, line: int, name: str, rows: Any, width: int) -> None:
    if not isinstance(rows, (list, tuple)):
        raise CaseError(path, line, f"table {name}: rows is {str(rows)[:80]!r}, wanted a list of lists")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != width:
            n = len(row) if isinstance(row, list) else 0
            raise CaseError(path, line, f"table {name}: row {number} has {n} cells, the header has {width}")


def _title(entry: Mapping[str, Any]) -> str:
    parts = [entry.get("page_title"), entry.get("section_title"), entry.get("caption")]
    return " / ".join(dict.fromkeys(part for part in parts if isinstance(part, str) and part))


def read_database_tables(database: Path) -> dict[str, WebTable]:
    """Read all tables of a published database, by name; its columns are called ``col0``..., whatever the page said."""
    tables = {}
    for name, columns in _read_columns(database).items():
        for number, (column, kind) in enumerate(columns):
            if column != f"col{number}" or kind not in TYPES:
                said = f"column {number} is {column!r} {kind!r}, wanted 'col{number}' of type text or real"
                raise CaseError(database, 0, f"table {name}: {said}")
        tables[name] = WebTable(
            id=sys.intern(name.removeprefix("table_").replace("_", "-")),
            headers=tuple(sys.intern(column) for column, _ in columns),
            types=tuple(sys.intern(kind) for _, kind in columns),
        )
    return tables


def check_database(database: Path, tables_file: Path, tables: Mapping[str, WebTable]) -> None:
    """Raise `CaseError` for the first table that the database lacks or has with other columns, types or row counts."""
    found = _read_columns(database)
    for table in tables.values():
        columns = found.get(table.name)
        if columns is None:
            raise CaseError(database, 0, f"has no table {table.name}, which {tables_file.name} has")
        if len(columns) != len(table.types):
            said = f"{len(columns)} columns, {len(table.types)} in {tables_file.name}"
            raise CaseError(database, 0, f"table {table.name} has {said}")
        for number, ((_, kind), wanted) in enumerate(zip(columns, table.types, strict=True)):
            if kind != wanted:
                said = f"col{number} is {kind}, {wanted} in {tables_file.name}"
                raise CaseError(database, 0, f"table {table.name}: {said}")
    _check_row_counts(database, tables_file, tables)


def _check_row_counts(database: Path, tables_file: Path, tables: Mapping[str, WebTable]) -> None:
    with closing(_connect(database)) as connection:
        for table in tables.values():
            if table.rows >= 0:
                (n,) = connection.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()
                if n != table.rows:
                    said = f"{n} rows, {table.rows} in {tables_file.name}"
                    raise CaseError(database, 0, f"table {table.name} has {said}")


def _read_columns(database: Path) -> dict[str, list[tuple[str, str]]]:
    columns: dict[str, list[tuple[str, str]]] = {}
    try:
        with closing(_connect(database)) as connection:
            for table, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
                if _PUBLISHED_TABLE.fullmatch(sql):
                    columns[table] = _COLUMN.findall(sql)
                else:
                    named = connection.execute("SELECT name, lower(type) FROM pragma_table_info(?)", (table,))
                    columns[table] = named.fetchall()
    except sqlite3.Error as error:
        raise CaseError(database, 0, f"cannot be read: {error}") from error
    return columns


def _connect(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(database.absolute().as_uri() + "?mode=ro", uri=True)
