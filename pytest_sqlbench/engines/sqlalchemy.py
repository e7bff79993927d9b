"""Any other server, through SQLAlchemy: as safe as the role and the driver, which this module cannot know.

What it does itself: one statement that begins as a query, a transaction that is rolled back (read-only on PostgreSQL),
limits of rows and bytes, and a deadline after which the connection is left.
"""

from __future__ import annotations

import importlib.util
import re
import threading
import time
from contextlib import suppress
from typing import Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import Allowance, Budget
from pytest_sqlbench.engines.lexing import first_word, strip_postgres
from pytest_sqlbench.engines.server import SQL_LENGTH, read_url, strip_query
from pytest_sqlbench.engines.urls import fill_url, hide_secrets
from pytest_sqlbench.errors import EngineError, UsageError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

CHUNK = 500
_QUERIES = frozenset({"select", "with", "values", "table"})
_WRITES = re.compile(r"\binto\b|\b(?:insert|update|delete|merge)\b(?=\s+\w)", re.IGNORECASE)
_STATUSES: tuple[tuple[re.Pattern[str], Status], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), status)
    for pattern, status in (
        (r"syntax|parse error|ORA-009\d\d|unexpected token", Status.SYNTAX),
        (r"no such table|(?:table|relation|object|view)\b.*(?:n[o']t exist|not found|unknown|invalid)|ORA-00942"
         r"|invalid object name", Status.NO_SUCH_TABLE),
        (r"no such column|(?:column|identifier)\b.*(?:n[o']t exist|not found|unknown|invalid)|unknown column|ORA-00904"
         r"|invalid column name", Status.NO_SUCH_COLUMN),
        (r"no such function|function\b.*(?:n[o']t exist|not found|unknown)", Status.NO_SUCH_FUNCTION),
        (r"permission|denied|not authori[sz]ed|read[- ]?only|ORA-01031", Status.DENIED),
        (r"timeout|timed out|cancel|interrupted", Status.TIMEOUT),
        (r"out of memory", Status.MEMORY),
    )
)  # fmt: skip


class SqlalchemyEngine:
    """Answers queries over one database; gold and prediction each have a connection of their own."""

    def __init__(self, url: str, settings: Settings) -> None:
        import sqlalchemy

        self._shown = hide_secrets(url)
        self.allowance = Allowance(settings)
        self.terminated = 0
        """Connections that were closed because a query outlived its deadline."""
        try:
            self._engine = sqlalchemy.create_engine(fill_url(url), poolclass=sqlalchemy.pool.NullPool)
            with self._engine.connect() as connection:
                numbers = connection.dialect.server_version_info or ()
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            raise EngineError(f"{self._shown}: {_one_line(error)}") from None  # the cause may hold the secret
        self._version = f"{self._engine.dialect.name} {'.'.join(map(str, numbers))}".strip()
        self._connections: dict[str, Any] = {}

    @property
    def version(self) -> str:
        """As in ``mssql 16.0``: SQLAlchemy's word for the server, and its version."""
        return self._version

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite on its own connection."""
        return self.allowance.hear_gold(self._run("gold", query, self.allowance.of_gold))

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query on the other connection."""
        budget = self.allowance.next_prediction()
        return _refuse(query) or self._run("prediction", query, budget)

    def describe(self) -> str:
        """Return CREATE TABLE statements as SQLAlchemy reflects them, by name."""
        import sqlalchemy
        from sqlalchemy.schema import CreateTable

        tables = sqlalchemy.MetaData()
        try:
            tables.reflect(self._engine)
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise EngineError(f"{self._shown}: {_one_line(error)}") from None
        texts = [str(CreateTable(tables.tables[name]).compile(self._engine)) for name in sorted(tables.tables)]
        return "\n\n".join(f"{text.strip()};" for text in texts)

    def close(self) -> None:
        """Close both connections."""
        for role in list(self._connections):
            self._drop(role)
        self._engine.dispose()

    def _drop(self, role: str) -> None:
        connection = self._connections.pop(role, None)
        if connection is not None:
            with suppress(Exception):  # the driver's own errors: it is of no more use
                connection.invalidate()
            with suppress(Exception):
                connection.close()

    def _connect(self, role: str) -> Any:
        import sqlalchemy

        if role not in self._connections:
            try:
                connection = self._engine.connect()
                if self._engine.dialect.name == "postgresql":
                    connection = connection.execution_options(postgresql_readonly=True)
            except sqlalchemy.exc.SQLAlchemyError as error:
                raise EngineError(f"{self._shown}: {_one_line(error)}") from None
            self._connections[role] = connection
        return self._connections[role]

    def _run(self, role: str, query: str, budget: Budget) -> ResultSet | QueryFailure:
        """Run a query in a thread of its own: a driver that does not come back is left behind at the deadline."""
        connection = self._connect(role)
        answers: list[ResultSet | QueryFailure] = []
        start = time.perf_counter()
        thread = threading.Thread(target=lambda: answers.append(_fetch(connection, query, *budget)), daemon=True)
        thread.start()
        thread.join(budget[0])
        elapsed_ms = (time.perf_counter() - start) * 1000
        if not answers:
            self._abandon(role, connection)
            return QueryFailure(Status.TIMEOUT, f"stopped after {budget[0]:g} s", elapsed_ms)
        if isinstance(answers[0], QueryFailure):
            self._drop(role)  # whatever the failure left behind
        return answers[0]

    def _abandon(self, role: str, connection: Any) -> None:
        """Ask the driver to cancel, and leave the connection to its thread, where it ends."""
        self._connections.pop(role, None)
        self.terminated += 1
        raw = getattr(connection.connection, "dbapi_connection", None)
        word = next((word for word in ("cancel", "interrupt", "close") if hasattr(raw, word)), None)

        def stop() -> None:
            with suppress(Exception):  # the driver's own errors: it may be in any state
                getattr(raw, str(word))()

        threading.Thread(target=stop, daemon=True).start()  # some drivers wait here for the query that is late


def _refuse(query: str) -> QueryFailure | None:
    stripped = strip_query(query, SQL_LENGTH, strip_postgres)
    if isinstance(stripped, QueryFailure):
        return stripped
    if first_word(stripped) not in _QUERIES:
        return QueryFailure(Status.DENIED, f"not a query: it begins with {query.split(None, 1)[0][:40]!r}")
    if ";" in stripped.rstrip("; \t\r\n\f"):
        return QueryFailure(Status.DENIED, "only one statement may be run")
    if word := _WRITES.search(re.sub(r'"[^"]*"|`[^`]*`|\[[^\]]*\]', " ", stripped)):
        return QueryFailure(Status.DENIED, f"not allowed in a query: {word.group()}")
    return None


def _fetch(connection: Any, query: str, timeout_s: float, max_rows: int, max_bytes: int) -> ResultSet | QueryFailure:
    start = time.perf_counter()
    rows: list[tuple[object, ...]] = []
    size = 0
    cursor: Any = None
    try:
        if connection.dialect.name == "postgresql":  # other drivers do not bear a stream that is left half read
            connection = connection.execution_options(stream_results=True)
        cursor = connection.exec_driver_sql(query)
        if not cursor.returns_rows:
            return QueryFailure(Status.DENIED, "not a query: it gives no rows")
        columns = tuple(map(str, cursor.keys()))
        while some := cursor.fetchmany(CHUNK):
            rows.extend(map(tuple, some))
            size += sum(len(cell) if isinstance(cell, (str, bytes)) else 8 for row in some for cell in row)
            elapsed_ms = (time.perf_counter() - start) * 1000
            if len(rows) > max_rows:
                return QueryFailure(Status.ROWS, f"more than {max_rows:,} rows", elapsed_ms)
            if size > max_bytes:
                return QueryFailure(Status.BYTES, f"more than {max_bytes:,} bytes", elapsed_ms)
            if elapsed_ms > timeout_s * 1000:
                return QueryFailure(Status.TIMEOUT, f"stopped after {timeout_s:g} s", elapsed_ms)
    except Exception as error:  # any driver's own classes
        elapsed_ms = (time.perf_counter() - start) * 1000
        return QueryFailure(_find_status(error), _one_line(error), elapsed_ms)
    finally:
        with suppress(Exception):  # the connection may be gone
            if cursor is not None:
                cursor.close()
            connection.rollback()
    return ResultSet(columns, rows, (time.perf_counter() - start) * 1000)


def _find_status(error: Exception) -> Status:
    message = str(getattr(error, "orig", None) or error)
    for pattern, status in _STATUSES:
        if pattern.search(message):
            return status
    return Status.CRASH if getattr(error, "connection_invalidated", False) else Status.ERROR


def _one_line(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())[:500]


def open_engine(database: Database, settings: Settings) -> SqlalchemyEngine:
    """Connect to a database by its SQLAlchemy URL.

    Raises:
        UsageError: The URL is one of a file.
        EngineError: SQLAlchemy or the driver is not installed, or the server cannot be reached.
    """
    if importlib.util.find_spec("sqlalchemy") is None:
        raise EngineError("the engine sqlalchemy needs SQLAlchemy: pip install 'pytest-sqlbench[sqlalchemy]'")
    url = read_url(database)
    if url.startswith(("sqlite", "duckdb")):
        raise UsageError(f"database {database.name!r}: give the path of the file instead: that engine is guarded")
    return SqlalchemyEngine(url, settings)
