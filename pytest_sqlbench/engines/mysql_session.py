"""One session of a MySQL or MariaDB server that outlives any query."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pytest_sqlbench.engines.limits import TERMINATED
from pytest_sqlbench.engines.mysql import find_status
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status

CHUNK = 500
GRACE_S = 0.25
"""The server stops a query at its deadline; this much later the connection is killed."""
_CONNECT_S = 20
_MIGHTY = re.compile(r"\bON \*\.\* ", re.IGNORECASE)
_POWERS = re.compile(r"\b(ALL PRIVILEGES|SUPER|FILE|SHUTDOWN|CREATE USER|GRANT OPTION|INSERT|UPDATE|DELETE|DROP)\b")
_HARMLESS = frozenset({1365, 1287, 1681, 1831})
"""Warnings that are no wrong answer: NULL for a division by zero, words that will go away."""


class Session:
    """Runs one query at a time in its own read-only transaction; connects again where a query cost the session.

    Args:
        url: With whatever secret it needs; never shown.
        shown: The same URL for messages.
        timeout_s: The deadline of a query.
        allows_superuser: Whether to go on as a role that may do anything.
    """

    def __init__(self, url: str, shown: str, timeout_s: float, allows_superuser: bool) -> None:
        parts = urlsplit(url)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        self._where: dict[str, Any] = {
            "host": parts.hostname or "localhost",
            "port": parts.port or 3306,
            "user": unquote(parts.username or query.get("user", "")),
            "password": unquote(parts.password or query.get("password", "")),
            "database": unquote(parts.path.lstrip("/")) or None,
        }
        if "unix_socket" in query:
            self._where["unix_socket"] = query["unix_socket"]
        self._shown, self._timeout_s, self._allows_superuser = shown, timeout_s, allows_superuser
        self._connection: Any = None
        self._cursor: Any = None
        self.version = ""
        self.terminated = 0
        """Connections that had to be killed."""
        self._connect()

    def _connect(self) -> None:
        self._connection = self._open(self._timeout_s + GRACE_S)
        banner = str(self._connection.get_server_info())
        is_mariadb = "mariadb" in banner.lower()
        number = (re.findall(r"\d+\.\d+\.\d+", banner) or [banner])[-1 if banner.startswith("5.5.5-") else 0]
        self.version = f"{'mariadb' if is_mariadb else 'mysql'} {number}"
        limit = f"max_statement_time={self._timeout_s:.3f}"
        if not is_mariadb:
            limit = f"max_execution_time={max(int(self._timeout_s * 1000), 1)}"
        waits = max(int(self._timeout_s), 1)
        self._execute(
            f"SET SESSION {limit}, time_zone='+00:00', lock_wait_timeout={waits}, innodb_lock_wait_timeout={waits},"
            " group_concat_max_len=GREATEST(@@group_concat_max_len, 1048576)"
        )
        if not self._allows_superuser:
            self._refuse_superuser()

    def _open(self, read_timeout_s: float) -> Any:
        import pymysql
        from pymysql.cursors import SSCursor

        try:
            return pymysql.connect(
                **self._where,
                charset="utf8mb4",
                autocommit=True,
                local_infile=False,
                cursorclass=SSCursor,
                connect_timeout=_CONNECT_S,
                read_timeout=read_timeout_s,
                write_timeout=_CONNECT_S,
                conv=_values(),
            )
        except pymysql.Error as error:
            raise EngineError(f"{self._shown}: {_said(error)}") from None  # the cause may hold the secret

    def _refuse_superuser(self) -> None:
        mighty = [grant for grant in self.grants() if _MIGHTY.search(grant)]
        if any(_POWERS.search(grant.split(" ON ")[0]) for grant in mighty):
            self.close()
            raise EngineError(
                f"{self._shown}: this role may write on the whole server. Use one that may only read"
                " (pytest-sqlbench doctor URL prints one), or --sqlbench-allow-superuser."
            )

    def grants(self) -> list[str]:
        """Return what this user may do, as the server says it."""
        return [str(row[0]) for row in self._execute("SHOW GRANTS FOR CURRENT_USER")]

    def user(self) -> str:
        """Return this user as a GRANT names it."""
        name, _, host = str(self._execute("SELECT CURRENT_USER()")[0][0]).rpartition("@")
        return f"'{name}'@'{host}'"

    def close(self) -> None:
        """Close the connection; the next query opens another."""
        connection, self._connection = self._connection, None
        if self._cursor is not None and (result := self._cursor._result) is not None:
            # the driver would read the rest of the result when it throws the cursor away, from a closed socket
            result.unbuffered_active, result.connection, self._cursor.connection = False, None, None
        self._cursor = None
        if connection is not None:
            with suppress(Exception):  # the driver's own errors: it is gone already
                connection.close()

    def _execute(self, text: str) -> list[tuple[object, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())

    def _begin(self) -> None:
        import pymysql

        if self._connection is not None:
            try:
                self._execute("START TRANSACTION READ ONLY")
            except pymysql.Error:
                self.close()
            else:
                return
        self._connect()
        self._execute("START TRANSACTION READ ONLY")

    def run(self, query: str, max_rows: int, max_bytes: int) -> ResultSet | QueryFailure:
        """Run one statement that has been looked at (`mysql.py`), and read its warnings."""
        import pymysql

        self._begin()
        thread = self._connection.thread_id()
        start = time.perf_counter()
        try:
            columns, rows, warning_count = self._fetch(query, max_rows, max_bytes)
            elapsed_s = time.perf_counter() - start
            failure = self._doubt(warning_count, elapsed_s)
            self._execute("ROLLBACK")
        except _TooMuchError as error:
            self._abandon(thread)
            return QueryFailure(error.status, error.message, (time.perf_counter() - start) * 1000)
        except (pymysql.Error, OSError, ValueError, IndexError) as error:  # a cut packet is an error of any kind
            return self._fail(error, thread, start)
        if failure is not None:
            return failure
        return ResultSet(columns, rows, elapsed_s * 1000)

    def _fetch(
        self, query: str, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple[object, ...]], int]:
        rows: list[tuple[object, ...]] = []
        size = 0
        deadline = time.perf_counter() + self._timeout_s + GRACE_S
        self._cursor = cursor = self._connection.cursor()
        cursor.execute(query)
        columns = tuple(str(item[0]) for item in cursor.description or ())
        while some := cursor.fetchmany(CHUNK):
            rows.extend(some)
            size += sum(len(cell) if isinstance(cell, (str, bytes)) else 8 for row in some for cell in row)
            if len(rows) > max_rows:
                raise _TooMuchError(Status.ROWS, f"more than {max_rows:,} rows")
            if size > max_bytes:
                raise _TooMuchError(Status.BYTES, f"more than {max_bytes:,} bytes")
            if time.perf_counter() > deadline:
                raise _TooMuchError(Status.TIMEOUT, f"stopped after {self._timeout_s:g} s")
        # SHOW WARNINGS alone also shows those of earlier queries, until one reads a table
        warning_count = cursor._result.warning_count
        cursor.close()
        return columns, rows, warning_count

    def _doubt(self, warning_count: int, elapsed_s: float) -> QueryFailure | None:
        """Find an answer that is none: a warning means that a value was cut, and a late answer that it was stopped."""
        for level, code, message in self._execute("SHOW WARNINGS") if warning_count else ():
            if level != "Note" and int(str(code)) not in _HARMLESS:
                return QueryFailure(find_status(int(str(code))), f"warning: {message}"[:500], elapsed_s * 1000)
        if elapsed_s >= self._timeout_s:
            return QueryFailure(Status.TIMEOUT, f"stopped after {self._timeout_s:g} s", elapsed_s * 1000)
        return None

    def _fail(self, error: Exception, thread: int, start: float) -> QueryFailure:
        elapsed_s = time.perf_counter() - start
        code = error.args[0] if error.args and isinstance(error.args[0], int) else 2013
        status = find_status(code)
        if status is not Status.CRASH:
            with suppress(Exception):  # what is left of the session is closed below
                self._execute("ROLLBACK")
                return QueryFailure(status, _said(error), elapsed_s * 1000)
        is_late = elapsed_s >= self._timeout_s
        message = self._abandon(thread)
        if is_late or status is Status.TIMEOUT:
            return QueryFailure(Status.TIMEOUT, f"stopped after {self._timeout_s:g} s{message}", elapsed_s * 1000)
        return QueryFailure(Status.CRASH, f"{_said(error)}{message}", elapsed_s * 1000)

    def _abandon(self, thread: int) -> str:
        """Close the connection and have the server kill its thread."""
        self.close()
        try:
            killer = self._open(2.0)
        except EngineError:
            return ""  # the next query says what is wrong with the server
        try:
            with killer.cursor() as cursor:
                cursor.execute(f"KILL CONNECTION {int(thread)}")
        except Exception:  # it is gone already
            return ""
        finally:
            killer.close()
        self.terminated += 1
        return f"; {TERMINATED}"

    def describe(self) -> str:
        """Return the CREATE statements of the database, without what belongs to the server."""
        self._begin()
        texts = []
        kinds = self._execute("SHOW FULL TABLES")
        for name, kind in sorted(((str(a), str(b)) for a, b in kinds), key=lambda item: (item[1] == "VIEW", item[0])):
            word = "VIEW" if kind == "VIEW" else "TABLE"
            quoted = "`" + name.replace("`", "``") + "`"
            text = str(self._execute(f"SHOW CREATE {word} {quoted}")[0][1])
            texts.append(re.sub(r"^\) ENGINE=.*$", ")", text, flags=re.MULTILINE) + ";")
        self._execute("ROLLBACK")
        return "\n\n".join(texts)


class _TooMuchError(Exception):
    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def _values() -> dict[Any, Any]:
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions

    return {**conversions, FIELD_TYPE.BIT: _read_bits}


def _read_bits(value: object) -> object:
    return int.from_bytes(value, "big") if isinstance(value, bytes) else value


def _said(error: Exception) -> str:
    return " ".join(str(error.args[-1] if error.args else error).split())[:500]
