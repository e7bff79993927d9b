"""Equality of logical forms by each published rule, and the part that differs first."""

from __future__ import annotations

import pytest

from pytest_sqlbench.logical_form import LogicalForm
from pytest_sqlbench.scoring.wikisql.equality import differences, equal_forms
from pytest_sqlbench.verdict import Reason
from tests.scoring.wikisql.tables import PLAYERS, form

GOLD = form(0, 0, (1, 0, 3), (2, 0, "Duke"))


@pytest.mark.parametrize(
    "predicted, head, ordered, of_2018",
    [
        pytest.param(form(0, 0, (1, 0, 3), (2, 0, "duke")), True, True, True, id="case_of_text_is_ignored"),
        pytest.param(form(0, 0, (2, 0, "duke"), (1, 0, 3)), True, False, False, id="order_counts_in_two_of_three"),
        pytest.param(form(0, 0, (1, 0, "3"), (2, 0, "duke")), True, True, False, id="2018_tells_3_from_text_3"),
        pytest.param(form(0, 0, (1, 0, 3.0), (2, 0, "duke")), False, False, True, id="3.0_is_not_3_as_text"),
        pytest.param(
            form(0, 0, (1, 0, 3), (1, 0, 3), (2, 0, "duke")), True, False, False, id="repeated_conditions_collapse"
        ),
        pytest.param(form(0, 0, (1, 0, 3), (2, 0, "duke ")), False, False, False, id="white_space_counts"),
        pytest.param(form(0, 0, (1, 0, 3)), False, False, False, id="missing_condition"),
        pytest.param(form(1, 0, (1, 0, 3), (2, 0, "duke")), False, False, False, id="other_column"),
        pytest.param(form(0, 3, (1, 0, 3), (2, 0, "duke")), False, False, False, id="other_aggregate"),
    ],
)
def test_each_rule(predicted: LogicalForm, head: bool, ordered: bool, of_2018: bool) -> None:
    assert equal_forms(GOLD, predicted, "head") is head
    assert equal_forms(GOLD, predicted, "ordered") is ordered
    assert equal_forms(GOLD, predicted, "2018") is of_2018


@pytest.mark.parametrize(
    "predicted, reasons, first_detail",
    [
        pytest.param(
            form(0, 3, (1, 0, 3), (2, 0, "Duke")),
            [Reason.WRONG_AGGREGATE],
            "aggregate COUNT is not none",
            id="aggregate",
        ),
        pytest.param(
            form(5, 0, (1, 0, 3), (2, 0, "Duke")),
            [Reason.WRONG_COLUMN],
            "selected column 'Points won' is not 'Player'",
            id="column",
        ),
        pytest.param(
            form(0, 0, (4, 0, 3), (2, 0, "Duke")),
            [Reason.WRONG_CONDITION_COLUMN],
            "condition 'Points' = 3: column is not 'No.'",
            id="condition_column",
        ),
        pytest.param(
            form(0, 0, (1, 1, 3), (2, 0, "Duke")),
            [Reason.WRONG_OPERATOR],
            "condition 'No.' > 3: operator is not =",
            id="operator",
        ),
        pytest.param(
            form(0, 0, (1, 0, 4), (2, 0, "Duke")),
            [Reason.WRONG_VALUE],
            "condition 'No.' = 4: value is not 3",
            id="value",
        ),
        pytest.param(
            form(0, 0, (1, 0, 3)),
            [Reason.WRONG_CONDITION],
            "condition 'School/Club Team' = 'Duke' is missing",
            id="lacks",
        ),
        pytest.param(
            form(0, 0, (1, 0, 3), (2, 0, "Duke"), (4, 1, 9)),
            [Reason.WRONG_CONDITION],
            "condition 'Points' > 9 is too many",
            id="too_many",
        ),
        pytest.param(
            form(99, -1, ("x", 7, None)),
            [Reason.WRONG_AGGREGATE, Reason.WRONG_COLUMN, Reason.WRONG_CONDITION_COLUMN, Reason.WRONG_CONDITION],
            "aggregate -1 is not none",
            id="indices_out_of_range_are_said_as_they_are",
        ),
    ],
)
def test_differences_name_the_part(predicted: LogicalForm, reasons: list[Reason], first_detail: str) -> None:
    found = differences(GOLD, predicted, PLAYERS)
    assert [difference.reason for difference in found] == reasons
    assert found[0].detail == first_detail


def test_equal_forms_have_no_differences() -> None:
    assert differences(GOLD, form(0, 0, (2, 0, "duke"), (1, 0, "3")), PLAYERS) == []
