"""The PostgreSQL engine: exact values, named failures, sessions that survive, and no way to write."""

from __future__ import annotations

import datetime
import math
import time
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.postgres import PostgresEngine, open_engine
from pytest_sqlbench.errors import EngineError, UsageError
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings
from tests.engines.attacks import SETTINGS, check, read_attacks
from tests.engines.servers import build_postgres
from tests.shared_data import shared

psycopg: Any = pytest.importorskip("psycopg")

SCHEMA = """
CREATE TABLE boat(id int PRIMARY KEY, name text NOT NULL, port text, length_m numeric(5,2));
CREATE TABLE trip(id int PRIMARY KEY, boat_id int REFERENCES boat, day date);
CREATE VIEW long_boat AS SELECT name FROM boat WHERE length_m > 10;
INSERT INTO boat VALUES (1, 'Ask', 'Oslo', 12.50), (2, 'Embla', 'Oslo', 9), (3, 'Ran', NULL, 30);
CREATE ROLE reader LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
"""
FAST = Settings(limits=Limits(timeout_s=1.0, rows=1000, result_bytes=2**20))


@pytest.fixture(scope="module")
def url(postgres_url: str) -> str:
    """The URL of a role that may only read the boats."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(SCHEMA)
    return postgres_url.replace("postgres@", "reader@")


@pytest.fixture(scope="module")
def engine(url: str) -> Iterator[PostgresEngine]:
    """An engine over the boats."""
    engine = open_engine(Database("boats", url=url), FAST)
    yield engine
    engine.close()


def run(engine: PostgresEngine, query: str) -> ResultSet:
    """Run a prediction that has to succeed."""
    result = engine.run_prediction(query)
    assert isinstance(result, ResultSet), result
    return result


def test_rows_labels_and_tables_come_back(engine: PostgresEngine) -> None:
    result = run(engine, "SELECT port, count(*) AS n FROM boat GROUP BY port ORDER BY n DESC;")
    assert (result.columns, result.rows, result.tables) == (("port", "n"), [("Oslo", 2), (None, 1)], {"boat"})
    assert run(engine, "SELECT * FROM long_boat, trip").tables == {"boat", "trip"}
    assert run(engine, "SELECT 42").tables == frozenset()
    assert engine.run_gold("TABLE boat").tables == {"boat"}  # type: ignore[union-attr]


UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    "expression, value",
    [
        ("1.10::numeric(6,2)", Decimal("1.10")),
        ("'infinity'::float8", math.inf),
        ("DATE '2024-02-29'", datetime.date(2024, 2, 29)),
        ("DATE '0044-03-15 BC'", "0044-03-15 BC"),
        ("TIMESTAMP 'infinity'", "infinity"),
        ("TIME '12:30:00.000001'", datetime.time(12, 30, 0, 1)),
        ("TIMESTAMP '2024-02-29 01:02:03'", datetime.datetime(2024, 2, 29, 1, 2, 3)),
        ("TIMESTAMPTZ '2024-02-29 01:02:03+02'", datetime.datetime(2024, 2, 28, 23, 2, 3, tzinfo=UTC)),
        ("INTERVAL '1 month 2 days'", "1 mon 2 days"),
        ("INTERVAL '2 days -3 hours'", datetime.timedelta(days=2, hours=-3)),
        ("INTERVAL '1.5 seconds'", datetime.timedelta(seconds=1.5)),
        ("'123e4567-e89b-12d3-a456-426614174000'::uuid", uuid.UUID("123e4567-e89b-12d3-a456-426614174000")),
        ("'{\"a\": [1, null]}'::jsonb", {"a": [1, None]}),
        ("ARRAY[1, NULL]", [1, None]),
        ("ARRAY[1.5::numeric]", [Decimal("1.5")]),
        ("'\\xaa'::bytea", b"\xaa"),
        ("true", True),
        ("'10.0.0.1'::inet", "10.0.0.1"),
        ("int4range(1, 3)", "[1,3)"),
        ("NULL", None),
    ],
)
def test_values_are_exact(engine: PostgresEngine, expression: str, value: object) -> None:
    ((cell,),) = run(engine, f"SELECT {expression} AS x").rows
    assert (type(cell), cell) == (type(value), value)


def test_a_numeric_that_is_no_number_is_a_float(engine: PostgresEngine) -> None:
    ((cell,),) = run(engine, "SELECT 'NaN'::numeric").rows
    assert isinstance(cell, float)
    assert math.isnan(cell)


@pytest.mark.parametrize(
    "query, status",
    [
        ("SELEC 1", Status.SYNTAX),
        ("SELECT 1\0; DROP TABLE boat", Status.SYNTAX),
        ("SELECT '\ud800'", Status.SYNTAX),
        ("SELECT * FROM ship", Status.NO_SUCH_TABLE),
        ("SELECT nme FROM boat", Status.NO_SUCH_COLUMN),
        ('SELECT * FROM boat WHERE port = "Oslo"', Status.NO_SUCH_COLUMN),
        ("SELECT strftime('%Y', day) FROM trip", Status.NO_SUCH_FUNCTION),
        ("SELECT 1 / 0", Status.ERROR),
        ("", Status.NO_RESULT_SET),
        ("/* a /* nested */ comment */ -- and more", Status.NO_RESULT_SET),
        ("SELECT 1; SELECT 2", Status.DENIED),
        ("DROP TABLE boat", Status.DENIED),
        ("WITH gone AS (DELETE FROM boat RETURNING *) SELECT * FROM gone", Status.DENIED),
        ("SELECT 1 INTO copy", Status.DENIED),
        ("SET search_path = x", Status.DENIED),
        ("SELECT pg_catalog.set_config('search_path', 'x', false)", Status.DENIED),
        ("SELECT U&\"\\0070g_notify\"('a', 'b')", Status.DENIED),
        ('SELECT "pg_advisory_lock" /* 1 */ (1)', Status.DENIED),
        ("SELECT query_to_xml('SELECT pg_notify(1, 2)', true, true, '')", Status.DENIED),
        ("SELECT * FROM generate_series(1, 5000)", Status.ROWS),
        ("SELECT repeat('x', 10000) FROM generate_series(1, 900)", Status.BYTES),
        ("SELECT repeat('x', 20000000)", Status.BYTES),
        ("SELECT pg_sleep(20)", Status.TIMEOUT),
        ("SELECT 1 WHERE " + "1 = 1 AND " * 20000 + "true", Status.ERROR),
    ],
)
def test_each_failure_has_a_name(engine: PostgresEngine, query: str, status: Status) -> None:
    failure = engine.run_prediction(query)
    assert isinstance(failure, QueryFailure)
    assert failure.status is status, failure
    assert run(engine, "SELECT count(*) FROM boat").rows == [(3,)]


def test_a_forbidden_name_in_a_string_is_just_text(engine: PostgresEngine) -> None:
    assert run(engine, "SELECT 'lo_create(1)', $$set_config(1)$$, 1 AS set_config").rows == [
        ("lo_create(1)", "set_config(1)", 1)
    ]


@pytest.mark.parametrize(
    "query", ["SELECT random()", "SELECT now()", "SELECT CURRENT_DATE", "SELECT gen_random_uuid()"]
)
def test_unstable_functions_are_noted(engine: PostgresEngine, query: str) -> None:
    (note,) = run(engine, query).warnings
    assert note.startswith("nondeterministic: ")


def test_a_lost_session_is_replaced(engine: PostgresEngine, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
    assert run(engine, "SELECT 1").rows == [(1,)]
    assert engine.run_gold("SELECT 1").rows == [(1,)]  # type: ignore[union-attr]


def test_what_the_server_cannot_stop_is_terminated(engine: PostgresEngine) -> None:
    before = engine.terminated
    start = time.monotonic()
    late = engine.run_prediction("SELECT repeat('a', 1000000) LIKE '%' || repeat('a_', 2000) || 'b%'")
    assert time.monotonic() - start < 3
    assert isinstance(late, QueryFailure)
    assert (late.status, "terminated" in late.message) == (Status.TIMEOUT, True)
    assert engine.terminated == before + 1
    assert run(engine, "SELECT 1").rows == [(1,)]


def test_no_connection_is_left(url: str, postgres_url: str) -> None:
    for _ in range(5):
        engine = open_engine(Database("boats", url=url), FAST)
        engine.run_prediction("SELECT pg_sleep(0)")
        engine.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for _ in range(50):
            query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND state = 'idle'"
            if connection.execute(query).fetchone()[0] <= 2:  # those of the module's own engine
                return
            time.sleep(0.05)
    raise AssertionError("connections are left")


def test_the_description_is_ddl(engine: PostgresEngine) -> None:
    ddl = engine.describe()
    assert "CREATE TABLE boat(\n    id integer NOT NULL,\n    name text NOT NULL,\n" in ddl
    assert "FOREIGN KEY (boat_id) REFERENCES boat(id)" in ddl
    assert engine.version.startswith("postgres ")


def test_a_superuser_is_refused_unless_forced(postgres_url: str) -> None:
    with pytest.raises(EngineError, match="is a superuser"):
        open_engine(Database("x", url=postgres_url), FAST)
    engine = open_engine(Database("x", url=postgres_url), Settings(allows_superuser=True))
    assert run(engine, "SELECT 1").rows == [(1,)]
    engine.close()


def test_secrets_come_from_the_environment_and_stay_there(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOAT_SECRET", "s3cret/!")
    secret = url.replace("reader@", "nobody:${BOAT_SECRET}@")
    with pytest.raises(EngineError) as caught:
        open_engine(Database("x", url=secret), FAST)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(UsageError, match=r"reader:\*\*\*@.* holds a password"):
        open_engine(Database("x", url=url.replace("reader@", "reader:s3cret@")), FAST)


def test_every_statement_of_the_corpus_is_contained(postgres_url: str) -> None:
    path = shared("attacks/postgres.jsonl")
    place, reader = build_postgres(postgres_url, shared("attacks/setup_postgres.sql").read_text())
    before = _dump(place)
    engine = open_engine(Database("bench", url=reader), SETTINGS)
    failures = []
    for attack in read_attacks(path, path.parent):
        try:
            check(engine, attack)
            assert run(engine, "SELECT count(*) FROM singer").rows == [(100,)]
        except AssertionError as error:
            failures.append(str(error))
    engine.close()
    assert failures == []
    assert _dump(place) == before


def _dump(url: str) -> list[tuple[object, ...]]:
    """Everything that a query could change: rows, relations, functions, roles, settings, large objects."""
    with psycopg.connect(url) as connection:
        parts = [
            "SELECT 'singer', md5(string_agg(s::text, '|' ORDER BY id)) FROM singer s",
            "SELECT 'big', md5(string_agg(b::text, '|' ORDER BY id)) FROM big b",
            "SELECT relname::text, relkind::text FROM pg_class WHERE relname NOT LIKE 'pg_%' ORDER BY 1",
            "SELECT 'functions', count(*)::text FROM pg_proc",
            "SELECT rolname::text, rolconfig::text FROM pg_roles ORDER BY 1",
            "SELECT 'large objects', count(*)::text FROM pg_largeobject_metadata",
            "SELECT 'sequence', last_value::text FROM sq",
            "SELECT 'slots', count(*)::text FROM pg_replication_slots",
            "SELECT 'locks', count(*)::text FROM pg_locks WHERE locktype = 'advisory'",
        ]
        return [row for part in parts for row in connection.execute(part).fetchall()]
