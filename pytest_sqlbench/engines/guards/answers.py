"""What every guard answers with, and what they all refuse: unreadable texts, results above their limits.

Loaded by the sandbox's process, so it imports the standard library only.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

Tables = tuple[str, ...] | None
Answer = tuple[str, str, tuple[str, ...], list[Any], list[bytes], float, Tables, tuple[str, ...]]
"""Status (empty if well), message, columns, first rows, pickled further rows, elapsed ms, tables read, notes.

The tables are None where the engine does not tell.
"""

PROTOCOL = 5
"""Of pickle."""


class RefusedError(Exception):
    """Ends a query with a status and a message of our own."""


def fail(status: str, message: str, elapsed_ms: float = 0.0) -> Answer:
    """Return the answer to a query that gave no result: its message in one line of at most 500 characters."""
    return status, " ".join(message.split())[:500], (), [], [], elapsed_ms, (), ()


def check_text(query: str) -> None:
    """Raise `RefusedError` for what an engine would cut or could not take at all."""
    if "\0" in query:
        raise RefusedError("syntax", "the query contains a null character")
    try:
        query.encode()
    except UnicodeEncodeError:
        raise RefusedError("syntax", "the query is not valid Unicode text") from None


def pack_rows(
    pieces: Iterable[list[tuple[object, ...]]], max_rows: int, max_bytes: int, is_late: Callable[[], bool]
) -> list[bytes]:
    """Fetch rows piece by piece and pickle each: what has to be sent anyway is also the measure of its size.

    Raises:
        RefusedError: There are too many rows or bytes, or the deadline has passed.
    """
    chunks: list[bytes] = []
    n = size = 0
    for rows in pieces:
        n += len(rows)
        if n > max_rows:
            raise RefusedError("rows", f"more than {max_rows:,} rows")
        chunks.append(pickle.dumps(rows, PROTOCOL))
        size += len(chunks[-1])
        if size > max_bytes:
            raise RefusedError("bytes", f"more than {max_bytes:,} bytes")
        if is_late():
            break
    if is_late():
        raise RefusedError("timeout", "the query was too slow")
    return chunks
