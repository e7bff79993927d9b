"""The micro F1 over all clauses, and what two queries share clause by clause."""

from __future__ import annotations

import pytest

from pytest_sqlbench.scoring.pcm.clauses import Difference, clause_f1, compare_clauses
from pytest_sqlbench.scoring.pcm.score import query_components, score_components
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable
from tests.scoring.pcm.test_parity import records
from tests.shared_data import shared


@pytest.mark.parametrize(
    ("gold", "predicted", "f1"),
    [
        ("select a from t", "select a from t", 1.0),
        ("select a from t", "select b from u", 0.0),
        ("select a from t", "select a from t order by a", 0.5),
        ("select a, b from t", "select b, a from t", 0.75),
        ("select 1", "select 1", 0.0),
    ],
    ids=["equal", "disjoint", "absent_clause_costs_its_items", "nested_items_are_exact", "nothing"],
)
def test_clause_f1(gold: str, predicted: str, f1: float) -> None:
    assert clause_f1(query_components(gold), query_components(predicted)) == pytest.approx(f1)


def test_differences_list_plain_items() -> None:
    gold = query_components("select a, b from t where c = 1")
    predicted = query_components("select a from t where d = 1")
    assert compare_clauses(gold, predicted) == [
        Difference("select", ("a",), ("b",), ()),
        Difference("from", ("t",), (), ()),
        Difference("where", ("1", "="), ("c",), ("d",)),
    ]


def test_clause_f1_is_not_pcm_f1() -> None:
    """On the parity set the two differ by 0.058 on average; 87 pairs are exact to the one and not to the other."""
    apart: list[float] = []
    only_pcm = only_micro = 0
    for record in records(shared("sede/parity.jsonl")):
        try:
            gold, predicted = query_components(record["gold"]), query_components(record["pred"])
        except Unreadable:
            continue
        micro, pcm = clause_f1(gold, predicted), score_components(gold, predicted)
        apart.append(abs(micro - pcm.f1))
        only_pcm += pcm.em == 1.0 and micro < 1.0
        only_micro += pcm.em < 1.0 and micro == 1.0
    assert (len(apart), only_pcm, only_micro) == (5265, 87, 0)
    assert sum(apart) / len(apart) == pytest.approx(0.058, abs=0.001)
