"""Queries that run twice: what differs is noted, what does not is left alone; golds that are kept count as golds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.result import Engine, Limits, QueryFailure, ResultSet
from pytest_sqlbench.settings import Settings

MANY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200000) SELECT x FROM c"


def _open(path: Path, **settings: object) -> Engine:
    path = path / "n.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE n(i, k); INSERT INTO n VALUES (1, 'a'), (2, 'a'), (3, 'b');")
    connection.close()
    return open_engine("sqlite", Database("n", path), Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["run_gold", "run_prediction"])
@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize(
    "query, is_stable",
    [
        ("SELECT i FROM n", True),
        ("SELECT i FROM n ORDER BY k", True),
        ("SELECT count(*) FROM n", True),
        ("SELECT i FROM n LIMIT 1", False),
        ("SELECT random()", False),
    ],
)
def test_what_depends_on_chance_or_order_is_noted(
    tmp_path: Path, method: str, in_process: bool, query: str, is_stable: bool
) -> None:
    engine = _open(tmp_path, repeats_queries=2, runs_in_process=in_process)
    found = getattr(engine, method)(query)
    assert isinstance(found, ResultSet)
    assert any("second run" in note for note in found.warnings) is not is_stable
    assert engine.run_prediction("SELECT i FROM n LIMIT 1").rows == [(1,)]  # type: ignore[union-attr]
    engine.close()


def test_a_kept_gold_allows_its_rows(tmp_path: Path) -> None:
    engine = _open(tmp_path, cache_dir=tmp_path / "cache", limits=Limits(rows=100_000))
    for _ in range(2):
        assert isinstance(engine.run_prediction(MANY), QueryFailure)
        gold = engine.run_gold(MANY)
        assert isinstance(gold, ResultSet)
        assert engine.run_prediction(MANY) == _same_rows(gold)
        engine.run_gold("SELECT 1")
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 1
    engine.close()


class _same_rows:  # noqa: N801 - reads as a value
    def __init__(self, result: ResultSet) -> None:
        self.rows = result.rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResultSet) and other.rows == self.rows

    __hash__ = None  # type: ignore[assignment]
