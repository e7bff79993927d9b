"""The same SQLite data in another order: what depends on an order that nobody asked for shows itself there."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import quote

from pytest_sqlbench.engines.guards.sqlite_guard import Guard
from pytest_sqlbench.engines.sandbox import read_answer
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet

_INTEGER = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|\bINTEGER\b|\bAUTOINCREMENT\b""",
    re.IGNORECASE | re.DOTALL,
)
_SPELLED = {"INTEGER": "INT", "AUTOINCREMENT": ""}
MOST_BYTES = 64 * 2**20
"""Databases above this size are not copied; only the order of their scans is turned round."""


class SqliteVariants:
    """A database read backwards, and a copy of it whose rows were shuffled. Gold queries only: nothing is sandboxed."""

    def __init__(self, path: Path, seed: int = 0) -> None:
        """Open both.

        Args:
            path: A SQLite file; it is not written.
            seed: Of the shuffling.

        Raises:
            EngineError: The file cannot be copied.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="sqlbench-")
        self._guards: list[Guard] = []
        try:
            backwards = Guard(str(path), is_immutable=False, is_gold=True)
            self._guards.append(backwards)
            backwards.reverse(True)
            if path.stat().st_size <= MOST_BYTES:
                copy = Path(self._folder.name) / "shuffled.sqlite"
                copy_shuffled(path, copy, seed)
                self._guards.append(Guard(str(copy), is_immutable=True, is_gold=True))
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise EngineError(f"{path}: cannot be copied: {error}") from error

    def run(self, query: str, timeout_s: float, max_rows: int) -> list[ResultSet | QueryFailure]:
        """Run a query on each variant."""
        return [read_answer(guard.run(query, timeout_s, max_rows, MOST_BYTES)) for guard in self._guards]

    def close(self) -> None:
        """Release connections and the copy. Closing twice is allowed."""
        while self._guards:
            self._guards.pop().close()
        self._folder.cleanup()


def copy_shuffled(source: Path, target: Path, seed: int) -> None:
    """Copy tables and their rows, rows in an order that depends on the seed only; then indexes and views.

    Raises:
        sqlite3.Error: The schema needs a module that is not there, or the file is broken.
    """
    connection = sqlite3.connect(f"file:{quote(str(target.absolute()))}", uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("ATTACH ? AS source", (f"file:{quote(str(source.absolute()))}?mode=ro",))
        entries = connection.execute(
            "SELECT type, name, sql, rootpage FROM source.sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
        connection.execute("BEGIN")
        for kind, name, sql, page in entries:
            if kind == "table" and page and not name.startswith("sqlite_"):
                connection.execute(_without_row_order(sql))
                _copy_rows(connection, name, seed)
        for kind, _, sql, _ in entries:
            if kind in ("index", "view"):
                connection.execute(sql)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _without_row_order(ddl: str) -> str:
    """Return DDL in which no key is the row number: SQLite would store the rows in its order."""
    return _INTEGER.sub(lambda token: _SPELLED.get(token[0].upper(), token[0]), ddl)


def _copy_rows(connection: sqlite3.Connection, table: str, seed: int) -> None:
    quoted = '"' + table.replace('"', '""') + '"'
    columns = [row[1] for row in connection.execute(f"PRAGMA source.table_xinfo({quoted})") if not row[6]]
    listed = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
    # a multiplication by a large odd number scatters rowids; a table WITHOUT ROWID is ordered by its key anyway
    order = f"ORDER BY ((rowid + {seed}) * 2654435761) % 4294967291"
    insert = f"INSERT INTO main.{quoted} ({listed}) SELECT {listed} FROM source.{quoted}"
    try:
        connection.execute(f"{insert} {order}")
    except sqlite3.OperationalError as error:
        if "rowid" not in str(error):
            raise
        connection.execute(insert)
