"""A SQLite database in memory with the schema of a real one, filled and emptied many times a second."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterable, Sequence

from pytest_sqlbench.result import QueryFailure, ResultSet, Row, Status

_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_FORBIDDEN = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zeroblob", "randomblob"})
_OPCODES = 1000
CELL_BYTES = 100_000
"""Longest text or blob: with it, no single function of SQLite takes longer than a few tens of milliseconds."""
MOST_ROWS = 20_000


class MemoryDatabase:
    """Tables of a schema, without rows until `fill`. Queries only read, end at a deadline, and return few rows.

    It runs in this process, so it is for predictions that have already passed the sandbox on the real data.
    """

    def __init__(self, ddl: Iterable[str]) -> None:
        """Make the tables; a statement that fails (a module that is not there, a broken view) is left out."""
        self._connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=16)
        self._is_guarded = False
        self._deadline = 0.0
        for statement in ddl:
            try:
                self._connection.execute(statement)
            except sqlite3.Error:
                continue
        if sys.version_info >= (3, 11):
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_BYTES)
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._is_late, _OPCODES)

    def fill(self, inserts: Iterable[tuple[str, Sequence[Row]]]) -> None:
        """Replace all rows. Each insert is a statement and its rows; a row that a constraint refuses is left out."""
        self.empty()
        self._connection.execute("BEGIN")
        self._deadline = time.monotonic() + 5.0
        for statement, rows in inserts:
            self._connection.executemany(statement, rows)

    def empty(self) -> None:
        """Take all rows away."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def run(self, query: str, timeout_s: float = 0.25) -> ResultSet | QueryFailure:
        """Run a query; whatever it does comes back as a result or a failure."""
        self._deadline = time.monotonic() + timeout_s
        self._is_guarded = True
        try:
            cursor = self._connection.execute(query)
            rows = cursor.fetchmany(MOST_ROWS + 1)
            if cursor.description is None:
                return QueryFailure(Status.NO_RESULT_SET, "it gives no rows")
            columns = tuple([item[0] for item in cursor.description])
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            status = Status.TIMEOUT if "interrupted" in str(error) else Status.ERROR
            return QueryFailure(status, str(error)[:200])
        finally:
            self._is_guarded = False
        if len(rows) > MOST_ROWS:
            return QueryFailure(Status.ROWS, f"more than {MOST_ROWS} rows")
        return ResultSet(columns, rows)

    def reverse(self, is_reversed: bool) -> None:
        """Let unordered rows come in the other order."""
        self._connection.execute(f"PRAGMA reverse_unordered_selects={int(is_reversed)}")

    def rows_of(self, table: str) -> list[Row]:
        """Return all rows of a table as they were taken up."""
        return self._connection.execute(f"SELECT * FROM {quote_name(table)}").fetchall()

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()

    def _authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if not self._is_guarded or action in _ALLOWED:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if (second or "").lower() in _FORBIDDEN else sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


def quote_name(name: str) -> str:
    """Return a name as SQL writes it whatever it holds."""
    return '"' + name.replace('"', '""') + '"'
