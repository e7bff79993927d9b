"""Reading SQL back into a logical form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sqlbench.logical_form import Condition, LogicalForm, WebTable, render_sql
from pytest_sqlbench.scoring.wikisql.reader import read_sql
from pytest_sqlbench.scoring.wikisql.record import NoForm
from pytest_sqlbench.verdict import Reason
from tests.scoring.wikisql.tables import PLAYERS, form


@pytest.mark.parametrize(
    "text, read",
    [
        pytest.param('SELECT "Player" FROM "table_1_77_2"', form(0), id="quoted_headers"),
        pytest.param("select player from TABLE", form(0), id="bare_header_and_the_word_table"),
        pytest.param("SELECT `School/Club Team` FROM `1-77-2`", form(2), id="back_ticks_and_the_published_id"),
        pytest.param("SELECT [Years in Toronto] FROM table_77_2;", form(3), id="brackets_and_the_name_without_phase"),
        pytest.param("SELECT COUNT(col1) FROM table WHERE col4 = 3", form(1, 3, (4, 0, 3)), id="numbered_columns"),
        pytest.param(
            "SELECT max ( \"No.\" ) AS best FROM table t WHERE t.\"Player\" == 'O''Neal'",
            form(1, 1, (0, 0, "O'Neal")),
            id="aggregate_label_alias_double_equals_escaped_quote",
        ),
        pytest.param(
            "SELECT Player FROM table WHERE (\"No.\" > 3 AND (Points < -2.5)) AND Date = 'x AND y'",
            form(0, 0, (1, 1, 3), (4, 2, -2.5), (6, 0, "x AND y")),
            id="parentheses_around_conditions",
        ),
        pytest.param(
            'SELECT Player FROM table WHERE "No." = "21"',
            form(0, 0, (1, 0, "21")),
            id="double_quotes_where_a_value_stands",
        ),
        pytest.param(
            "SELECT Player -- the name\nFROM/**/table WHERE Points=007",
            form(0, 0, (4, 0, 7)),
            id="comments_and_respelt_number",
        ),
        pytest.param(
            "SELECT Player FROM table WHERE Points = 9223372036854775808",
            form(0, 0, (4, 0, 9223372036854775808.0)),
            id="integers_beyond_64_bits_are_floats",
        ),
    ],
)
def test_reads_what_a_form_can_say(text: str, read: LogicalForm) -> None:
    assert repr(read_sql(text, PLAYERS)) == repr(read)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("SELECT DISTINCT Player FROM table", Reason.SYNTAX),
        ("SELECT COUNT(*) FROM table", Reason.SYNTAX),
        ("SELECT Player, Date FROM table", Reason.SYNTAX),
        ("SELECT Player FROM table ORDER BY Points", Reason.SYNTAX),
        ("SELECT Player FROM table WHERE Points >= 3", Reason.SYNTAX),
        ("SELECT Player FROM table WHERE Points = 3 OR Points = 4", Reason.SYNTAX),
        ("SELECT Player FROM table WHERE (Points = 3", Reason.SYNTAX),
        ("SELECT Player FROM table WHERE Points = 3 AND", Reason.SYNTAX),
        ('SELECT Player FROM table WHERE Points = "Date"', Reason.SYNTAX),
        ("SELECT Player FROM table WHERE Points = 2008-2009", Reason.SYNTAX),
        ("SELECT upper(Player) FROM table", Reason.SYNTAX),
        ("SELECT Player FROM table; DROP TABLE table", Reason.SYNTAX),
        ("SELECT Points FROM nowhere", Reason.NO_SUCH_TABLE),
        ('SELECT "Nope" FROM table', Reason.NO_SUCH_COLUMN),
        ("SELECT Player FROM table WHERE Team = 'x'", Reason.NO_SUCH_COLUMN),
        ("SELECT Player FROM table WHERE Date = 'Senyi N\\'Diaye'", Reason.SYNTAX),
        ("", Reason.SYNTAX),
        ("SELECT", Reason.SYNTAX),
        ("(" * 50_000, Reason.SYNTAX),
        ("SELECT Player FROM table WHERE " + "(" * 50_000, Reason.SYNTAX),
    ],
)
def test_other_sql_has_no_form_and_is_still_a_query(text: str, reason: Reason) -> None:
    read = read_sql(text, PLAYERS)
    assert isinstance(read, NoForm)
    assert (read.reason, read.is_query) == (reason, True)


def test_a_text_without_end_is_not_read() -> None:
    read = read_sql("SELECT Player FROM table WHERE Date = '" + "x" * 200_000 + "'", PLAYERS)
    assert isinstance(read, NoForm)
    assert not read.is_query


_TEXT = st.text(max_size=20)
_TABLES = st.lists(st.tuples(_TEXT, st.sampled_from(["text", "real"])), min_size=1, max_size=5).map(
    lambda columns: WebTable("1-1-1", tuple(header for header, _ in columns), tuple(kind for _, kind in columns))
)


@pytest.mark.parametrize("value", [-(10**18), -(2**63), 2**63 - 1, -(10**17), 10**18])
def test_whole_numbers_of_64_bits_stay_whole(value: int) -> None:
    wanted = LogicalForm(0, 0, (Condition(1, 0, value),))
    assert repr(read_sql(render_sql(wanted, PLAYERS), PLAYERS)) == repr(wanted)


@given(_TABLES, st.data())
def test_every_form_survives_being_written_and_read(table: WebTable, data: st.DataObject) -> None:
    columns = st.integers(0, len(table.headers) - 1)
    values = st.one_of(_TEXT, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
    conds = st.lists(st.tuples(columns, st.integers(0, 2), values), max_size=3)
    wanted = LogicalForm(
        data.draw(columns), data.draw(st.integers(0, 5)), tuple(Condition(*cond) for cond in data.draw(conds))
    )
    assert repr(read_sql(render_sql(wanted, table), table)) == repr(wanted)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    assert isinstance(read_sql(text, PLAYERS), (LogicalForm, NoForm))
    assert isinstance(read_sql(f"SELECT Player FROM table WHERE {text}", PLAYERS), (LogicalForm, NoForm))
