"""One SQLite connection on which any statement is harmless: it reads, within limits, and leaves nothing behind.

Loaded by the sandbox's process without site-packages, so it imports the standard library only and speaks in plain
tuples. Read-only is enforced by the engine (authorizer, limits, `mode=ro`), never by looking at the text.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
import time
from itertools import chain
from urllib.parse import quote

from .answers import Answer, RefusedError, check_text, fail, pack_rows

OPEN_GUARDS = 16
"""Connections that a process keeps open; the least recently used is closed."""
CHUNK = 1000
"""Rows fetched at once: the byte count is looked at this often."""
OPCODES = 4000
"""Virtual machine steps between two looks at the clock: below 1 ms, and not measurable in a scan."""
SQL_LENGTH = 100_000
GOLD_CELLS = 50_000_000
"""A gold result is not measured in bytes; it may not fill the memory either."""

_VIRTUAL = ("json_each", "json_tree", "generate_series")
_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_FORBIDDEN = frozenset(
    [
        "load_extension",
        "readfile",
        "writefile",
        "edit",
        "fts3_tokenizer",
        "zeroblob",
        "randomblob",
        "sqlite_log",
        "fts5_source_id",
    ]
)
_UNSTABLE = frozenset(
    (
        *("random", "changes", "total_changes", "last_insert_rowid", "sqlite_version", "sqlite_source_id"),
        *("current_date", "current_time", "current_timestamp"),
    )
)
_DATES = frozenset(["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"])
_NOW = re.compile(r"'(?:now|localtime|utc)'|\(\s*\)", re.IGNORECASE)
_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] | --[^\n]* | /\*.*?(?:\*/|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_LIMITS = {
    "SQLITE_LIMIT_SQL_LENGTH": SQL_LENGTH,
    "SQLITE_LIMIT_EXPR_DEPTH": 200,
    "SQLITE_LIMIT_COMPOUND_SELECT": 100,
    "SQLITE_LIMIT_VDBE_OP": 250_000,
    "SQLITE_LIMIT_FUNCTION_ARG": 100,
    "SQLITE_LIMIT_COLUMN": 500,
    "SQLITE_LIMIT_LIKE_PATTERN_LENGTH": 1000,
    "SQLITE_LIMIT_VARIABLE_NUMBER": 100,  # full-text tables use some in their own queries
    "SQLITE_LIMIT_ATTACHED": 0,
    "SQLITE_LIMIT_TRIGGER_DEPTH": 1,
}
_STATUSES = (
    ("no such table", "no_such_table"),
    ("no such column", "no_such_column"),
    ("no such function", "no_such_function"),
    ("syntax error", "syntax"),
    ("incomplete input", "syntax"),
    ("unrecognized token", "syntax"),
    ("not authorized", "denied"),
    ("authorization denied", "denied"),
    ("is prohibited", "denied"),
    ("one statement at a time", "denied"),
    ("interrupted", "timeout"),
    ("out of memory", "memory"),
    ("string or blob too big", "bytes"),
)


class Guard:
    """A guarded connection. Not safe for threads; one query at a time.

    Args:
        path: The database file; it is never written, and nothing is created beside it.
        is_immutable: True if nobody writes the file while it is open: no locks are taken then.
        is_gold: True for queries of the suite: long texts are allowed.
    """

    def __init__(self, path: str, is_immutable: bool, *, is_gold: bool = False) -> None:
        self._is_gold = is_gold
        self._deadline = 0.0
        self._read: set[str] = set()
        self._functions: set[str] = set()
        uri = f"file:{quote(path)}?mode=ro" + ("&immutable=1" if is_immutable else "")
        self._connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, cached_statements=0, check_same_thread=False, timeout=5.0
        )
        try:
            self._tables = frozenset(self._prepare())
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> list[str]:
        """Close every door, and return the names of the real tables, lower-cased."""
        connection = self._connection
        for pragma in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        names = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'").fetchall()
        # a virtual table declares itself at its first use, which the authorizer would take for a CREATE TABLE
        for name in [*_VIRTUAL, *(name for name, page in names if not page)]:
            with contextlib.suppress(sqlite3.Error):  # a build without it, or a module that is not there
                connection.execute(f'SELECT 1 FROM "{name.replace(chr(34), chr(34) * 2)}" LIMIT 0').close()
        if sys.version_info >= (3, 12):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        if sys.version_info >= (3, 11) and not self._is_gold:
            for name, value in _LIMITS.items():
                connection.setlimit(getattr(sqlite3, name), value)
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._is_late, OPCODES)
        return [name.lower() for name, _ in names if not name.startswith("sqlite_")]

    def limit_length(self, cell_bytes: int) -> None:
        """Refuse texts and blobs above this size, where Python can say so (3.11)."""
        if sys.version_info >= (3, 11):
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(cell_bytes, 1_000_000_000))

    def reverse(self, is_reversed: bool) -> None:
        """Let SQLite return unordered rows in the other order, to find queries that depend on it."""
        # not None: that allows everything from Python 3.11 on, and denies everything before
        self._connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
        self._connection.execute(f"PRAGMA reverse_unordered_selects={int(is_reversed)}")
        self._connection.set_authorizer(self._authorize)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            if first:
                self._read.add(first)
            return sqlite3.SQLITE_OK
        if action in _READS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            self._functions.add(name)
            return sqlite3.SQLITE_DENY if name in _FORBIDDEN else sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA and first == "data_version":  # full-text tables ask for it themselves
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def run(self, query: str, timeout_s: float, max_rows: int, max_bytes: int) -> Answer:
        """Run one statement. Whatever it does comes back as an answer; nothing is raised for it."""
        start = time.perf_counter()
        self._deadline = time.monotonic() + timeout_s
        try:
            columns, rows, chunks, notes = self._run(query, max_rows, max_bytes)
            status = message = ""
        except RefusedError as error:
            status, message = error.args
        except (sqlite3.Error, sqlite3.Warning) as error:
            status, message = _find_status(str(error)), str(error)
        except MemoryError:
            status, message = "memory", "out of memory"
        elapsed_ms = (time.perf_counter() - start) * 1000
        if status:
            return fail(status, message, elapsed_ms)
        tables = tuple(self._tables.intersection(map(str.lower, self._read)))
        return "", "", columns, rows, chunks, elapsed_ms, tables, notes

    def _run(
        self, query: str, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple[object, ...]], list[bytes], tuple[str, ...]]:
        check_text(query)
        misquoted = self._find_misquoted(query) if '"' in query else ""
        self._read.clear()
        self._functions.clear()
        try:
            columns, rows, chunks = self._fetch(query, max_rows, max_bytes)
            notes = self._notes(query, misquoted)
        except sqlite3.OperationalError as error:
            if "Could not decode to UTF-8" not in str(error):
                raise
            columns, rows, chunks = self._fetch_broken_text(query, max_rows, max_bytes)
            notes = (*self._notes(query, misquoted), "text: not valid UTF-8, read with backslash escapes")
        return columns, rows, chunks, notes

    def _fetch_broken_text(
        self, query: str, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple[object, ...]], list[bytes]]:
        self._connection.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
        try:
            return self._fetch(query, max_rows, max_bytes)
        finally:
            self._connection.text_factory = str

    def _fetch(
        self, query: str, max_rows: int, max_bytes: int
    ) -> tuple[tuple[str, ...], list[tuple[object, ...]], list[bytes]]:
        cursor = self._connection.execute(query)
        try:
            if cursor.description is None:
                if _is_blank(query):
                    raise RefusedError("no_result_set", "the text holds no statement")
                raise RefusedError("denied", "not a query: it gives no rows")
            columns = tuple([item[0] for item in cursor.description])
            rows = cursor.fetchmany(CHUNK)
            if len(rows) < CHUNK:
                if len(rows) > max_rows:
                    raise RefusedError("rows", f"more than {max_rows:,} rows")
                return columns, rows, []
            if self._is_gold:
                rows.extend(self._rest(cursor, max_rows, len(columns)))
                return columns, rows, []
            pieces = chain([rows], iter(lambda: cursor.fetchmany(CHUNK), []))
            return columns, [], pack_rows(pieces, max_rows, max_bytes, self._is_late)
        finally:
            cursor.close()

    def _rest(self, cursor: sqlite3.Cursor, max_rows: int, width: int) -> list[tuple[object, ...]]:
        rest: list[tuple[object, ...]] = []
        most = min(max_rows, GOLD_CELLS // width)
        while rows := cursor.fetchmany(CHUNK):
            rest.extend(rows)
            if len(rest) + CHUNK > most:
                raise RefusedError("rows", f"more than {most:,} rows")
        return rest

    def _notes(self, query: str, misquoted: str) -> tuple[str, ...]:
        if not self._functions and not misquoted:
            return ()
        notes = [f"nondeterministic: {name}()" for name in sorted(self._functions & _UNSTABLE)]
        if (dates := self._functions & _DATES) and _NOW.search(query):
            notes.extend(f"nondeterministic: {name}('now')" for name in sorted(dates))
        if misquoted:
            notes.append(f'quotes: "{misquoted}" is no column and was read as a string')
        return tuple(notes)

    def _find_misquoted(self, query: str) -> str:
        """Return the first ``"name"`` that SQLite would silently read as a string, or nothing.

        Back-ticks always mean a name, so the query is prepared once with them. The engine's own switch for this habit
        came to Python with 3.12 only and would break the views of old databases.
        """
        try:
            self._connection.execute("EXPLAIN " + _TOKEN.sub(_as_name, query)).close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            message = str(error)
            if message.startswith("no such column: "):
                return message.removeprefix("no such column: ")
        return ""


def _as_name(token: re.Match[str]) -> str:
    text = token.group()
    if not text.startswith('"'):
        return text
    return "`" + text[1:-1].replace('""', '"').replace("`", "``") + "`"


def _is_blank(query: str) -> bool:
    return not _TOKEN.sub(lambda token: "" if token.group()[0] in "-/" else "x", query).strip("; \t\r\n\f\ufeff")


def _find_status(message: str) -> str:
    for part, status in _STATUSES:
        if part in message:
            return status
    return "error"


def open_guard(path: str, options: dict[str, int]) -> Guard:
    """Open a guard as the sandbox's process does: with the limits that hold for the whole process."""
    guard = Guard(path, bool(options["is_immutable"]))
    guard.limit_length(options["cell_bytes"])
    if options.get("is_reversed"):
        guard.reverse(True)
    return guard


def limit_process(memory_bytes: int) -> None:
    """Limit the heap of every connection of this process."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA hard_heap_limit={memory_bytes}")
    connection.close()
