from __future__ import annotations

import pytest

from pytest_sqlbench.scoring.sqltext import OrderPlan, is_too_big, parse, plan_order, translate


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("", id="nothing"),
        pytest.param("-- only a comment", id="comment"),
        pytest.param("SELECT (", id="unfinished"),
        pytest.param("SELECT 1; SELECT 2", id="two_statements"),
        pytest.param("SELECT * FROM " + "(" * 16_000, id="brackets_that_crash_compiled_parsers"),
        pytest.param("SELECT " + "(" * 60 + "1" + ")" * 60, id="nested_too_deeply"),
        pytest.param("SELECT " + "CASE WHEN 1 THEN " * 60 + "1" + " END" * 60, id="nested_case"),
        pytest.param("SELECT 1 " + "x" * 100_001, id="too_long"),
        pytest.param("SELECT " + " + ".join(["1"] * 15_000), id="too_many_nodes"),
    ],
)
def test_texts_that_have_no_tree(sql: str) -> None:
    assert parse(sql) is None


@pytest.mark.parametrize("depth, answer", [(40, False), (41, True)])
def test_depth_ends_at_forty(depth: int, answer: bool) -> None:
    assert is_too_big("(" * depth + "1" + ")" * depth) is answer


def test_brackets_in_text_are_no_nesting() -> None:
    assert not is_too_big("SELECT '" + "(" * 99 + "' -- " + "(" * 99)


@pytest.mark.parametrize(
    "sql, plan",
    [
        pytest.param("SELECT a, b FROM t ORDER BY b, 1", OrderPlan((1, 0), "", needs_query=False), id="selected_keys"),
        pytest.param(
            "SELECT a FROM t ORDER BY b",
            OrderPlan((None,), "SELECT a, b FROM t ORDER BY b", needs_query=True),
            id="key_that_is_not_selected",
        ),
        pytest.param(
            "SELECT t.a AS x FROM t ORDER BY -x",
            OrderPlan((None,), "SELECT t.a AS x, -(t.a) FROM t ORDER BY -x", needs_query=True),
            id="aliases_are_spelled_out",
        ),
        pytest.param(
            "SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 2",
            OrderPlan((0,), "SELECT a FROM t ORDER BY a LIMIT 1007", needs_query=True, offset=2),
            id="limit_and_offset_are_lifted",
        ),
        pytest.param(
            "SELECT a FROM t ORDER BY a LIMIT (SELECT 1)",
            OrderPlan((0,), "SELECT a FROM t ORDER BY a LIMIT (SELECT 1)", needs_query=True),
            id="limit_that_is_no_number_stays",
        ),
        pytest.param("SELECT DISTINCT a FROM t ORDER BY b", None, id="distinct_hides_its_keys"),
        pytest.param("SELECT a FROM t UNION SELECT b FROM u ORDER BY c", None, id="compound_hides_its_keys"),
        pytest.param("no sql at all", None, id="no_query"),
    ],
)
def test_plan_order(sql: str, plan: OrderPlan | None) -> None:
    assert plan_order(sql) == plan


@pytest.mark.parametrize(
    "sql, source, target, written",
    [
        ("SELECT DATEDIFF(day, a, b) FROM t", "snowflake", "duckdb", "SELECT DATE_DIFF('DAY', a, b) FROM t"),
        ("SELECT TOP 3 [a b] FROM t", "tsql", "sqlite", 'SELECT "a b" FROM t LIMIT 3'),
        ("SELECT (", "snowflake", "duckdb", None),
        ("SELECT 1; SELECT 2", "snowflake", "duckdb", None),
        ("SELECT " + "(" * 500 + "1" + ")" * 500, "snowflake", "duckdb", None),
    ],
    ids=["function", "limit", "no_grammar", "two_statements", "too_deep"],
)
def test_a_query_is_written_in_another_dialect_or_not_at_all(
    sql: str, source: str, target: str, written: str | None
) -> None:
    assert translate(sql, source, target) == written
