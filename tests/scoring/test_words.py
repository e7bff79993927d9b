from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sqlbench.scoring.words import has_top_level_order, may_cut_rows, scan_words, without_distinct


@pytest.mark.parametrize(
    "sql, is_ordered",
    [
        pytest.param("SELECT a FROM t ORDER BY b", True, id="plain"),
        pytest.param("select a from t order\n  by b limit 3", True, id="over_two_lines"),
        pytest.param("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", True, id="of_a_compound"),
        pytest.param("(SELECT a FROM t ORDER BY a)", True, id="whole_query_in_brackets"),
        pytest.param("WITH x AS (SELECT 1) SELECT * FROM x ORDER BY 1", True, id="after_a_cte"),
        pytest.param("SELECT ?a WHERE { ?a ?b ?c } ORDER BY ?a", True, id="sparql"),
        pytest.param("SELECT * WHERE { { SELECT ?a WHERE {} ORDER BY ?a } }", False, id="sparql_subquery"),
        pytest.param("SELECT a FROM (SELECT a FROM t ORDER BY b)", False, id="in_a_subquery"),
        pytest.param("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t", False, id="in_a_window"),
        pytest.param("SELECT 'it''s order by' FROM t", False, id="in_text"),
        pytest.param('SELECT a AS "order by" FROM t', False, id="in_a_name"),
        pytest.param("SELECT a FROM t -- order by a", False, id="in_a_comment"),
        pytest.param("SELECT a /* order by */ FROM t", False, id="in_a_block_comment"),
        pytest.param("SELECT order_id, by_whom FROM orders", False, id="in_longer_words"),
        pytest.param("(SELECT a FROM t ORDER BY a LIMIT 1) UNION (SELECT 1)", False, id="of_one_side_of_a_union"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_top_level_order(sql: str, is_ordered: bool) -> None:
    assert has_top_level_order(sql) is is_ordered


@pytest.mark.parametrize("sql, answer", [("SELECT TOP 3 a FROM t", True), ("SELECT a FROM t", False)])
def test_may_cut_rows(sql: str, answer: bool) -> None:
    assert may_cut_rows(sql) is answer


@pytest.mark.parametrize(
    "sql, stripped",
    [
        ("SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
        ("SELECT count(distinct a) FROM t", "SELECT count( a) FROM t"),
        ("SELECT 'distinct', \"distinct\" FROM t -- distinct", "SELECT 'distinct', \"distinct\" FROM t -- distinct"),
        ("SELECT distinct_id FROM t", "SELECT distinct_id FROM t"),
    ],
)
def test_without_distinct(sql: str, stripped: str) -> None:
    assert without_distinct(sql) == stripped


@given(st.text(alphabet="'\"`[](){}-*/ \nabORDERby;", max_size=60))
def test_scanning_ends_on_any_text(sql: str) -> None:
    words = list(scan_words(sql))
    assert all(sql[word.start : word.end].lower() == word.text for word in words)
