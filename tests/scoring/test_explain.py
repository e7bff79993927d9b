from __future__ import annotations

import pytest

from pytest_sqlbench.policy import PRESETS
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.verdict import Reason
from tests.scoring.results import table

DEFAULT = PRESETS["default"]
TWO = [("a", 1), ("b", 2)]


@pytest.mark.parametrize(
    "gold, predicted, reason, detail",
    [
        (table(*TWO), table(), Reason.EMPTY_AGAINST_ROWS, "no rows, gold has 2"),
        (table(), table((1,)), Reason.ROWS_AGAINST_EMPTY, "1 row, gold has none"),
        (table(*TWO), table(("a", 1), ("b", 3)), Reason.VALUES, "row 2, column 2: 3 is not 2"),
        (table(*TWO), table(("a", 1)), Reason.ROW_COUNT, "1 row, gold has 2"),
        (table(*TWO), table(*TWO, *TWO), Reason.DUPLICATES_ONLY, "4 rows, gold has 2 when repeats count"),
        (table(*TWO), table(("a", 1, 0), ("b", 2, 0)), Reason.EXTRA_COLUMNS, "3 columns, gold has 2"),
        (table(*TWO), table((1,), (2,)), Reason.MISSING_COLUMNS, "1 column, gold has 2"),
        (table(*TWO), table((1, 8, 9), (2, 8, 9)), Reason.OVERLAP, "3 columns, gold has 2; 1 of the gold's agree"),
        (table((1, 2), (2, 3)), table((1, 3), (2, 2)), Reason.VALUES, "row 1, column 2: 3 is not 2"),
        (table(("a", 1)), table(("a", "1")), Reason.TYPE_ONLY, "row 1, column 2: '1' is not 1"),
        (table((25.37,)), table((25.3666,)), Reason.ROUNDING, "row 1, column 1: 25.3666 is not 25.37"),
        (table(("\u00e9",)), table(("e\u0301",)), Reason.VALUES,
         "row 1, column 1: 'e\u0301' is not '\u00e9' (the same letters in another Unicode form)"),
        (table((None,)), table(("x" * 99,)), Reason.VALUES, f"row 1, column 1: '{'x' * 56}... is not NULL"),
    ],
)  # fmt: skip
def test_reason_and_first_difference(gold, predicted, reason, detail) -> None:
    match = compare(gold, predicted, DEFAULT)
    assert (match.is_match, match.reason, match.detail) == (False, reason, detail)


def test_order_only() -> None:
    match = compare(table((1,), (2,)), table((2,), (1,)), DEFAULT, order=GoldOrder("SELECT a FROM t ORDER BY a"))
    assert match.reason is Reason.ORDER_ONLY
    assert match.detail == "the same rows in another order: row 1, column 1: 2 is not 1"
    assert match.near == ("paper", "dbt", "bird", "spider2", "defog")


def test_column_order_under_a_policy_that_keeps_it() -> None:
    match = compare(table(("a", 1)), table((1, "a")), PRESETS["strict"])
    assert (match.reason, match.near[:2]) == (Reason.COLUMN_ORDER, ("default", "paper"))


def test_identifier_for_label() -> None:
    gold = table(("Ann", 3), ("Bob", 4), columns="name n")
    predicted = table((17, 3), (18, 4), columns="emp_id n")
    assert compare(gold, predicted, DEFAULT).reason is Reason.IDENTIFIER_FOR_LABEL


def test_an_iri_in_the_place_of_a_name_is_an_identifier() -> None:
    gold = table(("Ann", 3), ("Bob", 4), columns="name n")
    predicted = table(("http://e/Person-17", 3), ("http://e/Person-18", 4), columns="person n")
    assert compare(gold, predicted, DEFAULT).reason is Reason.IDENTIFIER_FOR_LABEL
    assert compare(predicted, predicted, DEFAULT).is_match


def test_rows_that_differ_are_counted_and_ten_are_kept() -> None:
    match = compare(table(*((i,) for i in range(50))), table(*((i,) for i in range(30, 80))), DEFAULT)
    assert (match.missing_n, match.extra_n) == (30, 30)
    assert match.missing == tuple((i,) for i in range(10))
    assert match.extra == tuple((i,) for i in range(50, 60))


def test_first_difference_is_told_beside_the_most_similar_row() -> None:
    match = compare(table(("a", 1, 5), ("b", 2, 6)), table(("b", 2, 7), ("a", 1, 5)), DEFAULT)
    assert match.detail == "row 1, column 3: 7 is not 6"


def test_megabytes_in_a_cell_are_not_spelled_out() -> None:
    match = compare(table((1,)), table((bytes(5_000_000),)), DEFAULT)
    assert len(match.detail) < 200
