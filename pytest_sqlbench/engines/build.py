"""Builds a database from its recipe (schema and rows), once, into a folder addressed by content."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.errors import CaseError, EngineError, UsageError

if TYPE_CHECKING:
    import sqlite_utils

BUILD_VERSION = 1
"""Raised when the same recipe would give another file, so that old files in a cache are not used."""

SUFFIXES = {"duckdb": ".duckdb", "sparql": ".ttl", "sqlite": ".sqlite"}
"""The engines that can be filled from a recipe, and the suffix of their files."""


def digest_recipe(database: Database) -> str:
    """Return the sha256 of everything that the built file depends on, as hex."""
    digest = hashlib.sha256(f"{BUILD_VERSION}\0{database.schema}\0".encode())
    for table, path in database.rows:
        digest.update(f"{table}\0".encode())
        digest.update(_read(path))
    inline = {table: [dict(row) for row in rows] for table, rows in database.inline_rows.items()}
    digest.update(json.dumps(inline, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def build_database(database: Database, engine: str, cache_dir: Path | None) -> Database:
    """Return the database with ``path`` set to a file of the engine, made of its recipe.

    For SPARQL the schema is the graph itself, as Turtle.

    The file is made beside its final place and renamed into it, so several workers may build at once and a
    killed one leaves nothing that the next run could take for a database.

    Raises:
        UsageError: The schema does not run, or a row does not fit it; names file and line.
        EngineError: The folder cannot be written (no space, no permission), or there is none.
    """
    if not database.is_recipe:
        return database
    if engine not in SUFFIXES:
        raise EngineError(f"database {database.name!r}: engine {engine!r} cannot be filled from a schema and rows")
    if cache_dir is None:
        raise EngineError(f"database {database.name!r} has to be built, and no cache folder is set")
    folder = cache_dir / "databases"
    target = folder / f"{database.name}-{digest_recipe(database)[:20]}{_format(engine)}{SUFFIXES[engine]}"
    if not target.is_file():
        partial = folder / f".{target.stem}.{os.getpid()}.partial"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _fill(database, engine, partial)
            os.replace(partial, target)
        except OSError as error:
            raise EngineError(f"database {database.name!r} cannot be built in {folder}: {error.strerror}") from error
        except sqlite3.OperationalError as error:
            raise EngineError(f"database {database.name!r} cannot be built in {folder}: {error}") from error
        finally:
            for leftover in folder.glob(f"{partial.name}*"):
                with suppress(OSError):
                    leftover.unlink()
    return replace(database, path=target)


def _format(engine: str) -> str:
    """Return what else tells two files apart: DuckDB's format moves with its version."""
    if engine != "duckdb":
        return ""
    from pytest_sqlbench.engines.build_duckdb import find_version

    return f"-{find_version()}"


def _fill(database: Database, engine: str, path: Path) -> None:
    if engine == "duckdb":
        from pytest_sqlbench.engines.build_duckdb import fill

        fill(database, path)
    elif engine == "sparql":
        if database.rows or database.inline_rows:
            raise UsageError(f"database {database.name!r}: a graph has no rows; its schema is the whole of it")
        path.write_text(database.schema, encoding="utf-8")
    else:
        _fill_sqlite(database, path)


def _fill_sqlite(database: Database, path: Path) -> None:
    import sqlite_utils  # 0.2 s, which a built database does not have to pay

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        store = sqlite_utils.Database(connection, execute_plugins=False)
        try:
            connection.executescript(database.schema)
        except sqlite3.Error as error:
            if _is_disk_trouble(error):
                raise
            raise UsageError(f"database {database.name!r}: the schema does not run on SQLite: {error}") from error
        connection.execute("BEGIN")
        for table, source in database.rows:
            _insert(store, database.name, table, read_rows(source), source)
        for table, rows in database.inline_rows.items():
            _insert(store, database.name, table, enumerate(rows, 1), None)
        connection.execute("COMMIT")
        _check_foreign_keys(connection, database.name)


def _is_disk_trouble(error: sqlite3.Error) -> bool:
    return any(word in str(error) for word in ("disk", "readonly", "unable to open", "I/O"))


def read_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (line, row) of a CSV, JSON or JSONL file; an empty CSV cell is NULL.

    Raises:
        CaseError: With file and line, where a row cannot be read.
    """
    if path.suffix == ".csv":
        yield from _read_csv(path)
        return
    text = _decode(path)
    if path.suffix == ".json":
        entries = _parse_json(path, text, 1)
        if not isinstance(entries, list):
            raise CaseError(path, 1, "wanted a JSON list of rows")
        numbered: Iterable[tuple[int, Any]] = ((0, entry) for entry in entries)
    else:
        numbered = ((line, _parse_json(path, raw, line)) for line, raw in enumerate(text.split("\n"), 1) if raw.strip())
    for line, entry in numbered:
        if not isinstance(entry, dict):
            raise CaseError(path, line, f"found {str(entry)[:40]!r}, wanted an object with a value a column")
        yield line, entry


def _read_csv(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.reader(_decode(path).splitlines(keepends=True))
    header = next(reader, None)
    if header is None:
        raise CaseError(path, 1, "is empty, wanted a header line with column names")
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(header):
            raise CaseError(path, reader.line_num, f"found {len(cells)} cells, wanted {len(header)}")
        yield reader.line_num, {name: cell or None for name, cell in zip(header, cells, strict=True)}


def _parse_json(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CaseError(path, getattr(error, "lineno", 1) + line - 1, f"is not JSON: {error}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaseError(path, 0, f"cannot be read: {error.strerror}") from error


def _decode(path: Path) -> str:
    try:
        return _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(path, 0, f"is not UTF-8 text (byte {error.start})") from error


def _insert(
    store: sqlite_utils.Database,
    database: str,
    table: str,
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    source: Path | None,
) -> None:
    where = str(source) if source is not None else f"rows of {table}"
    declared = {column.name: column.type.upper() for column in store.table(table).columns}
    if not declared:
        raise UsageError(f"database {database!r}: {where}: the schema has no table {table!r}")
    booleans = {name for name, kind in declared.items() if kind.startswith("BOOL")}
    located: list[tuple[str, dict[str, Any]]] = []
    for line, row in rows:
        at = f"{where}:{line}" if line else where
        for name in row:
            if name not in declared:
                raise UsageError(f"{at}: table {table!r} has no column {name!r}. Known: {', '.join(declared)}.")
        located.append((at, {name: _as_boolean(cell) if name in booleans else cell for name, cell in row.items()}))
    try:
        store.table(table).insert_all((values for _, values in located), batch_size=500)
    except _ROW_FAULTS:
        _find_fault(store, table, located)
        raise


_ROW_FAULTS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)


def _find_fault(store: sqlite_utils.Database, table: str, located: list[tuple[str, dict[str, Any]]]) -> None:
    """Insert the rows one by one to say which of them does not fit."""
    store.execute(f"DELETE FROM [{table}]")
    for at, values in located:
        try:
            store.table(table).insert(values)
        except _ROW_FAULTS as error:
            raise UsageError(f"{at}: the row does not fit table {table!r}: {error}") from error


def _as_boolean(cell: object) -> object:
    return {"true": 1, "false": 0}.get(cell.lower(), cell) if isinstance(cell, str) else cell


def _check_foreign_keys(connection: sqlite3.Connection, database: str) -> None:
    fault = connection.execute("PRAGMA foreign_key_check").fetchone()
    if fault is not None:
        table, rowid, parent, _ = fault
        raise UsageError(f"database {database!r}: row {rowid} of {table!r} points at no row of {parent!r}")
