"""`evaluate_sql` judges without pytest, by the same code, and bad SQL is a verdict."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench import evaluate_sql, load_suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.result import QueryFailure, ResultSet
from pytest_sqlbench.verdict import Outcome, Reason


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y');")
    connection.close()
    return path


def test_a_right_answer_has_both_results(database: Path) -> None:
    verdict = evaluate_sql("SELECT a FROM t", "```sql\nSELECT a FROM t WHERE a > 0;\n```", database)
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.CORRECT, 1.0, None)
    assert isinstance(verdict.gold_result, ResultSet)
    assert isinstance(verdict.predicted_result, ResultSet)
    assert verdict.gold_result.rows == verdict.predicted_result.rows == [(1,), (2,)]


def test_any_of_several_golds_is_enough(database: Path) -> None:
    verdict = evaluate_sql(["SELECT b FROM t", "SELECT a FROM t"], "SELECT a FROM t", database)
    assert (verdict.outcome, verdict.gold) == (Outcome.CORRECT, "SELECT a FROM t")


@pytest.mark.parametrize(
    "sql, reason",
    [
        ("", Reason.NO_SQL),
        ("SELECT", Reason.SYNTAX),
        ("SELECT c FROM t", Reason.NO_SUCH_COLUMN),
        ('SELECT "c" FROM t', Reason.NO_SUCH_COLUMN),
        ("SELECT a FROM u", Reason.NO_SUCH_TABLE),
        ("DELETE FROM t", Reason.REFUSED),
        ("SELECT a FROM t; DROP TABLE t", Reason.SEVERAL_STATEMENTS),
        ("SELECT a FROM t WHERE a = 1", Reason.ROW_COUNT),
        ("WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT COUNT(*) FROM x", Reason.TIMEOUT),
    ],
)
def test_bad_sql_is_a_verdict(database: Path, sql: str, reason: Reason) -> None:
    before = database.read_bytes()
    verdict = evaluate_sql("SELECT a FROM t", sql, database, timeout_s=0.5)
    assert (verdict.outcome, verdict.reason) == (Outcome.WRONG, reason)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_gold_that_fails_is_not_the_models_fault(database: Path) -> None:
    verdict = evaluate_sql("SELECT c FROM t", "SELECT a FROM t", database)
    assert (verdict.outcome, verdict.reason) == (Outcome.GOLD_ERROR, Reason.GOLD_FAILED)
    assert isinstance(verdict.gold_result, QueryFailure)


@pytest.mark.parametrize(
    "gold, path, policy, wanted",
    [
        ("", "shop.db", "default", "gold is ''"),
        ([], "shop.db", "default", "gold is \\[\\]"),
        ("SELECT 1", "gone.db", "default", "no such database file"),
        ("SELECT 1", "shop.db", "nice", "unknown policy 'nice'"),
    ],
)
def test_a_fault_of_the_caller_is_one_line(database: Path, gold: str, path: str, policy: str, wanted: str) -> None:
    with pytest.raises(UsageError, match=wanted):
        evaluate_sql(gold, "SELECT 1", database.parent / path, policy=policy)


def test_suites_load_without_pytest() -> None:
    suite = load_suite(Path(__file__).parent.parent / "cases" / "shop.yaml")
    assert suite.name == "shop"
    assert len(suite.cases) >= 20
