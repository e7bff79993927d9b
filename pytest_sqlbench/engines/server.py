"""What the engines of servers share: a session for golds, another for predictions, and texts that are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import Allowance
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

SQL_LENGTH = 100_000
"""The longest prediction; a gold may be ten times as long."""


class Session(Protocol):
    """A connection that outlives any query: one is run at a time, in a read-only transaction that is rolled back."""

    version: str
    """Of the server, as in ``postgres 15.18`` or ``mariadb 10.11.19``."""
    terminated: int
    """How many connections or server processes had to be ended because the query could not be stopped otherwise."""

    def run(self, query: str, max_rows: int, max_bytes: int) -> ResultSet | QueryFailure:
        """Run one query that was not refused."""

    def describe(self) -> str:
        """Return the CREATE statements of tables, by name."""

    def close(self) -> None:
        """Close the connection; the next query opens another."""


class ServerEngine:
    """Answers queries over one database of a server.

    Args:
        open_session: Opens a session whose queries have so many seconds.
        settings: Limits of gold and predictions.
    """

    def __init__(self, open_session: Callable[[float], Session], settings: Settings) -> None:
        self._gold = open_session(settings.gold_timeout_s)
        try:
            self._tried = open_session(settings.limits.timeout_s)
        except BaseException:
            self._gold.close()
            raise
        self.allowance = Allowance(settings)

    @property
    def version(self) -> str:
        """As in ``postgres 15.18`` or ``mariadb 10.11.19``."""
        return self._gold.version

    @property
    def terminated(self) -> int:
        """How many connections or server processes had to be ended because the query could not be stopped otherwise."""
        return self._gold.terminated + self._tried.terminated

    def _refuse(self, query: str, most: int) -> QueryFailure | None:
        """Name what need not be asked of the server: longer than ``most``, unreadable, or reaching beyond a query."""
        raise NotImplementedError

    def _finish(self, query: str, answer: ResultSet | QueryFailure) -> ResultSet | QueryFailure:
        """Say of an answer what the server does not."""
        raise NotImplementedError

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite, read-only, on a session that no prediction has used."""
        if refusal := self._refuse(query, 10 * SQL_LENGTH):
            return refusal
        _, *most = self.allowance.of_gold
        return self._finish(query, self.allowance.hear_gold(self._gold.run(query, *most)))

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query."""
        _, *most = self.allowance.next_prediction()
        if refusal := self._refuse(query, SQL_LENGTH):
            return refusal
        return self._finish(query, self._tried.run(query, *most))

    def describe(self) -> str:
        """Return the CREATE statements of tables, by name."""
        return self._gold.describe()

    def close(self) -> None:
        """Close both sessions."""
        self._gold.close()
        self._tried.close()


def strip_query(query: str, most: int, strip: Callable[[str], str]) -> str | QueryFailure:
    """Return a query without comments and literals, or why no server need be asked: too long, unreadable or empty."""
    if len(query) > most:
        return QueryFailure(Status.ERROR, f"the query is longer than {most:,} characters")
    if "\0" in query:  # some clients would cut the text there
        return QueryFailure(Status.SYNTAX, "the query contains a null character")
    try:
        query.encode()
    except UnicodeEncodeError:
        return QueryFailure(Status.SYNTAX, "the query is not valid Unicode text")
    stripped = strip(query)
    if not stripped.strip("; \t\r\n\f\ufeff"):
        return QueryFailure(Status.NO_RESULT_SET, "the text holds no statement")
    return stripped


def note_unstable(stripped: str, result: ResultSet, unstable: re.Pattern[str]) -> ResultSet:
    """Note functions (first group) and words (second) by which a second run would give other rows."""
    found = sorted({(function or word).lower() for function, word in unstable.findall(stripped)})
    if not found:
        return result
    return replace(result, warnings=(*result.warnings, *(f"nondeterministic: {name}" for name in found)))


def read_url(database: Database) -> str:
    """Return the address of a database; raise `EngineError` if it has none."""
    if not database.url:
        raise EngineError(
            f"database {database.name!r} has no server: give its url in the manifest or --sqlbench-database SUITE=URL"
        )
    return database.url
