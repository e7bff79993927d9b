"""SQLite: gold on a connection of this process, predictions in the sandbox, the file never touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import Allowance
from pytest_sqlbench.engines.guards.sqlite_guard import SQL_LENGTH, Guard
from pytest_sqlbench.engines.sandbox import read_answer, shared_sandbox
from pytest_sqlbench.engines.sandboxed import Stamp, read_stamp
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

MAGIC = b"SQLite format 3\0"


class SqliteEngine:
    """Answers queries over one SQLite file.

    The file may change between two queries, not while one runs. A file in WAL mode with a pending log, or with the
    journal of a crash, is copied and read there, since SQLite would otherwise write beside it.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = str(path)
        self._settings = settings
        self._stamp: Stamp | None = None
        self._file = self._path
        self._keeps_log = False
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._is_seen = False
        """True if a gold looked at the file and no prediction has run since: the two share one look."""
        self._gold: Guard | None = None
        self._tried: Guard | None = None
        self.allowance = Allowance(settings)
        self._options = {"is_immutable": 1, "cell_bytes": settings.limits.result_bytes, "is_reversed": 0}
        self._refresh()

    @property
    def version(self) -> str:
        """As in ``sqlite 3.45.1``."""
        return f"sqlite {sqlite3.sqlite_version}"

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite on its own guarded connection in this process."""
        self._refresh()
        self._is_seen = True
        if self._gold is None:
            self._gold = self._open(is_gold=True)
        return self.allowance.hear_gold(read_answer(self._gold.run(query, *self.allowance.of_gold)))

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query in the sandbox."""
        budget = self.allowance.next_prediction()
        if len(query) > SQL_LENGTH:
            return QueryFailure(Status.ERROR, f"the query is longer than {SQL_LENGTH:,} characters")
        if not self._is_seen:
            self._refresh()
        self._is_seen = False
        if self._settings.runs_in_process:
            if self._tried is None:
                self._tried = self._open(is_gold=False)
            return read_answer(self._tried.run(query, *budget))
        assert self._stamp is not None  # the file was looked at
        sandbox = shared_sandbox("sqlite", self._settings.limits.memory_bytes)
        return read_answer(sandbox.ask((self._file, self._stamp, self._options), query, budget), self._path)

    def run_again(self, query: str, is_gold: bool) -> ResultSet | QueryFailure:
        """Run a query with unordered rows the other way round, to find what depends on their order."""
        if not is_gold and not self._settings.runs_in_process:
            self._options = {**self._options, "is_reversed": 1}
            try:
                return self.run_prediction(query)
            finally:
                self._options = {**self._options, "is_reversed": 0}
        result = self.run_gold(query) if is_gold else self.run_prediction(query)
        guard = self._gold if is_gold else self._tried
        if isinstance(result, QueryFailure) or guard is None:
            return result
        guard.reverse(True)
        try:
            return self.run_gold(query) if is_gold else self.run_prediction(query)
        finally:
            guard.reverse(False)

    def describe(self) -> str:
        """Return the CREATE statements of tables, then views, in the order of their creation."""
        self._refresh()
        if self._gold is None:
            self._gold = self._open(is_gold=True)
        query = (
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'view')"
            " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, rowid"
        )
        result = read_answer(self._gold.run(query, self._settings.gold_timeout_s, 1_000_000, 0))
        if isinstance(result, QueryFailure):
            raise EngineError(f"{self._path}: {result.message}")
        return "\n\n".join(f"{str(sql).strip().rstrip(';')};" for (sql,) in result.rows)

    def close(self) -> None:
        """Close the connections of this process; the sandbox stays for other databases."""
        for guard in (self._gold, self._tried):
            if guard is not None:
                guard.close()
        self._gold = self._tried = None
        self._stamp = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _open(self, *, is_gold: bool) -> Guard:
        try:
            guard = Guard(self._file, bool(self._options["is_immutable"]), is_gold=is_gold)
        except sqlite3.Error as error:
            raise EngineError(f"{self._path}: {error}") from error
        if not is_gold:
            guard.limit_length(self._settings.limits.result_bytes)
        return guard

    def _refresh(self) -> None:
        """Open the file anew if it has changed since the last query."""
        stamp = read_stamp(self._path)
        if stamp == self._stamp and self._copy is None and not (self._keeps_log and self._has_log()):
            return
        self.close()
        self._keeps_log = _read_header(self._path)
        if self._has_log():
            self._copy = tempfile.TemporaryDirectory(prefix="sqlbench-")
            self._file = _copy_recovered(self._path, self._copy.name)
        else:
            self._file = self._path
        self._stamp = stamp

    def _has_log(self) -> bool:
        return os.path.exists(self._path + "-wal") or os.path.exists(self._path + "-journal")


def _read_header(path: str) -> bool:
    """Return True if the database keeps a write-ahead log; raise `EngineError` if it is no database."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError as error:
        raise EngineError(f"{path}: cannot be read ({error.strerror})") from error
    if head and not head.startswith(MAGIC):
        raise EngineError(f"{path}: not a SQLite database (its first bytes are {head[:16]!r})")
    return head[18:20] == b"\2\2"


def _copy_recovered(path: str, folder: str) -> str:
    """Copy the database with its log and let SQLite merge the two in the copy."""
    copy = os.path.join(folder, "copy.db")
    for suffix in ("", "-wal", "-journal"):
        if os.path.exists(path + suffix):
            shutil.copyfile(path + suffix, copy + suffix)
    try:
        connection = sqlite3.connect(copy)
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        connection.close()
    except sqlite3.Error as error:
        raise EngineError(f"{path}: {error}") from error
    return copy


def open_engine(database: Database, settings: Settings) -> SqliteEngine:
    """Open the file of a database.

    Raises:
        EngineError: There is no such file, or it is no SQLite database.
    """
    if database.path is None:
        raise EngineError(f"database {database.name!r} has no file")
    return SqliteEngine(database.path, settings)
