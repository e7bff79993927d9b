"""Telling the three shapes of a prediction apart."""

from __future__ import annotations

import pytest

from pytest_sqlbench.logical_form import LogicalForm
from pytest_sqlbench.scoring.wikisql.answer import read_answer
from pytest_sqlbench.scoring.wikisql.pseudo import read_pseudo
from pytest_sqlbench.verdict import Reason
from tests.scoring.wikisql.tables import PLAYERS, form


@pytest.mark.parametrize(
    "text, shape, read",
    [
        pytest.param(
            "SELECT Player FROM table WHERE Points = 3", "sql", form(0, 0, (4, 0, 3)), id="sql_where_both_agree"
        ),
        pytest.param(
            "SELECT COUNT School/Club Team FROM table WHERE No. = 3",
            "pseudo",
            form(2, 3, (1, 0, "3")),
            id="bare_headers",
        ),
        pytest.param(
            "SELECT  Player FROM table WHERE Date = may 3 AND Points = 2008-2009",
            "pseudo",
            form(0, 0, (6, 0, "may 3"), (4, 0, "2008-2009")),
            id="bare_values",
        ),
        pytest.param("SELECT Points won FROM table", "pseudo", form(5), id="a_header_is_no_column_with_a_label"),
        pytest.param(
            "SELECT Player FROM table WHERE Points = 8.670", "pseudo", form(0, 0, (4, 0, "8.670")), id="respelt_number"
        ),
        pytest.param(
            'SELECT "Player" FROM table WHERE Points = 8.670', "sql", form(0, 0, (4, 0, 8.67)), id="quotes_mean_sql"
        ),
        pytest.param('{"query": {"sel": 0, "agg": 0, "conds": []}}', "record", form(0), id="a_record_as_text"),
    ],
)
def test_shape_and_form(text: str, shape: str, read: LogicalForm) -> None:
    answer = read_answer(None, text, PLAYERS)
    assert (answer.shape, answer.trouble) == (shape, None)
    assert repr(answer.form) == repr(read)


def test_pseudo_values_with_sql_words_are_left_to_the_engine() -> None:
    answer = read_answer(None, "SELECT Player FROM table WHERE Date = may 3 or may 4", PLAYERS)
    assert (answer.form, answer.other) == (None, form(0, 0, (6, 0, "may 3 or may 4")))


def test_a_quoted_value_belongs_to_sql_even_to_broken_sql() -> None:
    answer = read_answer(None, "SELECT Years in Toronto FROM table WHERE No. = '3'", PLAYERS)
    assert (answer.shape, answer.form, answer.other) == ("sql", None, None)


def test_pseudo_takes_the_reading_with_most_conditions() -> None:
    text = "SELECT Player FROM 1-77-2 WHERE Date = this AND that AND Points > 3 AND No. = 5"
    assert read_pseudo(text, PLAYERS) == form(0, 0, (6, 0, "this AND that"), (4, 1, "3"), (1, 0, "5"))


def test_pseudo_ignores_case_where_nothing_fits_exactly() -> None:
    assert read_pseudo("select max points WON from TABLE where date = x", PLAYERS) == form(5, 1, (6, 0, "x"))


@pytest.mark.parametrize(
    "text", ["", "SELECT", "SELECT Nope FROM table", "SELECT Player FROM table WHERE Nope = 3", "x" * 200_000]
)
def test_what_is_no_pseudo_sql_is_none(text: str) -> None:
    assert read_pseudo(text, PLAYERS) is None


@pytest.mark.parametrize(
    "facts, reason",
    [
        ({"query": None, "error": "Cannot find column"}, Reason.NO_SQL),
        ({"query": {"sel": 0, "agg": 0, "conds": []}, "error": "wins over the query"}, Reason.NO_SQL),
        ({"error": "", "query": None}, Reason.BAD_SHAPE),
        ({"query": {"sel": 0, "agg": 0}}, Reason.BAD_SHAPE),
        ({"query": {"sel": 0, "agg": 0, "conds": {"a": 1}}}, Reason.BAD_SHAPE),
        ({"query": {"sel": 0, "agg": 0, "conds": [[0, "x"]]}}, Reason.BAD_SHAPE),
        ({"query": {"sel": 0, "agg": 0, "conds": [[[0], 0, "x"]]}}, Reason.BAD_SHAPE),
        ({"query": {"sel": [0], "agg": 0, "conds": []}}, Reason.BAD_SHAPE),
    ],
)
def test_a_record_without_a_form_says_why(facts: object, reason: Reason) -> None:
    answer = read_answer(facts, "", PLAYERS)
    assert answer.trouble is not None
    assert (answer.shape, answer.form, answer.trouble.reason) == ("record", None, reason)


def test_a_bare_form_is_a_record() -> None:
    assert read_answer({"sel": 1, "agg": 3, "conds": [[0, 0, "x"]]}, "", PLAYERS).form == form(1, 3, (0, 0, "x"))
