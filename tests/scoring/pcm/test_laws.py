"""Laws that hold for any text and any query, on generated ones."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pytest_sqlbench import pcm_score
from pytest_sqlbench.errors import UnscorableGold

GOLD = "select top 5 a, f(b) from t join u on t.a = u.b where a = 1 and b in (2, 3) group by a order by a desc"
WORDS = """
select from where group by order having top limit and or not in is null between like exists case when then else end
as on join left union all with cast over partition distinct ( ) ( ) , , . * = <> < + - / ' " [ ] ## -- /* */ ; @x :: a b
t u 1 0 2.5 'x' "y" count sum year interval format declare values int \n
""".split(" ")

texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))


@given(texts)
def test_any_prediction_scores_from_0_to_1(text: str) -> None:
    score = pcm_score(GOLD, text)
    assert 0.0 <= score.f1 <= 1.0
    assert score.em in (0.0, 1.0)
    assert all(0.0 <= value <= 1.0 for value in score.components.values())


@given(texts)
def test_any_gold_is_scored_or_unscorable(text: str) -> None:
    """A scorable gold with at least one item scores 1 against itself."""
    try:
        score = pcm_score(text, text)
    except UnscorableGold:
        return
    assert score.f1 == (1.0 if score.components else 0.0)


names = st.sampled_from(["id", "score", "name", "owner_id"])
tables = st.sampled_from(["posts", "users", "votes"])
columns = st.builds("{}.{}".format, st.sampled_from(["<one>", "<two>"]), names)
values = st.one_of(st.integers(0, 99).map(str), st.just("'x'"), columns)
expressions = st.one_of(
    columns, st.builds("count({})".format, columns), st.builds("({} + {}) * {}".format, columns, values, columns)
)
comparisons = st.one_of(
    st.builds("{} {} {}".format, expressions, st.sampled_from(["=", "<>", "<", ">="]), values),
    st.builds("{} between {} and {}".format, columns, values, values),
    st.builds("{} is not null".format, columns),
    st.builds("not exists (select <one>.id from {} <one> where {} = 1)".format, tables, columns),
    st.builds("{} in (select <two>.id from {} <two>)".format, columns, tables),
)
conditions = st.lists(comparisons, min_size=1, max_size=4).map(" and ".join)
items = st.lists(expressions, min_size=1, max_size=4).map(", ".join)
queries = st.builds(
    "select {} from {} <one> join {} <two> on {} where {} group by {} order by {} desc".format,
    items,
    tables,
    tables,
    conditions,
    conditions,
    columns,
    columns,
)


def named(query: str, one: str, two: str) -> str:
    return query.replace("<one>", one).replace("<two>", two)


@given(queries)
def test_query_equals_itself(query: str) -> None:
    score = pcm_score(named(query, "a", "b"), named(query, "a", "b"))
    assert (score.f1, score.em) == (1.0, 1.0)


@given(queries, queries)
def test_renaming_table_aliases_changes_nothing(gold: str, predicted: str) -> None:
    before = pcm_score(named(gold, "p", "u"), named(predicted, "p", "u"))
    after = pcm_score(named(gold, "t1", "t2"), named(predicted, "x", "y"))
    assert before == after


@given(queries, queries)
def test_case_and_white_space_change_nothing(gold: str, predicted: str) -> None:
    plain = pcm_score(named(gold, "p", "u"), named(predicted, "p", "u"))
    loud = re.sub(r"(?<=[\w)]) (?=\w)", "\n\t ", named(predicted, "P", "U")).upper()
    assert pcm_score(named(gold, "p", "u"), loud) == plain


@given(queries, queries, st.booleans(), st.booleans())
def test_swapping_gold_and_prediction_keeps_which_components_count(
    gold: str, predicted: str, keeps_values: bool, reads_on: bool
) -> None:
    """The metric is not symmetric, but the same components count either way."""
    one = pcm_score(named(gold, "a", "b"), named(predicted, "a", "b"), values=keeps_values, on_clause=reads_on)
    two = pcm_score(named(predicted, "a", "b"), named(gold, "a", "b"), values=keeps_values, on_clause=reads_on)
    assert one.components.keys() == two.components.keys()
