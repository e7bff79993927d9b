from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sqlbench.scoring.rows import Residue, bag_residue, is_same_bag, sequence_residue, set_residue
from pytest_sqlbench.scoring.values import Tolerance

EXACT, CLOSE = Tolerance(0.0, 0.0), Tolerance(1e-6, 1e-9)
rows = st.lists(st.tuples(st.sampled_from([0, 1, None, "a"]), st.sampled_from([0.5, 1.5, 2])), max_size=8)


@given(rows, rows)
def test_bag_agrees_with_counting(gold: list[tuple[object, ...]], predicted: list[tuple[object, ...]]) -> None:
    assert is_same_bag(gold, predicted) is (Counter(gold) == Counter(predicted))
    residue = bag_residue(gold, predicted, EXACT)
    assert Counter(gold[i] for i in residue.gold) == Counter(gold) - Counter(predicted)
    assert Counter(predicted[i] for i in residue.predicted) == Counter(predicted) - Counter(gold)


def test_a_row_gives_up_the_only_partner_of_another() -> None:
    gold, predicted = [(999999.9999999999, 0), (999999.0, 0)], [(1000000.0000000998, 0), (999999.0000000999, 0)]
    assert bag_residue(gold, predicted, CLOSE).is_empty
    assert bag_residue(gold[::-1], predicted, CLOSE).is_empty
    assert bag_residue([*gold, (2.5, 1)], [*predicted, (3.5, 1)], CLOSE) == Residue([2], [2], is_close=True)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 2)), max_size=12), st.randoms(use_true_random=False))
def test_noise_far_below_the_tolerance_is_forgiven(gold: list[tuple[float, int]], draw: object) -> None:
    noisy = [(number * (1 + 1e-13), key) for number, key in gold]
    draw.shuffle(noisy)  # type: ignore[attr-defined]  # a random.Random
    assert bag_residue(gold, noisy, CLOSE).is_empty


@pytest.mark.parametrize(
    "gold, predicted, residue",
    [
        pytest.param([(1,), (1,)], [(1,)], Residue([0], []), id="repeat_is_left_over"),
        pytest.param([(1.5,)], [(1.5 + 1e-9,)], Residue([], [], True), id="close_fractions_pair"),
        pytest.param([(10**7,)], [(10**7 + 1,)], Residue([0], [0]), id="whole_numbers_never_pair"),
        pytest.param(
            [(1.0000001, 1), (1.0000002, 2)],
            [(1.0000002, 1), (1.0000001, 2)],
            Residue([], [], True),
            id="pairs_cross",
        ),
        pytest.param(
            [(1.0,), (1.0000005,), (1.000001,)],
            [(1.0000014,), (1.0000009,), (1.0000005,)],
            Residue([], [], True),
            id="chains_are_paired_by_search",
        ),
        pytest.param([(1, 2)], [(1,)], Residue([0], [0]), id="widths_differ"),
    ],
)
def test_bag_residue(gold: list[tuple[object, ...]], predicted: list[tuple[object, ...]], residue: Residue) -> None:
    assert bag_residue(gold, predicted, CLOSE) == residue


def test_sets_forget_repeats_and_keep_closeness() -> None:
    assert set_residue([(1,), (1,)], [(1,)], CLOSE).is_empty
    assert set_residue([(0.3,)], [(0.1 + 0.2,)], CLOSE) == Residue([], [], True)
    assert set_residue([(1,), (2,), (2,)], [(1,), (3,)], EXACT) == Residue([1], [1])


def test_sequences_count_from_the_first_difference() -> None:
    assert sequence_residue([(1,), (2,), (3,)], [(1,), (3,), (2,)], EXACT) == Residue([1, 2], [1, 2])
    assert sequence_residue([(1,)], [(1,), (2,)], EXACT) == Residue([], [1])
