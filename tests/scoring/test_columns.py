from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_sqlbench.policy import PRESETS
from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.scoring.columns import assign_by_content, assign_by_label, assign_without_choice, make_table
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.values import Tolerance
from tests.scoring.results import table

EXACT = Tolerance(0.0, 0.0)
Rows = list[tuple[Any, ...]]


def assignments(gold: Rows, predicted: Rows) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Return what the cautious and the searching assignment say."""
    labels = ([f"g{i}" for i in range(len(gold[0]))], [f"p{i}" for i in range(len(predicted[0]))])
    made = make_table(gold, predicted, labels, EXACT)
    return assign_without_choice(made), assign_by_content(made)


@pytest.mark.parametrize(
    "gold, predicted, cautious, searched",
    [
        pytest.param([(1, 2)], [(2, 1)], (1, 0), (1, 0), id="values_leave_no_choice"),
        pytest.param([(1, 2), (2, 1)], [(1, 2), (2, 1)], None, (0, 1), id="two_columns_fit_either"),
        pytest.param([(1, 1)], [(1, 1)], (0, 1), (0, 1), id="equal_columns_are_no_choice"),
        pytest.param([(1, 1)], [(1, 2)], None, None, id="one_column_answers_once"),
        pytest.param([(1, 2), (3, 4)], [(2, 3), (4, 1)], (1, 0), None, id="columns_fit_and_rows_do_not"),
    ],
)
def test_assignments(gold: Rows, predicted: Rows, cautious: object, searched: object) -> None:
    assert assignments(gold, predicted) == (cautious, searched)


def test_repeated_labels_pair_in_their_order() -> None:
    assert assign_by_label(["a", "b", "a"], ["a", "a", "b"]) == (0, 2, 1)
    assert assign_by_label(["a", "a"], ["a", "b"]) is None


cells = st.sampled_from([0, 1, 2, None, "a", 0.5])
small = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=5))


def _bag(rows: Rows) -> list[str]:
    return sorted(map(repr, rows))


@given(small, st.data())
def test_permuted_rows_and_columns_match_under_paper(rows: Rows, data: st.DataObject) -> None:
    places = data.draw(st.permutations(range(len(rows[0]))))
    predicted = [tuple(row[place] for place in places) for row in data.draw(st.permutations(rows))]
    assert compare(table(*rows), table(*predicted), PRESETS["paper"]).is_match


@settings(max_examples=300)
@given(small, small)
def test_permute_agrees_with_trying_all_permutations(gold: Rows, predicted: Rows) -> None:
    truth = len(gold[0]) == len(predicted[0]) and any(
        _bag(gold) == _bag([tuple(row[place] for place in places) for row in predicted])
        for places in permutations(range(len(gold[0])))
    )
    match = compare(table(*gold), table(*predicted), PRESETS["paper"])
    assert match.is_match is truth
    assert compare(table(*predicted), table(*gold), PRESETS["paper"]).is_match is truth


@settings(max_examples=300)
@given(small, small)
def test_superset_agrees_with_trying_all_choices(gold: Rows, predicted: Rows) -> None:
    truth = any(
        _bag(gold) == _bag([tuple(row[place] for place in places) for row in predicted])
        for places in permutations(range(len(predicted[0])), len(gold[0]))
    )
    assert compare(table(*gold), table(*predicted), PRESETS["dbt"]).is_match is truth


@settings(max_examples=300)
@given(small, small)
def test_default_never_accepts_what_paper_rejects(gold: Rows, predicted: Rows) -> None:
    results = table(*gold), table(*predicted)
    if compare(*results, PRESETS["default"]).is_match:
        assert compare(*results, PRESETS["paper"]).is_match
    else:
        assert compare(*results, PRESETS["default"]).reason is not None


@given(small)
def test_every_result_matches_itself_under_every_preset(rows: Rows) -> None:
    result = ResultSet(tuple(f"c{i}" for i in range(len(rows[0]))), rows)
    assert [name for name, policy in PRESETS.items() if not compare(result, result, policy).is_match] == []
