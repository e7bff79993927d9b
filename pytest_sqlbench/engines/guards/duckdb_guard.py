"""One DuckDB instance on which any statement is harmless, save for time and memory: those end with the process.

Loaded by the sandbox's process, so it imports the standard library and DuckDB only and speaks in plain tuples. DuckDB
itself calls untrusted SQL unsafe, so besides its own locks (read-only file, no external access, configuration locked)
just one SELECT is let through, and table functions only from a list: some take addresses of memory.
"""

from __future__ import annotations

import datetime
import json
import re
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from .answers import Answer, RefusedError, check_text, fail, pack_rows


def _import_duckdb() -> Any:
    """Import the compiled module alone where it stands alone: the package round it costs a tenth of a second."""
    try:
        return import_module("_duckdb")
    except ImportError:
        return import_module("duckdb")


duckdb: Any = _import_duckdb()  # nobody imports this module but who wants DuckDB

OPEN_GUARDS = 1
"""An instance keeps what it has read in memory, and the limit of the process is for one."""
CHUNK = 1000
SQL_LENGTH = 100_000
_SAFE = frozenset(
    (
        *("range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "summary"),
        *("pragma_table_info", "pragma_show", "pragma_version", "pragma_collations", "pragma_database_size"),
        *("pg_timezone_names", "icu_calendar_names", "query_table", "seq_scan", "version", "show", "repeat"),
        *("functions", "table_info", "platform", "collations", "summarize", "storage_info", "database_size"),
    )
)
_WRITING = frozenset({"write_log", "setseed"})
"""Scalar functions that leave something behind."""
_UNSTABLE = re.compile(
    r"\b(random|uuid|gen_random_uuid|uuidv4|uuidv7|now|today|get_current_timestamp|get_current_time|current_localtime"
    r"|current_localtimestamp|transaction_timestamp|txid_current|version|setseed)\s*\("
    r"|\b(current_date|current_time|current_timestamp|localtime|localtimestamp|tablesample|using\s+sample)\b",
    re.IGNORECASE,
)
_NOISE = re.compile(r"""'(?:[^']|'')*' | --[^\n]* | /\*.*?(?:\*/|\Z)""", re.VERBOSE | re.DOTALL)
_STATUSES: tuple[tuple[str, str, str], ...] = (
    ("ParserException", "", "syntax"),
    ("PermissionException", "", "denied"),
    ("OutOfMemoryException", "", "memory"),
    ("InterruptException", "", "timeout"),
    ("InvalidInputException", "read-only mode", "denied"),
    ("CatalogException", "Table with name", "no_such_table"),
    ("CatalogException", "Function with name", "no_such_function"),
    ("BinderException", "Referenced table", "no_such_table"),
    ("BinderException", "Referenced column", "no_such_column"),
    ("BinderException", "does not have a column named", "no_such_column"),
)


class Guard:
    """A guarded instance over one file. Not safe for threads; one query at a time.

    Args:
        path: The database file; it is opened read-only.
        memory_bytes: What DuckDB's own memory manager may use; the process has a limit above it.
    """

    def __init__(self, path: str, memory_bytes: int) -> None:
        self._path, self._memory_bytes = path, memory_bytes
        self._connection: Any = self._connect()
        names = self._connection.execute(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'pragma')"
        ).fetchall()
        self._forbidden = _WRITING | frozenset(
            name for (name,) in names if name not in _SAFE and not name.startswith(("duckdb_", "read_", "parquet_"))
        )
        tables = self._connection.execute("SELECT lower(table_name) FROM duckdb_tables()").fetchall()
        self._tables = frozenset(name for (name,) in tables)

    def _connect(self) -> Any:
        connection = duckdb.connect(
            self._path,
            read_only=True,
            config={
                "enable_external_access": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "python_enable_replacements": "false",
                "threads": "1",
                "memory_limit": f"{max(self._memory_bytes // 2**20, 64)}MiB",
                "temp_directory": "",
            },
        )
        connection.execute("SET TimeZone='UTC'")
        connection.execute("SET lock_configuration=true")
        return connection

    def close(self) -> None:
        """Close the instance; the next query opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def interrupt(self) -> None:
        """Ask the running query to stop; called from another thread."""
        if self._connection is not None:
            self._connection.interrupt()

    def run(self, query: str, timeout_s: float, max_rows: int, max_bytes: int) -> Answer:
        """Run one statement. Whatever it does comes back as an answer; nothing is raised for it."""
        start = time.perf_counter()
        status = message = ""
        columns: tuple[str, ...] = ()
        chunks: list[bytes] = []
        tables: tuple[str, ...] = ()
        try:
            if self._connection is None:
                self._connection = self._connect()
            parts = self._one_select(query)
            tables = self._find_tables(query)
            columns, chunks = self._fetch(parts, time.monotonic() + timeout_s, max_rows, max_bytes)
        except RefusedError as error:
            status, message = error.args
        except (duckdb.Error, RuntimeError) as error:  # the library raises plain RuntimeErrors too
            status, message = _find_status(error), str(error)
        except MemoryError:
            status, message = "memory", "out of memory"
        elapsed_ms = (time.perf_counter() - start) * 1000
        if status:
            return fail(status, message, elapsed_ms)
        return "", "", columns, [], chunks, elapsed_ms, tables, _find_notes(query)

    def _one_select(self, query: str) -> list[Any]:
        """Return the parts of one query: a single SELECT, or what a PIVOT consists of."""
        check_text(query)
        statements = self._connection.extract_statements(query)
        if not statements:
            raise RefusedError("no_result_set", "the text holds no statement")
        kinds = [statement.type.name for statement in statements]
        # before 2.0 a PIVOT is a CREATE of a temporary type and a SELECT, both without a text of their own
        is_pivot = kinds == ["MULTI"] or (kinds == ["CREATE", "SELECT"] and not any(part.query for part in statements))
        if len(statements) > 1 and not is_pivot:
            raise RefusedError("denied", "only one statement may be run")
        if kinds != ["SELECT"] and not (is_pivot and _begins_as_query(query)):
            raise RefusedError("denied", f"not a query: {kinds[0] if not is_pivot else 'several statements'}")
        self._check_functions(query, is_pivot)
        return list(statements)

    def _check_functions(self, query: str, is_pivot: bool) -> None:
        text = query.lower()
        suspects = {name for name in self._forbidden if name in text}
        if not suspects:
            return
        if not is_pivot:
            (tree,) = self._connection.execute("SELECT json_serialize_sql($1::VARCHAR)", [query]).fetchone()
            called = {name for name in _function_names(json.loads(tree)) if name in suspects}
        else:  # a PIVOT has no tree
            called = {name for name in suspects if re.search(rf"\b{name}\b", text)}
        if called:
            raise RefusedError("denied", f"not authorized to use function: {min(called)}")

    def _find_tables(self, query: str) -> tuple[str, ...]:
        try:
            names = self._connection.get_table_names(query)
        except (duckdb.Error, RuntimeError):
            return ()
        return tuple(sorted({name.lower() for name in names} & self._tables))

    def _fetch(
        self, parts: list[Any], deadline: float, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[bytes]]:
        try:
            for part in parts:
                cursor = self._connection.execute(part)
            columns = tuple([item[0] for item in cursor.description or ()])
            kinds = [str(item[1]) for item in cursor.description or ()]
            if any(kind in _TEXTS for kind in kinds):
                cursor = self._connection.execute(_with_texts(parts[0].query, kinds))
            pieces = _read_pieces(cursor, [_READERS.get(kind, _reader(kind)) for kind in kinds])
            return columns, pack_rows(pieces, max_rows, max_bytes, lambda: time.monotonic() > deadline)
        finally:
            if parts[0].type.name != "SELECT":  # a PIVOT leaves a temporary type behind
                self.close()


def _read_pieces(cursor: Any, readers: list[Callable[[Any], Any] | None]) -> Iterator[list[tuple[object, ...]]]:
    while rows := cursor.fetchmany(CHUNK):
        if any(readers):
            rows = [
                tuple(
                    cell if reader is None or cell is None else reader(cell)
                    for cell, reader in zip(row, readers, strict=True)
                )
                for row in rows
            ]
        yield rows


def _function_names(tree: object) -> set[str]:
    found: set[str] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(name := node.get("function_name"), str):
                found.add(name.lower())
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return found


def _begins_as_query(query: str) -> bool:
    words = _NOISE.sub(" ", query).lstrip("( \t\r\n\ufeff").split(None, 1)
    return bool(words) and words[0].lower() in ("select", "from", "with", "pivot", "unpivot", "pivot_wider")


def _find_status(error: Exception) -> str:
    name, message = type(error).__name__, str(error)
    for kind, part, status in _STATUSES:
        if name == kind and part in message:
            return status
    return "error"


def _find_notes(query: str) -> tuple[str, ...]:
    if not (found := {(a or b).lower() for a, b in _UNSTABLE.findall(_NOISE.sub(" ", query))}):
        return ()
    return tuple(f"nondeterministic: {name}" for name in sorted(found))


_TEXTS = frozenset({"INTERVAL", "TIMESTAMP_NS"})
"""Types that the library would round: months to 30 days, nanoseconds to micro-."""


def _with_texts(query: str, kinds: list[str]) -> str:
    cells = ", ".join(f"CAST(c{i} AS VARCHAR)" if kind in _TEXTS else f"c{i}" for i, kind in enumerate(kinds))
    names = ", ".join(f"c{i}" for i in range(len(kinds)))
    return f"SELECT {cells} FROM ({query.rstrip().rstrip(';')}\n) AS t({names})"


def _read_interval(text: str) -> object:
    """Without months an interval is a time; with them it stays as DuckDB writes it: '1 month 2 days'."""
    if "month" in text or "year" in text:
        return text
    match = re.fullmatch(r"(?:(-?\d+) days?)?\s*(?:(-?)(\d+):(\d+):(\d+(?:\.\d+)?))?", text)
    if match is None:
        return text
    days, sign, hours, minutes, seconds = match.groups()
    rest = datetime.timedelta(
        hours=int(hours or 0), minutes=int(minutes or 0), microseconds=round(float(seconds or 0) * 1_000_000)
    )
    return datetime.timedelta(days=int(days or 0)) + (-rest if sign else rest)


def _read_nanoseconds(text: str) -> object:
    whole, _, fraction = text.partition(".")
    if fraction[6:].strip("0"):
        return text
    try:
        return datetime.datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}")
    except ValueError:
        return text


def _read_any(value: Any) -> Any:
    """Make zones plain, also inside lists, structures and maps."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc) if value.tzinfo else value
    if isinstance(value, (list, tuple)):
        return type(value)([_read_any(item) for item in value])
    if isinstance(value, dict):
        return {_read_any(key): _read_any(item) for key, item in value.items()}
    return value


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_READERS: dict[str, Callable[[Any], Any] | None] = {
    "INTERVAL": _read_interval,
    "TIMESTAMP_NS": _read_nanoseconds,
    "JSON": _read_json,
    "BIGNUM": int,
    "VARINT": int,
}


def _reader(kind: str) -> Callable[[Any], Any] | None:
    return _read_any if "TIME ZONE" in kind else None


def open_guard(path: str, options: dict[str, int]) -> Guard:
    """Open a guard as the sandbox's process does."""
    return Guard(path, options["memory_bytes"])


def limit_process(memory_bytes: int) -> None:
    """Nothing beyond what the process limits itself: each instance is told its memory when it is opened."""
