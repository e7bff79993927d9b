"""The statement of a logical form, officially and strictly."""

from __future__ import annotations

import pytest

from pytest_sqlbench.logical_form import LogicalForm
from pytest_sqlbench.result import QueryFailure, Status
from pytest_sqlbench.scoring.wikisql.statement import compile_form, official_number, same_statement, strict_number
from tests.scoring.wikisql.tables import PLAYERS, form


@pytest.mark.parametrize(
    "text, number",
    [
        ("5 km", 5.0),
        ("-5 km", 5.0),
        ("1,200 km", 1.0),
        ("12 000", 12.0),
        ("1,2", 12.0),
        ("1e0", 1.0),
        (" 7 ", 7.0),
        ("-3.5", -3.5),
        ("-infinity", float("-inf")),
        ("\uff11\uff12", 12.0),
        (".5x", 0.5),
    ],
)
def test_official_number_reads_as_published(text: str, number: float) -> None:
    assert official_number(text) == number


@pytest.mark.parametrize("text", ["", "abc", "½", "sNaN"])
def test_official_number_needs_a_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|NaN"):
        official_number(text)


@pytest.mark.parametrize(
    "text, number",
    [
        ("19,952", 19952.0),
        ("1,234,567.5", 1234567.5),
        ("-3", -3.0),
        ("1,2", None),
        ("5 km", None),
        ("nan", None),
        ("", None),
    ],
)
def test_strict_number_takes_whole_numbers_only(text: str, number: float | None) -> None:
    assert strict_number(text) == number


def test_official_conditions_on_one_column_share_the_last_value() -> None:
    statement = compile_form(form(0, 0, (4, 1, 2), (4, 2, 7)), PLAYERS, "official")
    assert statement == ('SELECT col0 FROM "table_1_77_2" WHERE col4 > ? AND col4 < ?', [7, 7])


def test_strict_conditions_keep_their_own_values_and_pass_over_texts() -> None:
    statement = compile_form(form(0, 0, (4, 1, "2,000"), (4, 2, 7)), PLAYERS, "strict")
    where = "col4 > ? AND typeof(col4) <> 'text' AND col4 < ? AND typeof(col4) <> 'text'"
    assert statement == (f'SELECT col0 FROM "table_1_77_2" WHERE {where}', [2000.0, 7])


def test_texts_are_lowered_and_numbers_read_in_number_columns_only() -> None:
    statement = compile_form(form(1, 1, (0, 0, "ÄB 7"), (1, 0, "5 km")), PLAYERS, "official")
    assert statement == ('SELECT MAX(col1) FROM "table_1_77_2" WHERE col0 = ? AND col1 = ?', ["äb 7", 5.0])


@pytest.mark.parametrize(
    "predicted, status",
    [
        pytest.param(form(9), Status.NO_SUCH_COLUMN, id="column_too_high"),
        pytest.param(form(-1), Status.NO_SUCH_COLUMN, id="column_below_0"),
        pytest.param(
            LogicalForm("0 AS result FROM t UNION ALL SELECT sql FROM sqlite_master --"),  # type: ignore[arg-type]
            Status.NO_SUCH_COLUMN,
            id="a_text_as_column_injects_nothing",
        ),
        pytest.param(form(0, 6), Status.ERROR, id="aggregate_too_high"),
        pytest.param(LogicalForm(0, "3"), Status.ERROR, id="aggregate_is_text"),  # type: ignore[arg-type]
        pytest.param(form(0, 0, (0, 3, "x")), Status.SYNTAX, id="unused_fourth_operator"),
        pytest.param(form(0, 0, (8, 0, "x")), Status.NO_SUCH_COLUMN, id="condition_column"),
        pytest.param(form(0, 0, (1, 0, "abc")), Status.ERROR, id="no_number_in_the_value"),
        pytest.param(form(0, 0, (1, 0, None)), Status.ERROR, id="null_for_a_number"),
    ],
)
def test_a_form_out_of_range_is_a_failure(predicted: LogicalForm, status: Status) -> None:
    failure = compile_form(predicted, PLAYERS, "official")
    assert isinstance(failure, QueryFailure)
    assert failure.status is status


def test_negative_aggregates_count_from_the_end_as_published() -> None:
    assert compile_form(form(1, -1), PLAYERS, "official") == ('SELECT AVG(col1) FROM "table_1_77_2"', [])


def test_seed_compares_normalised_texts() -> None:
    assert same_statement(form(0, 0, (0, 0, "A")), form(0, 0, (0, 0, "a")), PLAYERS)
    assert same_statement(form(0, 0, (1, 0, "1,000")), form(0, 0, (1, 0, "1000")), PLAYERS)
    assert not same_statement(form(0, 0, (1, 0, 3), (0, 0, "a")), form(0, 0, (0, 0, "a"), (1, 0, 3)), PLAYERS)
