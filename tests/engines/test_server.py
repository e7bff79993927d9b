"""What the engines of servers share: texts that are refused before a server is asked, notes, addresses."""

from __future__ import annotations

import re

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.lexing import strip_postgres
from pytest_sqlbench.engines.server import ServerEngine, note_unstable, read_url, strip_query
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings


@pytest.mark.parametrize(
    "query, status",
    [
        ("x" * 101, Status.ERROR),
        ("SELECT 1\0", Status.SYNTAX),
        ("SELECT '\ud800'", Status.SYNTAX),
        (" ;; ", Status.NO_RESULT_SET),
        ("-- nothing", Status.NO_RESULT_SET),
    ],
    ids=["too_long", "null_character", "no_unicode", "empty", "comment_only"],
)
def test_what_no_server_need_be_asked_is_refused(query: str, status: Status) -> None:
    refusal = strip_query(query, 100, strip_postgres)
    assert isinstance(refusal, QueryFailure)
    assert refusal.status is status


def test_any_other_text_comes_back_without_literals_and_comments() -> None:
    assert strip_query("SELECT 'a' -- b", 100, strip_postgres) == "SELECT    "


def test_what_changes_by_itself_is_noted_once_and_in_order() -> None:
    unstable = re.compile(r"\b(now|rand)\s*\(|\b(current_date)\b", re.IGNORECASE)
    result = note_unstable(
        "SELECT rand(), NOW(), now(), Current_Date", ResultSet(("a",), [], warnings=("w",)), unstable
    )
    names = ("current_date", "now", "rand")
    assert result.warnings == ("w", *(f"nondeterministic: {name}" for name in names))


def test_a_database_without_an_address_is_told() -> None:
    with pytest.raises(EngineError, match="database 'shop' has no server: give its url"):
        read_url(Database("shop"))


class _Session:
    version, terminated, is_open = "x 1", 0, True

    def run(self, query: str, max_rows: int, max_bytes: int) -> ResultSet | QueryFailure:
        return ResultSet((), [])

    def describe(self) -> str:
        return ""

    def close(self) -> None:
        self.is_open = False


def test_the_first_session_is_closed_if_the_second_does_not_open() -> None:
    opened: list[_Session] = []

    def open_session(timeout_s: float) -> _Session:
        if opened:
            raise EngineError("no more connections")
        opened.append(_Session())
        return opened[0]

    with pytest.raises(EngineError, match="no more connections"):
        ServerEngine(open_session, Settings())
    assert not opened[0].is_open
