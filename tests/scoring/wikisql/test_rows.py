"""Comparing answers of one column."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_sqlbench.scoring.wikisql.rows import equal_answers, explain_rows, is_vacuous
from pytest_sqlbench.verdict import Reason


@pytest.mark.parametrize(
    "gold, predicted, official, strict, seed",
    [
        pytest.param(["a", "b"], ["a", "b"], True, True, True, id="same"),
        pytest.param([1], [1.0], True, True, True, id="one_is_one"),
        pytest.param(["a", "b"], ["b", "a"], False, True, True, id="order_counts_officially"),
        pytest.param(["a", "a"], ["a"], False, False, True, id="only_a_set_forgets_duplicates"),
        pytest.param([0.1 + 0.2], [0.3], False, True, False, id="rounding_noise_counts_but_strictly"),
        pytest.param([1000000], [1000001], False, False, False, id="whole_numbers_are_exact"),
        pytest.param(["1"], [1], False, False, False, id="text_is_no_number"),
        pytest.param([None], [], False, False, False, id="null_is_not_nothing"),
        pytest.param([], [], True, True, True, id="nothing_is_nothing"),
    ],
)
def test_each_mode(gold: list[Any], predicted: list[Any], official: bool, strict: bool, seed: bool) -> None:
    assert equal_answers(gold, predicted, "official") is official
    assert equal_answers(gold, predicted, "strict") is strict
    assert equal_answers(gold, predicted, "seed") is seed


@pytest.mark.parametrize(
    "gold, rows, reason",
    [
        (["a"], [("a", 1)], Reason.EXTRA_COLUMNS),
        (["a"], [], Reason.EMPTY_AGAINST_ROWS),
        ([], [("a",)], Reason.ROWS_AGAINST_EMPTY),
        (["a", "b"], [("b",), ("a",)], Reason.ORDER_ONLY),
        (["a"], [("a",), ("a",)], Reason.DUPLICATES_ONLY),
        (["a"], [("b",), ("c",)], Reason.ROW_COUNT),
        (["a"], [("b",)], Reason.VALUES),
    ],
)
def test_explains_the_rows(gold: list[Any], rows: list[tuple[Any, ...]], reason: Reason) -> None:
    assert explain_rows(gold, rows).reason is reason


def test_answers_of_no_rows_are_vacuous() -> None:
    assert is_vacuous([], False)
    assert is_vacuous([None], False)
    assert is_vacuous([0], True)
    assert not is_vacuous([0], False)
