"""Keeps the results of slow gold queries, in memory and beside the built databases.

Where a gold takes 5 ms or less, looking it up would gain nothing, and it is not kept; or 1 ms where golds run in
another process, which need not start if all are kept. A cache that cannot be read or written is no cache: the query
runs, and the run goes on. Entries are JSON with a tag for each type that JSON lacks, so a cache that came from another
machine can hold wrong rows but never code.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from pytest_sqlbench.result import Cell, ResultSet

SLOW_MS = 5.0
"""Results of golds that took longer are kept."""
SLOW_MS_APART = 1.0
"""The same for an engine that runs golds in another process."""
MEMORY_CELLS = 2_000_000
"""How many cells are kept in memory; the least recently used results are dropped."""
FILE_BYTES = 16 * 2**20
"""A larger result is kept in memory only."""
OLD_S = 30 * 86_400
"""Results of a database that nobody asked for this long are removed."""
CACHE_VERSION = 1


class GoldCache:
    """The kept results of one database under one engine.

    Args:
        folder: Where results are kept between runs; None: in memory only.
        scope: Everything but the query on which a result depends: engine, version, and the state of the data.
        slow_ms: Results of golds that took longer are kept.
    """

    def __init__(self, folder: Path | None, scope: str, slow_ms: float = SLOW_MS) -> None:
        self._slow_ms = slow_ms
        self._memory: OrderedDict[str, ResultSet] = OrderedDict()
        self._cells = 0
        digest = hashlib.sha256(f"{CACHE_VERSION}\0{scope}".encode()).hexdigest()[:24]
        self._folder = None if folder is None else folder / "gold" / digest
        self._kept: set[str] = set()
        if self._folder is not None:
            with suppress(OSError):
                self._kept = set(os.listdir(self._folder))
                os.utime(self._folder)

    def find(self, query: str) -> ResultSet | None:
        """Return the kept result of a query, or None."""
        result = self._memory.get(query)
        if result is not None:
            self._memory.move_to_end(query)
            return result
        if not self._kept or (name := _file_name(query)) not in self._kept or self._folder is None:
            return None
        try:
            result = read_result((self._folder / name).read_text(encoding="utf-8"), query)
        except (OSError, ValueError, KeyError, TypeError, ArithmeticError):
            self._kept.discard(name)  # it is gone, or was not written by us
            return None
        self._remember(query, result)
        return result

    def keep(self, query: str, result: ResultSet) -> None:
        """Keep a result if the query was slow and its rows will be the same the next time."""
        if result.elapsed_ms <= self._slow_ms or any(note.startswith("nondeterministic") for note in result.warnings):
            return
        self._remember(query, result)
        if self._folder is not None:
            self._write(query, result)

    def _remember(self, query: str, result: ResultSet) -> None:
        self._memory[query] = result
        self._cells += _count_cells(result)
        while self._cells > MEMORY_CELLS and len(self._memory) > 1:
            self._cells -= _count_cells(self._memory.popitem(last=False)[1])

    def _write(self, query: str, result: ResultSet) -> None:
        assert self._folder is not None
        name = _file_name(query)
        partial = self._folder / f".{name}.{os.getpid()}"
        try:
            text = write_result(result, query)
        except (TypeError, ValueError, RecursionError):
            return  # a value that has no text: a range of another library
        if len(text) > FILE_BYTES:
            return
        try:
            if not self._folder.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                _remove_old(self._folder.parent)
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, self._folder / name)
        except (OSError, ValueError):
            with suppress(OSError):
                partial.unlink()
            return
        self._kept.add(name)


class FileGoldCache:
    """The kept results of a database file, which are forgotten when the file changes."""

    def __init__(self, folder: Path | None, engine: str, path: Path, slow_ms: float = SLOW_MS) -> None:
        self._folder, self._engine, self._path, self._slow_ms = folder, engine, str(path), slow_ms
        self._state: object = None
        self._cache: GoldCache | None = None

    def __call__(self) -> GoldCache | None:
        """Return the cache for the file as it is now; None while a writer's log stands beside it."""
        try:
            stat = os.stat(self._path)
        except OSError:
            return None  # the engine says what is wrong
        state = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if state != self._state:
            self._state = state
            has_log = any(os.path.exists(self._path + suffix) for suffix in ("-wal", "-journal", ".wal"))
            self._cache = (
                None if has_log else GoldCache(self._folder, f"{self._engine}\0{self._path}\0{state}", self._slow_ms)
            )
        return self._cache


def _file_name(query: str) -> str:
    return hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".json"


def _count_cells(result: ResultSet) -> int:
    return len(result.rows) * max(len(result.columns), 1) + 10


def _remove_old(parent: Path) -> None:
    with suppress(OSError):
        for folder in parent.iterdir():
            if time.time() - folder.stat().st_mtime > OLD_S:
                shutil.rmtree(folder, ignore_errors=True)


def write_result(result: ResultSet, query: str) -> str:
    """Return a result as JSON; raise `TypeError` for a value that is none of the words of `result`."""
    record = {
        "query": query,
        "columns": list(result.columns),
        "rows": [[_tagged(cell) for cell in row] for row in result.rows],
        "elapsed_ms": result.elapsed_ms,
        "tables": None if result.tables is None else sorted(result.tables),
        "warnings": list(result.warnings),
    }
    return json.dumps(record, allow_nan=False)


def read_result(text: str, query: str) -> ResultSet:
    """Read what `write_result` wrote; raise `ValueError`, `KeyError` or `TypeError` if it did not write it."""
    record = json.loads(text)
    if record["query"] != query:
        raise ValueError("another query")
    return ResultSet(
        tuple(str(label) for label in record["columns"]),
        [tuple([_untagged(cell) for cell in row]) for row in record["rows"]],
        float(record["elapsed_ms"]),
        None if record["tables"] is None else frozenset(map(str, record["tables"])),
        tuple(str(note) for note in record["warnings"]),
    )


_FROM_TEXT: dict[str, Callable[[Any], Cell]] = {
    "float": float,
    "decimal": Decimal,
    "bytes": bytes.fromhex,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": clock.fromisoformat,
    "us": lambda us: timedelta(microseconds=int(us)),
    "uuid": UUID,
    "list": lambda items: [_untagged(item) for item in items],
    "tuple": lambda items: tuple(_untagged(item) for item in items),
    "dict": lambda pairs: {_untagged(key): _untagged(value) for key, value in pairs},
}
_TO_TEXT: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
    (Decimal, "decimal", str),
    (bytes, "bytes", bytes.hex),
    (datetime, "datetime", datetime.isoformat),  # before date, whose child it is
    (date, "date", date.isoformat),
    (clock, "time", clock.isoformat),
    (timedelta, "us", lambda value: (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds),
    (UUID, "uuid", str),
    (list, "list", lambda items: [_tagged(item) for item in items]),
    (tuple, "tuple", lambda items: [_tagged(item) for item in items]),
    (dict, "dict", lambda items: [[_tagged(key), _tagged(value)] for key, value in items.items()]),
)


def _tagged(cell: Cell) -> Any:
    if cell is None or type(cell) in (bool, int, str):
        return cell
    if type(cell) is float:
        return cell if cell - cell == 0 else {"float": str(cell)}  # JSON has no NaN and no infinity
    for kind, tag, write in _TO_TEXT:
        if isinstance(cell, kind):
            return {tag: write(cell)}
    raise TypeError(f"{type(cell).__name__} is no value of a result")


def _untagged(cell: Any) -> Cell:
    if not isinstance(cell, dict):
        return cell
    ((tag, text),) = cell.items()
    return _FROM_TEXT[tag](text)
