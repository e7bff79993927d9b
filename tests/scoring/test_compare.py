from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.policy import PRESETS, Policy, parse_policy
from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.verdict import Match, Reason
from tests.scoring.results import table

NAN = float("nan")
DEFAULT = PRESETS["default"]


@pytest.mark.parametrize(
    "gold, predicted",
    [
        pytest.param(1, 1.0, id="whole_float_equals_int"),
        pytest.param(1, Decimal("1.00"), id="whole_decimal_equals_int"),
        pytest.param(1, True, id="true_equals_one"),
        pytest.param(0.68, Decimal("0.68"), id="decimal_equals_its_float"),
        pytest.param(0.3, 0.1 + 0.2, id="noise_of_fractions_is_forgiven"),
        pytest.param(100.0, 99.99999999999, id="whole_float_meets_noisy_fraction"),
        pytest.param(1_000_000.5, 1_000_001.4, id="fractions_within_a_millionth"),
        pytest.param(None, None, id="null_equals_null"),
        pytest.param(NAN, float("nan"), id="nan_equals_nan"),
        pytest.param(datetime(2020, 1, 1), date(2020, 1, 1), id="midnight_equals_its_date"),
        pytest.param(date(2020, 1, 1), "2020-01-01", id="date_equals_its_iso_text"),
        pytest.param(datetime(2020, 1, 1, 9, 30), "2020-01-01T09:30:00", id="moment_equals_its_iso_text"),
        pytest.param(datetime(2020, 1, 1), "2020-01-01 00:00:00", id="midnight_equals_its_text"),
        pytest.param(b"ab", bytearray(b"ab"), id="bytes_of_any_class"),
        pytest.param([1, 2.0], [1.0, 2], id="lists_compare_by_value"),
        pytest.param({"a": 1, "b": None}, {"b": None, "a": 1.0}, id="maps_compare_without_order"),
        pytest.param(2**63 - 1, Decimal(2**63 - 1), id="large_whole_numbers_are_exact"),
        pytest.param(10**400, 10**400, id="numbers_beyond_floats"),
        pytest.param(float("inf"), float("inf"), id="infinity_equals_itself"),
    ],
)
def test_equal_values(gold: object, predicted: object) -> None:
    assert compare(table((gold,)), table((predicted,)), DEFAULT).is_match
    assert compare(table((predicted,)), table((gold,)), DEFAULT).is_match


@pytest.mark.parametrize(
    "gold, predicted, reason",
    [
        pytest.param(31003000336, 31003000337, Reason.VALUES, id="identifiers_are_exact"),
        pytest.param(12312701.0, 12312702.0, Reason.VALUES, id="whole_floats_are_exact"),
        pytest.param(2**53 + 1, Decimal(2**53), Reason.VALUES, id="whole_decimals_are_exact"),
        pytest.param("007", "7", Reason.TYPE_ONLY, id="digit_strings_are_exact"),
        pytest.param(2, "2", Reason.TYPE_ONLY, id="text_is_no_number"),
        pytest.param(20.5, "20.5", Reason.TYPE_ONLY, id="text_is_no_fraction"),
        pytest.param(1, "true", Reason.TYPE_ONLY, id="word_is_no_truth_value"),
        pytest.param(None, 0, Reason.VALUES, id="null_is_not_zero"),
        pytest.param(None, "", Reason.VALUES, id="null_is_not_empty_text"),
        pytest.param(None, "None", Reason.VALUES, id="null_is_not_a_word"),
        pytest.param(None, NAN, Reason.VALUES, id="null_is_not_nan"),
        pytest.param("eng", "ENG", Reason.VALUES, id="case_counts"),
        pytest.param("a ", "a", Reason.TYPE_ONLY, id="trailing_space_counts"),
        pytest.param(25.37, 25.36666, Reason.ROUNDING, id="rounded_fraction_differs"),
        pytest.param(1_000_000.5, 1_000_001.6, Reason.VALUES, id="fractions_just_beyond_a_millionth"),
        pytest.param(0.004, 0.009, Reason.VALUES, id="small_fractions_differ"),
        pytest.param(datetime(2020, 1, 1, 0, 0, 1), date(2020, 1, 1), Reason.VALUES, id="second_after_midnight"),
        pytest.param(b"ab", "ab", Reason.VALUES, id="bytes_are_no_text"),
        pytest.param([1, 2], [2, 1], Reason.VALUES, id="lists_keep_their_order"),
        pytest.param(10**400, 0.5, Reason.VALUES, id="numbers_beyond_floats_differ"),
    ],
)
def test_unequal_values(gold: object, predicted: object, reason: Reason) -> None:
    match = compare(table((gold,)), table((predicted,)), DEFAULT)
    assert (match.is_match, match.reason) == (False, reason)


@pytest.mark.parametrize(
    "policy, gold, predicted, is_match",
    [
        pytest.param("default", [(1,), (2,)], [(2,), (1,)], True, id="rows_come_in_any_order"),
        pytest.param("default", [(1,), (1,), (2,)], [(1,), (2,), (2,)], False, id="repeats_count"),
        pytest.param("bird", [(1,), (1,), (2,)], [(1,), (2,), (2,)], True, id="sets_ignore_repeats"),
        pytest.param("bird", [(1,), (2,)], [(1,), (3,)], False, id="sets_differ"),
        pytest.param("seed", [(1,), (1,)], [(1.0,)], True, id="seed_compares_sets"),
        pytest.param("wikisql", [(1,), (2,)], [(2,), (1,)], False, id="lists_keep_their_order"),
        pytest.param("wikisql", [(1,), (2,)], [(1,), (2,)], True, id="lists_are_equal"),
        pytest.param("default", [(1, "a"), (2, "b")], [("a", 1), ("b", 2)], True, id="columns_that_fit_one_way"),
        pytest.param("default", [(1, "a"), (2, "b")], [("b", 1), ("a", 2)], False, id="columns_fit_and_rows_do_not"),
        pytest.param("default", [(1, 2, 9), (2, 1, 8)], [(9, 2, 1), (8, 1, 2)], False, id="columns_that_fit_two_ways"),
        pytest.param("paper", [(1, 2, 9), (2, 1, 8)], [(9, 2, 1), (8, 1, 2)], True, id="paper_permutes_columns"),
        pytest.param("paper", [(1, 2), (2, 1)], [(1, 1), (2, 2)], False, id="columns_are_not_sorted_apart"),
        pytest.param("strict", [(1, "a")], [("a", 1)], False, id="strict_keeps_columns"),
        pytest.param("strict", [(1,)], [(1.0,)], False, id="strict_tells_types"),
        pytest.param("strict", [(1,)], [(True,)], False, id="strict_tells_truth_values"),
        pytest.param("strict", [(0.5,), (None,)], [(None,), (0.5,)], True, id="strict_is_a_bag"),
        pytest.param("dbt", [(1,), (2,)], [(7, 1), (8, 2)], True, id="dbt_allows_more_columns"),
        pytest.param("dbt", [(1, "a"), (2, "b")], [("b", 1, 0), ("a", 2, 0)], False, id="dbt_pairs_whole_rows"),
        pytest.param("dbt", [(5, 5)], [(5, 6)], False, id="one_column_answers_once"),
        pytest.param("default", [(1,), (2,)], [(7, 1), (8, 2)], False, id="more_columns_are_too_many"),
        pytest.param("spider:keep_distinct", [(1, 2)], [(2, 1)], True, id="spider_permutes_columns"),
        pytest.param("spider:keep_distinct", [(1,), (1,)], [(1,)], False, id="spider_counts_repeats"),
        pytest.param("spider2", [("007",)], [(7, 1)], True, id="spider2_reads_numbers_from_text"),
        pytest.param("spider2", [(None,)], [(0,)], True, id="spider2_takes_null_for_zero"),
        pytest.param("spider2", [(1, 2), (2, 1)], [(1, 1), (2, 2)], True, id="spider2_loses_pairs"),
        pytest.param("spider2", [(0.5,)], [(0.52,)], False, id="spider2_tolerance_ends"),
        pytest.param("defog", [(1,), (1,)], [(3, 1)], True, id="defog_finds_columns_without_repeats"),
        pytest.param("defog", [(1, "a"), (2, "b")], [("b", 1), ("a", 2)], False, id="defog_pairs_rows"),
        pytest.param("defog", [(4,)], [], True, id="defog_stretches_an_empty_prediction"),
        pytest.param("defog", [(4,), (5,)], [], False, id="defog_needs_one_row_to_stretch"),
    ],
)
def test_presets(
    policy: str, gold: list[tuple[object, ...]], predicted: list[tuple[object, ...]], is_match: bool
) -> None:
    assert compare(table(*gold), table(*predicted), PRESETS[policy]).is_match is is_match


@pytest.mark.parametrize(
    "gold, predicted, is_match",
    [
        pytest.param("home away", "away home", False, id="labels_contradict_symmetric_values"),
        pytest.param("home away", "a b", True, id="other_labels_say_nothing"),
        pytest.param("home away", "HOME AWAY", True, id="labels_agree_without_case"),
    ],
)
def test_symmetric_columns(gold: str, predicted: str, is_match: bool) -> None:
    rows = [(1, 2), (2, 1), (3, 3)]
    swapped = [(away, home) for home, away in rows]
    assert compare(table(*rows, columns=gold), table(*swapped, columns=predicted), DEFAULT).is_match is is_match


def test_labels_settle_what_values_leave_open() -> None:
    gold = table((1, 2, 9), (2, 1, 8), columns="home away id")
    predicted = table((9, 2, 1), (8, 1, 2), columns="id away home")
    assert compare(gold, predicted, DEFAULT).flags == ("columns_permuted",)


def test_equal_columns_may_be_swapped_under_any_label() -> None:
    assert compare(table((1, 1), columns="low high"), table((1, 1), columns="high low"), DEFAULT) == Match(True)


@pytest.mark.parametrize(
    "predicted, is_match",
    [("b a", True), ("B A", True), ("b c", False), ("b a a", False)],
)
def test_names_pair_columns_by_label(predicted: str, is_match: bool) -> None:
    row = tuple({"a": 1, "b": 2, "c": 1}[label] for label in predicted.lower().split())
    match = compare(table((1, 2), columns="a b"), table(row, columns=predicted), Policy(columns="names"))
    assert match.is_match is is_match


@pytest.mark.parametrize(
    "columns, gold_width, predicted_width, is_match",
    [
        ("auto", 1, 1, True),
        ("auto", 1, 3, False),
        ("exact", 2, 1, False),
        ("superset", 1, 3, True),
        ("superset", 2, 1, False),
    ],
)
def test_empty_results_compare_their_columns(
    columns: str, gold_width: int, predicted_width: int, is_match: bool
) -> None:
    gold, predicted = (ResultSet(tuple("abc"[:width]), []) for width in (gold_width, predicted_width))
    match = compare(gold, predicted, parse_policy({"columns": columns}))
    assert (match.is_match, match.flags) == (is_match, ("vacuous",) if is_match else ())


def test_empty_results_fail_where_the_policy_says_so() -> None:
    match = compare(table(), table(), Policy(vacuous="fail"))
    assert (match.is_match, match.reason) == (False, Reason.VACUOUS)


def test_required_columns_are_compared_alone() -> None:
    gold, predicted = table((1, "x"), (2, "y"), columns="id note"), table((1,), (2,), columns="key")
    assert compare(gold, predicted, Policy(required=("ID",))).is_match
    assert compare(gold, predicted, Policy(required=("1",))).is_match
    assert not compare(gold, predicted, Policy(required=("note",))).is_match


def test_required_column_that_the_gold_lacks_is_named() -> None:
    with pytest.raises(UsageError, match=r"requires column 'nme'.*Allowed: id, note"):
        compare(table((1, "x"), columns="id note"), table((1,)), Policy(required=("nme",)))


def test_tolerance_is_flagged() -> None:
    assert compare(table((0.3,)), table((0.1 + 0.2,)), DEFAULT).flags == ("tolerance",)


def test_look_alike_columns_are_compared_at_once() -> None:
    """Trying permutations of 30 columns of zeros and ones would not end before the sun does."""
    gold = [tuple((row >> (place % 5)) & 1 for place in range(30)) for row in range(32)]
    predicted = [row[7:] + row[:7] for row in reversed(gold)]
    assert compare(table(*gold), table(*predicted), PRESETS["paper"]).is_match
    predicted[3] = predicted[4]
    assert not compare(table(*gold), table(*predicted), PRESETS["paper"]).is_match
