"""Servers through SQLAlchemy, here PostgreSQL and MariaDB: rows, named failures, deadlines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.sqlalchemy import SqlalchemyEngine, open_engine
from pytest_sqlbench.errors import EngineError, UsageError
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings
from tests.engines.servers import connect_mariadb

pytest.importorskip("sqlalchemy")

FAST = Settings(limits=Limits(timeout_s=1.0, rows=1000, result_bytes=2**20))
SCHEMA = (
    "CREATE TABLE pier(id int PRIMARY KEY, name varchar(20) NOT NULL, depth_m numeric(5,2))",
    "INSERT INTO pier VALUES (1, 'East', 4.50), (2, 'West', NULL)",
)


@pytest.fixture(scope="module", params=["postgresql+psycopg", "mysql+pymysql"])
def engine(request: pytest.FixtureRequest) -> Iterator[SqlalchemyEngine]:
    """An engine over two piers, on each server."""
    if request.param.startswith("postgresql"):
        psycopg = pytest.importorskip("psycopg")
        url = request.getfixturevalue("postgres_url")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE ROLE pilot LOGIN")
            for statement in (*SCHEMA, "GRANT SELECT ON pier TO pilot"):
                connection.execute(statement)
        url = url.replace("postgresql://postgres@", f"{request.param}://pilot@")
    else:
        url = request.getfixturevalue("mariadb_url")
        with connect_mariadb(url) as connection, connection.cursor() as cursor:
            for statement in ("CREATE DATABASE pier", "USE pier", *SCHEMA, "CREATE USER pilot@'%'"):
                cursor.execute(statement)
            cursor.execute("GRANT SELECT ON pier.* TO pilot@'%'")
        url = url.replace("mysql://root@", f"{request.param}://pilot@") + "pier"
    engine = open_engine(Database("pier", url=url), FAST)
    yield engine
    engine.close()


def test_rows_and_labels_come_back(engine: SqlalchemyEngine) -> None:
    for run in (engine.run_gold, engine.run_prediction):
        result = run("SELECT name, depth_m AS depth FROM pier ORDER BY id;")
        assert isinstance(result, ResultSet), result
        assert (result.columns, result.rows) == (("name", "depth"), [("East", Decimal("4.50")), ("West", None)])


@pytest.mark.parametrize(
    "query, status",
    [
        ("SELECT * FROM quay", Status.NO_SUCH_TABLE),
        ("SELECT width FROM pier", Status.NO_SUCH_COLUMN),
        ("SELECT name FRM pier WHERE", Status.SYNTAX),
        ("", Status.NO_RESULT_SET),
        ("SELECT 1; SELECT 2", Status.DENIED),
        ("DROP TABLE pier", Status.DENIED),
        ("SELECT * INTO copy FROM pier", Status.DENIED),
        ("WITH x AS (SELECT 1) DELETE FROM pier", Status.DENIED),
        ("SELECT a.id FROM pier a" + "".join(f", pier {x}" for x in "bcdefghijkl"), Status.ROWS),
    ],
)
def test_each_failure_has_a_name(engine: SqlalchemyEngine, query: str, status: Status) -> None:
    failure = engine.run_prediction(query)
    assert isinstance(failure, QueryFailure)
    assert failure.status is status, failure
    assert engine.run_prediction("SELECT count(*) FROM pier").rows == [(2,)]  # type: ignore[union-attr]


def test_a_late_query_is_left(engine: SqlalchemyEngine) -> None:
    sleep = "pg_sleep" if engine.version.startswith("postgresql") else "sleep"
    start = time.monotonic()
    late = engine.run_prediction(f"SELECT {sleep}(4)")
    assert time.monotonic() - start < 3
    assert isinstance(late, QueryFailure)
    assert late.status is Status.TIMEOUT
    assert engine.run_prediction("SELECT 1").rows == [(1,)]  # type: ignore[union-attr]


def test_the_description_is_ddl(engine: SqlalchemyEngine) -> None:
    assert "CREATE TABLE pier" in engine.describe()


def test_a_file_is_sent_to_its_guarded_engine() -> None:
    with pytest.raises(UsageError, match="give the path of the file"):
        open_engine(Database("x", url="sqlite:///x.db"), FAST)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    with pytest.raises(EngineError, match="nosuchdriver") as caught:
        open_engine(Database("x", url="mysql+nosuchdriver://ann:${SECRET}@host/x"), FAST)
    assert "s3cret" not in str(caught.value)
