"""Creates a recipe's tables on a server and fills them, as a role that may: the owner's work, never a run's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.row_order import Rows, tables_in_order
from pytest_sqlbench.engines.urls import engine_of, fill_url, hide_secrets
from pytest_sqlbench.errors import EngineError, UsageError


def fill_server(database: Database, url: str) -> dict[str, int]:
    """Run the schema and insert the rows.

    Returns:
        How many rows each table got.

    Raises:
        UsageError: The schema does not run there (the tables may exist), or a row does not fit; names file and line.
        EngineError: The server cannot be reached, or its driver is not installed.
    """
    engine = engine_of(url)
    if engine not in _CONNECT:
        raise UsageError(
            f"{hide_secrets(url)}: only PostgreSQL, MySQL and MariaDB can be filled from a schema and rows"
        )
    shown = hide_secrets(url)
    try:
        connection, error_class, quote = _CONNECT[engine](fill_url(url))
    except ImportError as error:
        raise EngineError(f"{shown}: {error}. pip install 'pytest-sqlbench[{engine}]'") from error
    counts: dict[str, int] = {}
    with closing(connection):
        cursor = connection.cursor()
        try:
            cursor.execute(database.schema)
            while getattr(cursor, "nextset", lambda: None)():
                pass
        except error_class as error:
            raise UsageError(f"{shown}: the schema does not run: {_said(error)}") from None
        _postpone_keys(cursor, engine)
        for table, where, rows in tables_in_order(database):
            counts[table] = _insert(cursor, error_class, quote, table, where, rows)
        try:
            connection.commit()
        except error_class as error:
            raise UsageError(f"{shown}: the rows do not fit together: {_said(error)}") from None
    return counts


def _postpone_keys(cursor: Any, engine: str) -> None:
    """Let a row point at one that comes later; PostgreSQL checks all of them at the end, MySQL does not check."""
    if engine == "mysql":
        cursor.execute("SET FOREIGN_KEY_CHECKS = 0")
        return
    cursor.execute("SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint WHERE contype = 'f'")
    for table, name in cursor.fetchall():
        cursor.execute(f"ALTER TABLE {table} ALTER CONSTRAINT {name} DEFERRABLE INITIALLY DEFERRED")


def _insert(
    cursor: Any,
    error_class: type[Exception],
    quote: Callable[[str], str],
    table: str,
    where: str,
    rows: Rows,
) -> int:
    n = 0
    for line, row in rows:
        columns = ", ".join(map(quote, row))
        marks = ", ".join(["%s"] * len(row))
        try:
            cursor.execute(
                f"INSERT INTO {quote(table)} ({columns}) VALUES ({marks})", [_plain(v) for v in row.values()]
            )
        except error_class as error:
            at = f"{where}:{line}" if line else where
            raise UsageError(f"{at}: the row does not fit table {table!r}: {_said(error)}") from None
        n += 1
    return n


def _plain(value: object) -> object:
    """A cell of a CSV file that says true or false is a boolean for a server too."""
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _connect_postgres(url: str) -> tuple[Any, type[Exception], Callable[[str], str]]:
    import psycopg

    parts = urlsplit(url)
    try:
        connection = psycopg.connect(urlunsplit(("postgresql", *parts[1:])), connect_timeout=20)
    except psycopg.Error as error:
        raise EngineError(f"{hide_secrets(url)}: {_said(error)}") from None
    return connection, psycopg.Error, lambda name: '"' + name.replace('"', '""') + '"'


def _connect_mysql(url: str) -> tuple[Any, type[Exception], Callable[[str], str]]:
    import pymysql
    from pymysql.constants import CLIENT

    parts = urlsplit(url)
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    where: dict[str, Any] = {"unix_socket": query["unix_socket"]} if "unix_socket" in query else {}
    try:
        connection = pymysql.connect(
            host=parts.hostname or "localhost",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=unquote(parts.path.lstrip("/")) or None,
            client_flag=CLIENT.MULTI_STATEMENTS,
            connect_timeout=20,
            **where,
        )
    except pymysql.Error as error:
        raise EngineError(f"{hide_secrets(url)}: {_said(error)}") from None
    return connection, pymysql.Error, lambda name: "`" + name.replace("`", "``") + "`"


_CONNECT: dict[str, Callable[[str], tuple[Any, type[Exception], Callable[[str], str]]]] = {
    "postgres": _connect_postgres,
    "mysql": _connect_mysql,
}


def _said(error: Exception) -> str:
    return " ".join(str(error.args[-1] if error.args else error).split())[:300]
