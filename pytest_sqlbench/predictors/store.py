"""The store of predictions: one SQLite file, which is also the cache that saves paying for a call twice."""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction, Usage

SCHEMA_VERSION = 1

BATCH = 256
"""Most answers that one commit holds."""

_ANSWER = {
    "key": "TEXT PRIMARY KEY", "model": "TEXT NOT NULL", "parameters": "TEXT", "prompt_hash": "TEXT", "reply": "TEXT",
    "sql": "TEXT", "facts": "TEXT", "prompt_tokens": "INTEGER", "completion_tokens": "INTEGER", "cost_usd": "REAL",
    "latency_ms": "REAL", "attempts": "INTEGER", "finish_reason": "TEXT", "created_at": "TEXT NOT NULL",
}  # fmt: skip
_USE = {"suite": "TEXT", "case": "TEXT", "sample": "INTEGER", "model": "TEXT", "key": "TEXT"}
"""Which cases an answer was for: the same prompt in two suites is paid once, and exported for both."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer as it is kept. No key, header or URL login is ever part of it."""

    suite: str
    case: str
    sample: int
    key: str
    model: str
    prediction: Prediction
    attempts: int = 1
    """Calls that it took when it was made; ``prediction.attempts`` is 0 for what comes out of the store."""
    parameters: str = ""
    prompt_hash: str = ""
    sql: str | None = None
    """The statement picked out of the reply, for readers of the file; judging starts from the reply."""
    created_at: str = ""
    """UTC, ISO 8601."""


class Store:
    """Answers by key. Reading and writing may happen in any thread; two processes may share one file.

    Writes are queued and committed together by one thread, so that a killed process leaves whole answers only.
    Trouble while writing (a full disk, a read-only folder) is kept in `trouble` and never raised: the answers of this
    run stay in memory.
    """

    def __init__(self, path: Path | None) -> None:
        """Open the file, or make it; None: answers are kept in memory only.

        Raises:
            UsageError: It is no store of predictions, or was made by a newer version.
        """
        self.path = path
        self.trouble = ""
        """Why new answers are not kept on disk; empty: they are."""
        self._lock = threading.Lock()
        self._unwritten: dict[str, Entry] = {}
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        if path is None:
            return
        try:
            self._connection = self._open(path)
        except sqlite3.OperationalError as error:
            self._note(error)
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{path}: is not a store of predictions ({error}). Remove it or name another.") from error

    def get(self, key: str, suite: str, case: str, sample: int) -> Prediction | None:
        """Return the answer of a key, and note that this case used it; None if there is none."""
        with self._lock:
            unwritten = self._unwritten.get(key)
            if unwritten is None and self._connection is not None:
                try:
                    row = self._connection.execute(_FIND, [suite, case, sample, key]).fetchone()
                except sqlite3.OperationalError as error:
                    self._note(error)
                    return None
            elif unwritten is None:
                return None
        if unwritten is not None:
            return unwritten.prediction
        if row is None:
            return None
        *cells, used_key = row
        entry = _entry((suite, case, sample), cells)
        if used_key != key:
            self._enqueue(entry)
        return entry.prediction

    def put(self, entry: Entry) -> None:
        """Keep an answer; it can be read at once, and is on disk soon after. A later one of that key replaces it."""
        with self._lock:
            self._unwritten[entry.key] = entry
        self._enqueue(entry)

    def entries(self) -> Iterator[Entry]:
        """Yield the latest answer to every case, by suite, case, model and sample."""
        with self._lock:
            rows = [] if self._connection is None else self._connection.execute(_LIST).fetchall()
        for suite, case, sample, *cells in rows:
            yield _entry((suite, case, sample), cells)

    def close(self, timeout_s: float = 5.0) -> None:
        """Write what is queued, at most so long, and let go of the file. Closing twice is allowed."""
        writer, self._writer = self._writer, None
        if writer is not None:
            self._queue.put(None)
            writer.join(timeout_s)
            if writer.is_alive():
                self.trouble = self.trouble or f"{self.path}: was busy for {timeout_s:g} s"
                return
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self, path: Path) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = _connect(path, "rwc")
            _ignore_itself(path.parent)
            _create(connection)
        except (OSError, sqlite3.OperationalError) as error:
            self._note(error)
            if connection is not None:
                connection.close()
            connection = _connect(path, "ro")
        except sqlite3.DatabaseError:
            assert connection is not None  # it is opened by the time that its content is read
            connection.close()
            raise
        try:
            _check_schema(path, connection)
        except Exception:
            connection.close()
            raise
        return connection

    def _enqueue(self, entry: Entry) -> None:
        if self.path is None:
            return
        with self._lock:
            if self._writer is None and not self.trouble:
                self._writer = threading.Thread(target=self._write_all, name="sqlbench-store", daemon=True)
                self._writer.start()
        self._queue.put(entry)

    def _write_all(self) -> None:
        is_last = False
        while not is_last:
            batch = [self._queue.get()]
            while not self._queue.empty() and len(batch) < BATCH:
                batch.append(self._queue.get())
            is_last = None in batch
            self._write([entry for entry in batch if entry is not None])

    def _write(self, entries: list[Entry]) -> None:
        if not entries or self.trouble:
            return
        assert self.path is not None
        try:
            # a connection of its own: readers are not kept waiting while the disk works
            with closing(_connect(self.path, "rw")) as connection, connection:
                connection.executemany(_INSERT_ANSWER, map(_answer_row, entries))
                connection.executemany(_INSERT_USE, map(_use_row, entries))
        except sqlite3.Error as error:
            self._note(error)
            return
        with self._lock:
            for entry in entries:
                if self._unwritten.get(entry.key) is entry:
                    del self._unwritten[entry.key]

    def _note(self, error: Exception) -> None:
        self.trouble = self.trouble or f"{self.path}: {error}"


def _quoted(names: Iterable[str], table: str = "") -> str:
    return ", ".join(f'{table}"{name}"' for name in names)


def _declared(columns: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())


_SCHEMA = (
    # by hand: a builder of tables takes longer to import than a replayed run to judge
    f"CREATE TABLE IF NOT EXISTS predictions ({_declared(_ANSWER)})",
    f'CREATE TABLE IF NOT EXISTS uses ({_declared(_USE)}, PRIMARY KEY ("suite", "case", "sample", "model"))',
)
_INSERT_ANSWER = f"INSERT OR REPLACE INTO predictions ({_quoted(_ANSWER)}) VALUES ({', '.join('?' * len(_ANSWER))})"
_INSERT_USE = f"INSERT OR REPLACE INTO uses ({_quoted(_USE)}) VALUES ({', '.join('?' * len(_USE))})"
_FIND = f"""
    SELECT {_quoted(_ANSWER, "p.")}, u.key FROM predictions p
    LEFT JOIN uses u ON u.suite = ? AND u."case" = ? AND u.sample = ? AND u.model = p.model
    WHERE p.key = ?"""
_LIST = f"""
    SELECT u.suite, u."case", u.sample, {_quoted(_ANSWER, "p.")} FROM uses u JOIN predictions p ON p.key = u.key
    ORDER BY u.suite, u."case", u.model, u.sample"""


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=30.0, check_same_thread=False)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _create(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0]:
        return
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return  # somebody else's database: seen by its columns, and left alone
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _ignore_itself(folder: Path) -> None:
    """Keep a project's folder of stores out of its repository."""
    ignore = folder / ".gitignore"
    if folder.name == ".sqlbench" and not ignore.exists():
        with suppress(OSError):
            ignore.write_text("*\n")


def _check_schema(path: Path, connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise UsageError(f"{path}: was made by a newer version of pytest-sqlbench (store version {version})")
    names = {row[1] for row in connection.execute("PRAGMA table_info(predictions)")}
    if not names >= set(_ANSWER):
        raise UsageError(f"{path}: is a database, but not a store of predictions. Name another file.")


def _answer_row(entry: Entry) -> tuple[Any, ...]:
    prediction = entry.prediction
    usage = prediction.usage or Usage()
    facts = None if prediction.facts is None else json.dumps(prediction.facts, default=str)
    return (
        entry.key, entry.model, entry.parameters, entry.prompt_hash, prediction.reply, entry.sql, facts,
        usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, prediction.latency_ms, entry.attempts,
        prediction.finish_reason, entry.created_at,
    )  # fmt: skip


def _use_row(entry: Entry) -> tuple[Any, ...]:
    return (entry.suite, entry.case, entry.sample, entry.model, entry.key)


def _entry(place: tuple[str, str, int], row: list[Any]) -> Entry:
    cells = dict(zip(_ANSWER, row, strict=True))
    usage = Usage(cells["prompt_tokens"], cells["completion_tokens"], cells["cost_usd"])
    prediction = Prediction(
        reply=cells["reply"],
        usage=None if usage == Usage() else usage,
        latency_ms=cells["latency_ms"],
        attempts=0,
        finish_reason=cells["finish_reason"],
        facts=None if cells["facts"] is None else json.loads(cells["facts"]),
    )
    names = ("key", "model", "parameters", "prompt_hash", "sql", "attempts", "created_at")
    return Entry(*place, prediction=prediction, **{name: cells[name] for name in names})
