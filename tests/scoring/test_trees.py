"""Components from sqlglot's tree: the same rules in any dialect, and the official reader's bugs put right."""

from __future__ import annotations

import logging
import statistics
import time

import pytest

from pytest_sqlbench.scoring.pcm.score import query_components, score_components
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable
from pytest_sqlbench.scoring.trees import tree_components
from tests.scoring.pcm.test_hostile import HOSTILE
from tests.scoring.pcm.test_quirks import ROWS
from tests.shared_data import shared


def f1(gold: str, predicted: str, dialect: str = "sqlite", **settings: bool) -> float:
    return score_components(
        tree_components(gold, dialect, **settings), tree_components(predicted, dialect, **settings)
    ).f1


def test_lists_follow_the_official_rules() -> None:
    """On a query without any of the reader's bugs both parsers give the same lists, but for the count's order."""
    text = "select a, max(b) from t join u on t.i = u.i where c = 1 and d < 2 group by a having e > 3 order by a desc"
    assert tree_components(text, "sqlite") == query_components(text)


@pytest.mark.parametrize(
    ("gold", "predicted", "value"), [(row[1], row[2], row[4]) for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_quirks_have_their_own_values(gold: str, predicted: str, value: str, caplog: pytest.LogCaptureFixture) -> None:
    """A dash stands for T-SQL that sqlglot cannot read."""
    caplog.set_level(logging.CRITICAL)
    if value == "-":
        with pytest.raises(Unreadable):
            f1(gold, predicted, "tsql")
    else:
        assert f1(gold, predicted, "tsql") == pytest.approx(float(value), abs=1e-6)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("select a from t where b between 1 and 2", "select a from t where b >= 1 and b <= 2"),
        ("select a from t where (b = 1)", "select a from t where b = 1"),
        ("select a from t where not b is null", "select a from t where b is not null"),
        ("select a from t join u using (i)", "select a from t join u on t.i = u.i"),
        ("select a from s.t", "select a from t"),
        ("(select a from t)", "select a from t"),
        ("select cast(a as int) from t", "select a from t"),
    ],
    ids=["between", "parentheses", "not_null", "using", "schema", "whole_query_in_parentheses", "cast"],
)
def test_spellings_that_mean_the_same_score_one(gold: str, predicted: str) -> None:
    assert f1(gold, predicted) == 1.0


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("select a from t where b = 1 or c = 2", "select a from t where b = 1 or not c = 2"),
        ("select a from t where b not between 1 and 2", "select a from t where b between 1 and 2"),
        ("select a from t where exists (select 1 from u)", "select a from t where exists (select 1 from v)"),
        ("select case when a = 1 then 2 else 3 end from t", "select case when a = 1 then 2 else 4 end from t"),
        ("select a from t union select b from u limit 1", "select a from t union select b from u limit 2"),
        ("select sum(a) over (partition by b) from t", "select sum(a) over (partition by c) from t"),
        ("select coalesce(a, 0) from t", "select coalesce(a, 1) from t"),
    ],
    ids=["not", "not_between", "exists", "else", "limit_of_a_union", "partition", "zero"],
)
def test_meanings_that_differ_score_less(gold: str, predicted: str) -> None:
    assert f1(gold, predicted) < 1.0


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "select a::int, b ->> 'x' from t where c ilike 'y%' and d = any(array[1, 2]) limit 3 offset 1"),
        ("mysql", "select `a`, date_sub(b, interval 1 day) from t where c regexp 'x' limit 1, 2"),
        ("duckdb", "select * exclude (a), [x for x in b] from t qualify row_number() over (order by a) = 1"),
        ("bigquery", "select unnest(a), struct(b as c) from `p.d.t` where d in unnest([1, 2])"),
        ("sqlite", "with a(b) as (values (1), (2)) select * from a, json_each('[]') where b glob 'x'"),
        ("snowflake", "select a:b.c, iff(d, 1, 2) from t, lateral flatten(input => e) f"),
    ],
)
def test_dialects_are_read(dialect: str, text: str) -> None:
    assert f1(text, text, dialect) == 1.0


def test_without_values_and_on_clause_those_are_alike() -> None:
    gold = "select a from t join u on t.i = u.i where b = 1 and c in (2, 3)"
    predicted = "select a from t join u on t.j = u.k where b = 'x' and c in (d, 5)"
    assert f1(gold, predicted) < 1.0
    assert f1(gold, predicted, values=False, on_clause=False) == 1.0


@pytest.mark.parametrize("text", ["", "select", "drop table t", "select 1; select 2", "not sql at all"])
def test_other_texts_are_unreadable(text: str) -> None:
    with pytest.raises(Unreadable, match="grammar of sqlite"):
        tree_components(text, "sqlite")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_gets_an_answer_in_time(text: str) -> None:
    began = time.process_time()
    try:
        components = tree_components(text, "sqlite")
    except Unreadable:
        components = tree_components("select a from t", "sqlite")
    assert 0.0 <= score_components(components, components).f1 <= 1.0
    assert time.process_time() - began < 4.0


def test_equivalent_pairs_score_high() -> None:
    """Predictions that mean what their gold means; all have placeholders for values, 323 join one table more."""
    lines = shared("verdicts/equivalent_pairs.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t")[1:3] for line in lines if not line.startswith("database name\t")]
    both: dict[bool, list[float]] = {}
    for counts in (True, False):
        values: list[float] = []
        for gold, predicted in pairs:
            try:
                values.append(f1(gold, predicted, values=counts, on_clause=counts))
            except Unreadable:
                values.append(0.0)
        both[counts] = values
    assert len(pairs) == 558
    assert statistics.median(both[True]) == pytest.approx(0.863, abs=0.005)
    assert statistics.median(both[False]) >= 0.9
