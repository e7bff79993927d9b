"""What a query gives back: a result set, or the way in which it failed. Knows no engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

Cell = object
"""None, bool, int, float, Decimal, str, bytes, date, time, datetime, timedelta, UUID, list, tuple or dict."""

Row = tuple[Cell, ...]


class Status(str, Enum):
    """How a query ended when it did not end well."""

    SYNTAX = "syntax"
    NO_SUCH_TABLE = "no_such_table"
    NO_SUCH_COLUMN = "no_such_column"
    NO_SUCH_FUNCTION = "no_such_function"
    ERROR = "error"
    """Any other error that the engine reports."""
    DENIED = "denied"
    """Refused by the sandbox: it is not a read of the database, or not one statement."""
    TIMEOUT = "timeout"
    MEMORY = "memory"
    ROWS = "rows"
    BYTES = "bytes"
    CRASH = "crash"
    """The process or the connection that ran the query is gone."""
    NO_RESULT_SET = "no_result_set"
    """It ran, and answers nothing: an empty text, a comment, a statement without rows."""


@dataclass(frozen=True, slots=True)
class ResultSet:
    """Rows of one query, whole: a result that was cut is a `QueryFailure`."""

    columns: tuple[str, ...]
    """Labels as the engine gives them; they may repeat."""
    rows: list[Row]
    elapsed_ms: float = 0.0
    tables: frozenset[str] | None = None
    """Tables that the engine read, lower-cased; None where the engine does not tell."""
    warnings: tuple[str, ...] = ()
    """What the engine said beside the rows, such as a use of random() or of the current time."""
    cut_from: int = 0
    """In a report, which keeps the first rows only: how many there were; 0 where all are here."""

    @property
    def n(self) -> int:
        """How many rows the query returned."""
        return self.cut_from or len(self.rows)


@dataclass(frozen=True, slots=True)
class QueryFailure:
    """A query that gave no result set. It is data: nothing is raised for it."""

    status: Status
    message: str
    """The engine's own words, one line, at most 500 characters."""
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use. Every limit that is met ends the query with a `Status` of that name."""

    timeout_s: float = 10.0
    rows: int = 100_000
    result_bytes: int = 64 * 2**20
    memory_bytes: int = 2**30


class Engine(Protocol):
    """A program that answers queries over one database.

    Gold and prediction never share a connection, and only `run_prediction` is guarded as untrusted.
    """

    @property
    def version(self) -> str:
        """Name and version, as in ``sqlite 3.45.1``."""

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite, read-only, on a connection of its own."""

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query: contained, read-only, within the limits. Never raises for what the query does."""

    def describe(self) -> str:
        """Say what a prompt may know of the database: its DDL, or its ontology."""

    def close(self) -> None:
        """Release connections and processes. Closing twice is allowed."""
