"""Other SQL finds the table under its real headers."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from pytest_sqlbench.evaluation.wikisql_tables import create_table
from pytest_sqlbench.scoring.wikisql.statement import Mode
from pytest_sqlbench.scoring.wikisql.wrapping import wrap_query
from tests.scoring.wikisql.tables import PLAYERS

ROWS = [
    ("art long", 42, "duke", "1999", 3, 1, "may 3"),
    ("bo short", 7, "duke", "2001", "1,200", 2, "may 4"),
]


def run(text: str, mode: Mode = "official") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_table(connection, PLAYERS, ROWS)
        return connection.execute(wrap_query(text, PLAYERS, mode, (4,))).fetchall()


@pytest.mark.parametrize(
    "text, rows",
    [
        pytest.param('SELECT DISTINCT "School/Club Team" FROM table', [("duke",)], id="distinct"),
        pytest.param(
            "SELECT COUNT(*) FROM table_1_77_2 WHERE `School/Club Team` = 'DUKE'", [(2,)], id="texts_are_lowered"
        ),
        pytest.param('SELECT Player FROM "1-77-2" t ORDER BY t."No." LIMIT 1', [("bo short",)], id="order_and_alias"),
        pytest.param("SELECT col0 FROM table WHERE col1 IN (7, 8)", [("bo short",)], id="numbered_columns"),
        pytest.param(
            "WITH x AS (SELECT Player AS p FROM table) SELECT p FROM x WHERE p LIKE 'ART%'", [("art long",)], id="with"
        ),
        pytest.param(
            'SELECT "n" FROM (SELECT COUNT(*) AS "n" FROM table) AS "s" WHERE "s"."n" = 2',
            [(2,)],
            id="own_names_are_kept",
        ),
        pytest.param(
            'SELECT Player FROM table WHERE Date IN ("MAY 4", "x")', [("bo short",)], id="double_quoted_values"
        ),
        pytest.param('SELECT Player FROM table WHERE Player BETWEEN "B" AND "C"', [("bo short",)], id="between"),
    ],
)
def test_runs_over_real_headers(text: str, rows: list[tuple[object, ...]]) -> None:
    assert run(text) == rows
    assert run(text, "strict") == rows


def test_an_unknown_name_is_a_text_officially_and_an_error_strictly() -> None:
    assert run('SELECT DISTINCT "Nope" FROM table') == [("nope",)]
    with pytest.raises(sqlite3.OperationalError, match="no such column: Nope"):
        run('SELECT DISTINCT "Nope" FROM table', "strict")


def test_numbers_with_commas_are_numbers_strictly() -> None:
    assert run("SELECT SUM(Points) FROM table") == [(4.0,)]
    assert run("SELECT SUM(Points) FROM table", "strict") == [(1203.0,)]


@pytest.mark.parametrize("text", ["DROP TABLE table", "", "PRAGMA user_version", "'", "VACUUM INTO 'x'"])
def test_what_is_no_select_is_left_as_it_is(text: str) -> None:
    assert wrap_query(text, PLAYERS, "official") == text
