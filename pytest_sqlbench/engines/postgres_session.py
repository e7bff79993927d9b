"""One session of a PostgreSQL server that outlives any query: deadlines and sizes are kept on this side too."""

from __future__ import annotations

import select
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from pytest_sqlbench.engines.limits import TERMINATED
from pytest_sqlbench.engines.postgres_values import make_transformer
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status

try:
    import fcntl
    import termios
except ImportError:  # Windows: a huge cell is only seen when it is here
    fcntl = None  # type: ignore[assignment]

CHUNK = 1000
GRACE_S = 0.25
"""The server stops a query at its deadline; this much later it is cancelled, and as much later abandoned."""
SLACK = 4 * 2**20
_CONNECT_S = 20.0

_LOCKED = b"""SELECT relation FROM pg_lock_status()
WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation > 16383"""
_TABLES = """SELECT oid, CASE WHEN relkind IN ('r', 'p', 'f', 'm')
AND relnamespace <> 'information_schema'::regnamespace
THEN lower(relname) ELSE '' END FROM pg_class WHERE oid IN ({})"""
_COLUMNS = b"""SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'f', 'm', 'v') AND a.attnum > 0 AND NOT a.attisdropped
AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname <> 'public', n.nspname, c.relname, a.attnum"""
_KEYS = b"""SELECT n.nspname, c.relname, pg_get_constraintdef(k.oid) FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype IN ('p', 'u', 'f') ORDER BY k.contype <> 'p', k.contype, k.conname"""


class Session:
    """Runs one query at a time, each in its own read-only transaction; connects again where a query cost the session.

    Args:
        url: A libpq URL with whatever secret it needs; never shown.
        shown: The same URL for messages.
        timeout_s: The deadline of a query.
        allows_superuser: Whether to go on as a superuser.
    """

    def __init__(self, url: str, shown: str, timeout_s: float, allows_superuser: bool) -> None:
        self._url, self._shown, self._timeout_s, self._allows_superuser = url, shown, timeout_s, allows_superuser
        self._connection: Any = None
        self._transformer: Any = None
        self._names: dict[int, str] = {}
        self.version = ""
        self.terminated = 0
        """Server processes that had to be terminated."""
        self._connect()

    def user(self) -> str:
        """Return this role's name."""
        return _quoted(self._connection.info.user)

    @property
    def _pgconn(self) -> Any:
        return self._connection.pgconn

    def _connect(self) -> None:
        import psycopg

        ms = max(int(self._timeout_s * 1000), 1)
        options = (
            f"-c statement_timeout={ms} -c lock_timeout={ms} -c default_transaction_read_only=on -c jit=off"
            f" -c idle_in_transaction_session_timeout={ms + 60_000} -c client_connection_check_interval=500"
            " -c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c max_parallel_workers_per_gather=0"
        )
        try:
            connection = psycopg.connect(
                self._url, autocommit=True, options=options, connect_timeout=int(_CONNECT_S), client_encoding="utf8"
            )
        except psycopg.Error as error:
            raise EngineError(f"{self._shown}: {_one_line(str(error))}") from None  # the cause may hold the secret
        if connection.pgconn.parameter_status(b"is_superuser") == b"on" and not self._allows_superuser:
            connection.close()
            raise EngineError(
                f"{self._shown}: this role is a superuser, so a prediction could do anything. Use a role that may only"
                " read (pytest-sqlbench doctor URL prints one), or --sqlbench-allow-superuser."
            )
        connection.pgconn.nonblocking = 1
        connection.pgconn.notice_handler = None
        self._connection = connection
        self.version = f"postgres {self._pgconn.parameter_status(b'server_version').decode().split()[0]}"
        self._transformer = make_transformer(connection)

    def close(self) -> None:
        """Close the connection; the next query opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def run(self, query: str, max_rows: int, max_bytes: int) -> ResultSet | QueryFailure:
        """Run one SELECT (or VALUES, TABLE, WITH): a cursor takes nothing else."""
        self._begin()
        start = time.perf_counter()
        deadline = time.monotonic() + self._timeout_s + GRACE_S
        try:
            columns, rows, tables = self._run(query, deadline, max_rows, max_bytes)
        except _EndedError as end:
            return QueryFailure(end.status, _one_line(end.message), (time.perf_counter() - start) * 1000)
        return ResultSet(columns, rows, (time.perf_counter() - start) * 1000, tables)

    def _run(
        self, query: str, deadline: float, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple[object, ...]], frozenset[str]]:
        try:
            self._command(b"DECLARE sqlbench NO SCROLL CURSOR FOR " + query.encode(), deadline)
            columns, rows = self._fetch(deadline, max_rows, max_bytes)
            tables = self._tables(deadline)
        except _EndedError as end:
            if end.is_session_lost:
                self._abandon(end)
            else:
                self._leave()
            raise
        self._leave()
        return columns, rows, tables

    def _tables(self, deadline: float) -> frozenset[str]:
        """Return the tables that this transaction has locked, which are those that it read."""
        oids = [int(str(row[0])) for row in self._rows(_LOCKED, deadline)]
        if unknown := [oid for oid in oids if oid not in self._names]:
            text = _TABLES.format(",".join(map(str, unknown)))
            self._names.update({int(str(oid)): str(name) for oid, name in self._rows(text.encode(), deadline)})
        return frozenset(name for oid in oids if (name := self._names.get(oid)))

    def _begin(self) -> None:
        """Begin a transaction, on a new connection if the old one was lost since the last query."""
        if self._connection is not None and not self._connection.closed:
            try:
                self._command(b"BEGIN READ ONLY", time.monotonic() + _CONNECT_S)
            except _EndedError:
                self.close()
            else:
                return
        self._connect()
        try:
            self._command(b"BEGIN READ ONLY", time.monotonic() + _CONNECT_S)
        except _EndedError as end:
            raise EngineError(f"{self._shown}: {end.message}") from end

    def _leave(self) -> None:
        """Roll back, and drop what outlives a transaction."""
        deadline = time.monotonic() + 5.0
        try:
            self._command(b"ROLLBACK", deadline)
            self._command(b"DISCARD ALL", deadline)
        except _EndedError:
            self.close()

    def _fetch(
        self, deadline: float, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        rows: list[tuple[object, ...]] = []
        columns: tuple[str, ...] | None = None
        while True:
            (result,) = self._results(f"FETCH {CHUNK} FROM sqlbench".encode(), deadline, max_bytes)
            max_bytes -= _size(result, max_bytes)
            if columns is None:
                columns = tuple(result.fname(i).decode("utf-8", "replace") for i in range(result.nfields))
            self._transformer.set_pgresult(result)
            rows.extend(self._transformer.load_rows(0, result.ntuples, tuple))
            if len(rows) > max_rows:
                raise _EndedError(Status.ROWS, f"more than {max_rows:,} rows")
            if result.ntuples < CHUNK:
                return columns, rows

    def _command(self, text: bytes, deadline: float) -> None:
        for _ in self._results(text, deadline, SLACK):
            pass

    def _rows(self, text: bytes, deadline: float) -> list[tuple[object, ...]]:
        (result,) = self._results(text, deadline, SLACK)
        self._transformer.set_pgresult(result)
        return list(self._transformer.load_rows(0, result.ntuples, tuple))

    def _results(self, text: bytes, deadline: float, max_bytes: int) -> list[Any]:
        """Send one statement by the extended protocol, which takes one only, and wait for all of its results."""
        import psycopg

        pgconn = self._pgconn
        try:
            pgconn.send_query_params(text, None)
            while pgconn.flush():
                self._wait(deadline, is_sending=True)
                pgconn.consume_input()
            return list(self._received(pgconn, deadline, max_bytes))
        except psycopg.Error as error:
            raise _EndedError(Status.CRASH, f"the connection is gone: {error}", is_session_lost=True) from error

    def _received(self, pgconn: Any, deadline: float, max_bytes: int) -> Iterator[Any]:
        from psycopg import pq
        from psycopg.pq import DiagnosticField

        arrived = 0
        failure: _EndedError | None = None
        while True:
            while pgconn.is_busy():
                self._wait(deadline, is_sending=False)
                arrived += _pending(pgconn.socket)
                if arrived > max_bytes + SLACK:  # a single huge cell: it must not fill this process
                    raise _EndedError(Status.BYTES, f"more than {max_bytes:,} bytes", is_session_lost=True)
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                break
            if result.status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
                yield result
            elif failure is None:
                code = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
                message = (result.error_field(DiagnosticField.MESSAGE_PRIMARY) or b"no message").decode(
                    "utf-8", "replace"
                )
                failure = _failure(code, message)
        if failure is not None:
            raise failure

    def _wait(self, deadline: float, *, is_sending: bool) -> None:
        left = deadline - time.monotonic()
        if left <= 0 or not _is_ready(self._pgconn.socket, is_sending, left):
            raise _EndedError(Status.TIMEOUT, f"stopped after {self._timeout_s:g} s", is_session_lost=True)

    def _abandon(self, end: _EndedError) -> None:
        """Cancel what runs; if the server does not listen, close the connection and have its process terminated."""
        pgconn = self._pgconn
        pid = pgconn.backend_pid
        with suppress(Exception):  # the server may be gone: then there is nothing to cancel
            pgconn.get_cancel().cancel()
        if end.status is not Status.BYTES and self._becomes_idle(pgconn, time.monotonic() + GRACE_S):
            return
        self.close()
        if self._is_alive(pid):
            self.terminated += 1
            end.message += f"; {TERMINATED}"

    def _becomes_idle(self, pgconn: Any, deadline: float) -> bool:
        try:
            for _ in self._received(pgconn, deadline, SLACK):
                pass
        except _EndedError as end:
            if end.is_session_lost:
                return False
        except Exception:  # the driver's own errors: the connection is of no more use
            return False
        self._leave()
        return self._connection is not None

    def _is_alive(self, pid: int) -> bool:
        """Terminate a server process and return whether there still was one."""
        try:
            self._connect()
            rows = self._rows(
                f"SELECT has_function_privilege('pg_terminate_backend(integer, bigint)', 'EXECUTE')"
                f" FROM pg_stat_activity WHERE pid = {int(pid)}".encode(),
                time.monotonic() + 2.0,
            )
            if rows and rows[0][0]:
                self._command(f"SELECT pg_terminate_backend({int(pid)})".encode(), time.monotonic() + 2.0)
        except (_EndedError, EngineError):
            return False  # the next query says what is wrong with the server
        return bool(rows)

    def describe(self) -> str:
        """Write CREATE TABLE statements from the catalogue, with their keys."""
        self._begin()
        deadline = time.monotonic() + 30.0
        lines: dict[str, list[str]] = {}
        try:
            for schema, table, column, kind, is_required in self._rows(_COLUMNS, deadline):
                name = _name(schema, table)
                lines.setdefault(name, []).append(f"{_quoted(column)} {kind}{' NOT NULL' if is_required else ''}")
            for schema, table, definition in self._rows(_KEYS, deadline):
                if _name(schema, table) in lines:
                    lines[_name(schema, table)].append(str(definition))
        except _EndedError as end:
            raise EngineError(f"{self._shown}: {end.message}") from end
        self._leave()
        return "\n\n".join(
            f"CREATE TABLE {name}(\n    " + ",\n    ".join(cells) + "\n);" for name, cells in lines.items()
        )


class _EndedError(Exception):
    """A query that ended without its result."""

    def __init__(self, status: Status, message: str, *, is_session_lost: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.is_session_lost = status, message, is_session_lost


def _failure(code: str, message: str) -> _EndedError:
    from pytest_sqlbench.engines.postgres import find_status

    status = find_status(code, message)
    return _EndedError(status, message, is_session_lost=status is Status.CRASH)


def _is_ready(socket: int, is_sending: bool, timeout_s: float) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return any(select.select([socket], [socket] if is_sending else [], [], timeout_s))
    poller = select.poll()
    poller.register(socket, select.POLLIN | (select.POLLOUT if is_sending else 0))
    return bool(poller.poll(timeout_s * 1000))


def _pending(socket: int) -> int:
    if fcntl is None:
        return 0
    (n,) = struct.unpack("i", fcntl.ioctl(socket, termios.FIONREAD, b"\0\0\0\0"))
    return int(n)


def _size(result: Any, max_bytes: int) -> int:
    length: Callable[[int, int], int] = result.get_length if hasattr(result, "get_length") else _length_of(result)
    size = sum(length(row, column) for row in range(result.ntuples) for column in range(result.nfields))
    if size > max_bytes:
        raise _EndedError(Status.BYTES, f"more than {max_bytes:,} bytes")
    return size


def _length_of(result: Any) -> Callable[[int, int], int]:
    return lambda row, column: len(result.get_value(row, column) or b"")


def _name(schema: object, table: object) -> str:
    return _quoted(table) if schema == "public" else f"{_quoted(schema)}.{_quoted(table)}"


def _quoted(name: object) -> str:
    text = str(name)
    return text if text.isidentifier() and text == text.lower() else '"' + text.replace('"', '""') + '"'


def _one_line(message: str) -> str:
    return " ".join(message.split())[:500]
