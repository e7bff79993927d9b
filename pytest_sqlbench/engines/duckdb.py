"""DuckDB: gold and predictions each in a sandbox of their own, the file opened read-only."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import threading
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import Budget
from pytest_sqlbench.engines.sandbox import read_answer
from pytest_sqlbench.engines.sandboxed import SandboxedEngine
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

SQL_LENGTH = 100_000


class DuckdbEngine(SandboxedEngine):
    """Answers queries over one DuckDB file."""

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__("duckdb", path, settings, {"memory_bytes": settings.limits.memory_bytes // 2})
        self._guard: Any = None

    @property
    def version(self) -> str:
        """As in ``duckdb 1.5.0``."""
        return f"duckdb {importlib.metadata.version('duckdb')}"

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query in the sandbox."""
        budget = self.allowance.next_prediction()
        if len(query) > SQL_LENGTH:
            return QueryFailure(Status.ERROR, f"the query is longer than {SQL_LENGTH:,} characters")
        return self._run_here(query, budget) if self._settings.runs_in_process else self._run("", query, budget)

    def describe(self) -> str:
        """Return the CREATE statements of tables, then views, by name."""
        rows = self._read_gold(
            "SELECT sql FROM (SELECT 1 AS k, table_name AS n, sql FROM duckdb_tables() UNION ALL"
            " SELECT 2, view_name, sql FROM duckdb_views() WHERE NOT internal) ORDER BY k, n"
        )
        return "\n\n".join(f"{str(sql).strip().rstrip(';')};" for (sql,) in rows)

    def close(self) -> None:
        """Forget the file; the sandboxes stay for other databases."""
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def _run_here(self, query: str, budget: Budget) -> ResultSet | QueryFailure:
        from pytest_sqlbench.engines.guards.duckdb_guard import Guard

        if self._guard is None:
            self._guard = Guard(self._path, self._options["memory_bytes"])
        timer = threading.Timer(budget[0], self._guard.interrupt)
        timer.start()
        try:
            return read_answer(self._guard.run(query, *budget))
        finally:
            timer.cancel()


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
