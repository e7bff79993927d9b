from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from pytest_sqlbench.policy import PRESETS, Policy
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.verdict import Match, Reason
from tests.scoring.results import order_of, query


@pytest.fixture
def shop() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        """
        CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT, dept TEXT, salary REAL);
        INSERT INTO emp VALUES (1,'Ann','eng',100),(2,'Bob','eng',80),(3,'Cid','ops',80),(4,'Dee','ops',60),
            (5,'Eve','hr',60);
        """
    )
    yield connection
    connection.close()


def judge(connection: sqlite3.Connection, gold: str, predicted: str, policy: str = "default") -> Match:
    results = query(connection, gold), query(connection, predicted)
    assert isinstance(results[0], ResultSet)
    assert isinstance(results[1], ResultSet)
    return compare(*results, PRESETS[policy], order=order_of(connection, gold))


@pytest.mark.parametrize(
    "gold, predicted, flags",
    [
        pytest.param(
            "SELECT name, salary FROM emp ORDER BY salary DESC",
            "SELECT name, salary FROM emp ORDER BY salary DESC, name DESC",
            ("ties",),
            id="ties_come_in_any_order",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary DESC",
            "SELECT name FROM emp ORDER BY salary DESC, name DESC",
            ("ties",),
            id="ties_under_a_key_that_is_not_selected",
        ),
        pytest.param(
            "SELECT dept, COUNT(*) AS n FROM emp GROUP BY dept ORDER BY n DESC",
            "SELECT dept, COUNT(*) FROM emp GROUP BY dept ORDER BY 2 DESC, 1",
            ("ties",),
            id="ties_under_an_alias",
        ),
        pytest.param(
            "SELECT dept FROM emp GROUP BY dept ORDER BY COUNT(*) DESC",
            "SELECT dept FROM emp GROUP BY dept ORDER BY COUNT(*) DESC, dept",
            ("ties",),
            id="ties_under_an_aggregate",
        ),
        pytest.param(
            "SELECT * FROM emp ORDER BY salary",
            "SELECT * FROM emp ORDER BY salary, id DESC",
            ("ties",),
            id="ties_of_whole_rows",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary LIMIT 1",
            "SELECT name FROM emp ORDER BY salary, name DESC LIMIT 1",
            ("ties", "tie_at_cut"),
            id="tie_at_the_cut",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary DESC LIMIT 1 OFFSET 1",
            "SELECT 'Cid'",
            ("ties", "tie_at_cut"),
            id="tie_at_the_cut_after_an_offset",
        ),
        pytest.param(
            "SELECT dept FROM emp UNION ALL SELECT 'eng' ORDER BY dept LIMIT 2",
            "SELECT 'eng' UNION ALL SELECT 'eng'",
            (),
            id="compound_query",
        ),
        pytest.param(
            "SELECT name FROM emp LIMIT 2",
            "SELECT name FROM emp WHERE id IN (3, 4)",
            ("ties", "arbitrary_cut"),
            id="limit_without_order_takes_any_rows",
        ),
        pytest.param(
            "SELECT name FROM emp WHERE id IN (SELECT id FROM emp ORDER BY salary DESC LIMIT 1)",
            "SELECT name FROM emp ORDER BY salary DESC LIMIT 1",
            (),
            id="order_of_a_subquery_is_not_asked_for",
        ),
        pytest.param(
            "SELECT name, dept FROM emp ORDER BY dept",
            "SELECT dept, name FROM emp ORDER BY dept, name DESC",
            ("ties", "columns_permuted"),
            id="ties_with_columns_in_another_order",
        ),
    ],
)
def test_order_that_is_free(shop: sqlite3.Connection, gold: str, predicted: str, flags: tuple[str, ...]) -> None:
    match = judge(shop, gold, predicted)
    assert (match.is_match, match.flags) == (True, flags)


@pytest.mark.parametrize(
    "gold, predicted, reason",
    [
        pytest.param(
            "SELECT name FROM emp ORDER BY salary DESC, name",
            "SELECT name FROM emp ORDER BY salary DESC, name DESC",
            Reason.ORDER_ONLY,
            id="second_key_breaks_the_tie",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary",
            "SELECT name FROM emp ORDER BY salary DESC",
            Reason.ORDER_ONLY,
            id="other_direction",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary LIMIT 1",
            "SELECT name FROM emp ORDER BY salary DESC LIMIT 1",
            Reason.VALUES,
            id="row_from_another_group",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary LIMIT 3",
            "SELECT name FROM emp WHERE id IN (2, 3, 4) ORDER BY salary",
            Reason.VALUES,
            id="group_before_the_cut_must_be_whole",
        ),
        pytest.param(
            "SELECT name FROM emp LIMIT 2",
            "SELECT 'Ann' UNION ALL SELECT 'Ann'",
            Reason.VALUES,
            id="any_rows_are_not_the_same_row_twice",
        ),
        pytest.param(
            "SELECT DISTINCT name FROM emp ORDER BY salary",
            "SELECT DISTINCT name FROM emp ORDER BY salary, name DESC",
            Reason.ORDER_ONLY,
            id="keys_hidden_by_distinct_leave_the_order_as_it_is",
        ),
    ],
)
def test_order_that_is_asked_for(shop: sqlite3.Connection, gold: str, predicted: str, reason: Reason) -> None:
    match = judge(shop, gold, predicted)
    assert (match.is_match, match.reason) == (False, reason)


def test_multiset_policy_asks_for_no_order(shop: sqlite3.Connection) -> None:
    assert judge(shop, "SELECT name FROM emp ORDER BY name", "SELECT name FROM emp ORDER BY 1 DESC", "paper").is_match


def test_variant_runs_only_where_rows_stand_in_another_order(shop: sqlite3.Connection) -> None:
    asked: list[str] = []

    def fetch(sql: str) -> ResultSet | QueryFailure:
        asked.append(sql)
        return query(shop, sql)

    gold = "SELECT name FROM emp ORDER BY salary DESC"
    order = GoldOrder(gold, "sqlite", fetch)
    result = query(shop, gold)
    assert isinstance(result, ResultSet)
    for _ in range(2):
        compare(result, result, PRESETS["default"], order=order)
    assert asked == []
    other = ResultSet(result.columns, [result.rows[place] for place in (0, 2, 1, 3, 4)])
    for _ in range(2):
        assert compare(result, other, PRESETS["default"], order=order).flags == ("ties",)
    assert asked == ["SELECT name, salary FROM emp ORDER BY salary DESC"]


def test_failing_variant_leaves_the_order_as_it_is() -> None:
    order = GoldOrder("SELECT a FROM t ORDER BY b", "sqlite", lambda sql: QueryFailure(Status.ERROR, "no"))
    gold, predicted = ResultSet(("a",), [(1,), (2,)]), ResultSet(("a",), [(2,), (1,)])
    assert compare(gold, predicted, PRESETS["default"], order=order).reason is Reason.ORDER_ONLY


@pytest.mark.parametrize(
    "predicted, is_match",
    [
        pytest.param("SELECT id, name FROM emp ORDER BY salary DESC, id DESC", True, id="ties_come_in_any_order"),
        pytest.param("SELECT id, name FROM emp ORDER BY salary", False, id="another_order_is_wrong"),
    ],
)
def test_a_sort_key_need_not_be_a_required_column(shop: sqlite3.Connection, predicted: str, is_match: bool) -> None:
    gold = "SELECT id, salary, name FROM emp ORDER BY salary DESC"
    results = query(shop, gold), query(shop, predicted)
    assert isinstance(results[0], ResultSet)
    assert isinstance(results[1], ResultSet)
    policy = Policy(required=("id", "name"))
    assert compare(*results, policy, order=order_of(shop, gold)).is_match is is_match
