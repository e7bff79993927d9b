"""What `pcm_score` says beside F1 and EM, and its two settings."""

from __future__ import annotations

import pytest

from pytest_sqlbench import PcmScore, pcm_score
from pytest_sqlbench.errors import UnscorableGold


def test_components_hold_those_that_either_query_has() -> None:
    """A component of neither side is left out; one of a single side scores 0."""
    score = pcm_score("select a from t where b = 1", "select a from u order by a")
    assert dict(score.components) == {"select": 1.0, "from": 0.0, "where": 0.0, "order": 0.0}
    assert score.f1 == 0.25


def test_components_come_in_the_order_of_the_official_sum() -> None:
    text = "select top 3 a from t where b = 1 group by a having count(*) > 1 order by a"
    score = pcm_score(text, text)
    assert list(score.components) == ["select", "top", "from", "group", "having", "where", "order"]


def test_pair_without_any_item_scores_zero() -> None:
    """A query of nothing but a number equals itself and scores 0, as officially."""
    assert pcm_score("select 1", "select 1") == PcmScore(0.0, 0.0, {}, True)


@pytest.mark.parametrize(
    ("gold", "predicted", "f1"),
    [
        ("select a from t where b = 1", "select a from t where b = 2", 1.0),
        ("select top 10 a from t", "select top 99 a from t", 2 / 3),
        ("select a from t group by 1", "select a from t group by 2", 1.0),
        ("select a from t where b = c", "select a from t where b = d", 1.0),
        ("select a from t where b = c", "select a from t where c = b", 0.9166666666666666),
        ("select a from t where b = 'x'", "select a from t where b = 'y'", 1.0),
        ("select a, 'x' from t", "select a, 'y' from t", 0.8333333333333333),
    ],
    ids=["numbers", "top_still_counts", "group_number", "right_columns", "left_columns_count", "strings", "selected"],
)
def test_without_values_operands_on_the_right_are_alike(gold: str, predicted: str, f1: float) -> None:
    assert pcm_score(gold, predicted, values=False).f1 == pytest.approx(f1, abs=1e-9)


def test_without_on_clause_join_conditions_are_alike() -> None:
    gold, predicted = "select a from t join u on t.i = u.i", "select a from t join u on t.j = u.k"
    assert pcm_score(gold, predicted).f1 == 0.875
    assert pcm_score(gold, predicted, on_clause=False).f1 == 1.0


def test_unscorable_gold_says_what_stopped_the_parser() -> None:
    with pytest.raises(UnscorableGold, match=r"unexpected '=' as token 3"):
        pcm_score("select x = a from t", "select a from t")
