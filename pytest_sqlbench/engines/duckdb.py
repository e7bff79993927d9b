"""DuckDB: gold and predictions each in a sandbox of their own, the file opened read-only."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import threading
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import GOLD_FACTOR, Allowance
from pytest_sqlbench.engines.sandbox import Sandbox, read_answer, shared_sandbox
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

SQL_LENGTH = 100_000


class DuckdbEngine:
    """Answers queries over one DuckDB file. The file may change between two queries, not while one runs."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = str(path)
        self._settings = settings
        self.allowance = Allowance(settings.limits.rows)
        self._options = {"memory_bytes": settings.limits.memory_bytes // 2}
        self._guard: Any = None
        self._stamp()

    @property
    def version(self) -> str:
        """As in ``duckdb 1.5.0``."""
        return f"duckdb {importlib.metadata.version('duckdb')}"

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite, in a sandbox that no prediction has seen."""
        limits = self._settings.limits
        allowed = (self._settings.gold_timeout_s, limits.rows * GOLD_FACTOR, limits.result_bytes * GOLD_FACTOR)
        result = self._run("gold", query, allowed)
        if isinstance(result, ResultSet):
            self.allowance.hear_gold(len(result.rows))
        return result

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query in the sandbox.

        It may always return as many rows as the gold that ran just before, also above the limit.
        """
        max_rows = self.allowance.rows()
        if len(query) > SQL_LENGTH:
            return QueryFailure(Status.ERROR, f"the query is longer than {SQL_LENGTH:,} characters")
        limits = self._settings.limits
        allowed = (limits.timeout_s, max_rows, limits.result_bytes)
        if self._settings.runs_in_process:
            return self._run_here(query, allowed)
        return self._run("", query, allowed)

    def describe(self) -> str:
        """Return the CREATE statements of tables, then views, by name."""
        result = self.run_gold(
            "SELECT sql FROM (SELECT 1 AS k, table_name AS n, sql FROM duckdb_tables() UNION ALL"
            " SELECT 2, view_name, sql FROM duckdb_views() WHERE NOT internal) ORDER BY k, n"
        )
        if isinstance(result, QueryFailure):
            raise EngineError(f"{self._path}: {result.message}")
        return "\n\n".join(f"{str(sql).strip().rstrip(';')};" for (sql,) in result.rows)

    def close(self) -> None:
        """Forget the file; the sandboxes stay for other databases."""
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def _sandbox(self, role: str) -> Sandbox:
        return shared_sandbox("duckdb", self._settings.limits.memory_bytes, role)

    def _run(self, role: str, query: str, allowed: tuple[float, int, int]) -> ResultSet | QueryFailure:
        request = (self._path, self._stamp(), self._options, query, allowed)
        answer = self._sandbox(role).ask(request, allowed[0])
        if answer[0] == "unopened":
            raise EngineError(f"{self._path}: {answer[1]}")
        return read_answer(answer)

    def _run_here(self, query: str, allowed: tuple[float, int, int]) -> ResultSet | QueryFailure:
        from pytest_sqlbench.engines.guards.duckdb_guard import Guard

        if self._guard is None:
            self._guard = Guard(self._path, self._options["memory_bytes"])
        timer = threading.Timer(allowed[0], self._guard.interrupt)
        timer.start()
        try:
            return read_answer(self._guard.run(query, *allowed))
        finally:
            timer.cancel()

    def _stamp(self) -> tuple[int, int, int]:
        try:
            stat = os.stat(self._path)
        except OSError as error:
            raise EngineError(f"{self._path}: no such database file ({error.strerror})") from error
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


def open_engine(database: Database, settings: Settings) -> DuckdbEngine:
    """Open the file of a database.

    Raises:
        EngineError: DuckDB is not installed, or there is no such file.
    """
    if importlib.util.find_spec("duckdb") is None:
        raise EngineError("the engine duckdb needs DuckDB: pip install 'pytest-sqlbench[duckdb]'")
    if database.path is None:
        raise EngineError(f"database {database.name!r} has no file")
    return DuckdbEngine(database.path, settings)
