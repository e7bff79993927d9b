"""The DuckDB engine: exact values, named failures, and no function that reaches out of the database."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.duckdb import DuckdbEngine, open_engine
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings
from tests.engines.attacks import digest

duckdb = pytest.importorskip("duckdb")

FAST = Limits(timeout_s=2.0, rows=1000, result_bytes=2**20)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small database, alone in its folder."""
    path = tmp_path_factory.mktemp("harbour") / "boats.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE boat(id INTEGER, name VARCHAR, port VARCHAR, length_m DECIMAL(5,2))")
    connection.execute(
        "INSERT INTO boat VALUES (1, 'Ask', 'Oslo', 12.50), (2, 'Embla', 'Oslo', 9), (3, 'Ran', NULL, 30)"
    )
    connection.execute("CREATE VIEW long_boat AS SELECT name FROM boat WHERE length_m > 10")
    connection.close()
    return path


@pytest.fixture(scope="module")
def engine(path: Path) -> Iterator[DuckdbEngine]:
    """An engine over the boats; the folder must look the same at the end."""
    before = digest(path.parent)
    engine = open_engine(Database("boats", path), Settings(limits=FAST))
    yield engine
    engine.close()
    assert digest(path.parent) == before


def run(engine: DuckdbEngine, query: str) -> ResultSet:
    """Run a prediction that has to succeed."""
    result = engine.run_prediction(query)
    assert isinstance(result, ResultSet), result
    return result


def test_rows_labels_and_tables_come_back(engine: DuckdbEngine) -> None:
    result = run(engine, "SELECT port, count(*) AS n FROM boat GROUP BY port ORDER BY n DESC")
    assert (result.columns, result.rows, result.tables) == (("port", "n"), [("Oslo", 2), (None, 1)], {"boat"})
    assert engine.run_gold("SELECT 42").rows == [(42,)]  # type: ignore[union-attr]


UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    "expression, value",
    [
        ("1.10::DECIMAL(6,2)", Decimal("1.10")),
        ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
        ("DATE '2024-02-29'", datetime.date(2024, 2, 29)),
        ("TIME '12:30:00.000001'", datetime.time(12, 30, 0, 1)),
        ("TIMESTAMP '2024-02-29 01:02:03'", datetime.datetime(2024, 2, 29, 1, 2, 3)),
        ("TIMESTAMPTZ '2024-02-29 01:02:03+02'", datetime.datetime(2024, 2, 28, 23, 2, 3, tzinfo=UTC)),
        ("[TIMESTAMPTZ '2024-02-29 01:02:03+02']", [datetime.datetime(2024, 2, 28, 23, 2, 3, tzinfo=UTC)]),
        ("TIMESTAMP_NS '2024-02-29 01:02:03.123456789'", "2024-02-29 01:02:03.123456789"),
        ("TIMESTAMP_NS '2024-02-29 01:02:03.5'", datetime.datetime(2024, 2, 29, 1, 2, 3, 500000)),
        ("INTERVAL '1 month'", "1 month"),
        ("INTERVAL '2 days 3 hours'", datetime.timedelta(days=2, hours=3)),
        ("INTERVAL '-90 seconds'", datetime.timedelta(seconds=-90)),
        ("UUID '123e4567-e89b-12d3-a456-426614174000'", uuid.UUID("123e4567-e89b-12d3-a456-426614174000")),
        ("'{\"a\": [1, null]}'::JSON", {"a": [1, None]}),
        ("[1, NULL]", [1, None]),
        ("{'a': 1.5::DOUBLE}", {"a": 1.5}),
        ("MAP {'k': 1}", {"k": 1}),
        ("'\\xAA'::BLOB", b"\xaa"),
        ("true", True),
        ("'-inf'::DOUBLE", float("-inf")),
        ("NULL", None),
    ],
)
def test_values_are_exact(engine: DuckdbEngine, expression: str, value: object) -> None:
    ((cell,),) = run(engine, f"SELECT {expression} AS x;").rows
    assert (type(cell), cell) == (type(value), value)


@pytest.mark.parametrize(
    "query, status",
    [
        ("SELEC 1", Status.SYNTAX),
        ("SELECT 1\0", Status.SYNTAX),
        ("SELECT * FROM ship", Status.NO_SUCH_TABLE),
        ("SELECT nme FROM boat", Status.NO_SUCH_COLUMN),
        ('SELECT * FROM boat WHERE port = "Oslo"', Status.NO_SUCH_COLUMN),
        ("SELECT boat.nme FROM boat", Status.NO_SUCH_COLUMN),
        ("SELECT strftim(name) FROM boat", Status.NO_SUCH_FUNCTION),
        ("SELECT name + 1 FROM boat", Status.ERROR),
        ("", Status.NO_RESULT_SET),
        ("-- nothing", Status.NO_RESULT_SET),
        ("SELECT 1; SELECT 2", Status.DENIED),
        ("DROP TABLE boat", Status.DENIED),
        ("CREATE TEMP TABLE boat AS PIVOT boat ON port USING count(*)", Status.DENIED),
        ("SET threads = 8", Status.DENIED),
        ("SELECT * FROM read_text('/etc/hostname')", Status.DENIED),
        ("FROM '/etc/hostname'", Status.NO_SUCH_TABLE),
        ('SELECT * FROM system.main."arrow_scan" /* */ (1, 2, 3)', Status.DENIED),
        ("SELECT * FROM query('SELECT 1')", Status.DENIED),
        ("SELECT write_log('hello')", Status.DENIED),
        ("SELECT i FROM range(5000) t(i)", Status.ROWS),
        ("SELECT repeat('x', 10000) FROM range(900)", Status.BYTES),
        ("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7", Status.TIMEOUT),
        ("SELECT 1 WHERE " + "1 = 1 AND " * 20000 + "true", Status.ERROR),
    ],
)
def test_each_failure_has_a_name(engine: DuckdbEngine, query: str, status: Status) -> None:
    failure = engine.run_prediction(query)
    assert isinstance(failure, QueryFailure)
    assert failure.status is status, failure
    assert "\n" not in failure.message


def test_memory_is_limited(engine: DuckdbEngine) -> None:
    failure = engine.run_prediction("SELECT list(i) FROM range(10000000000) t(i)")
    assert isinstance(failure, QueryFailure)
    assert failure.status in (Status.MEMORY, Status.TIMEOUT)  # whichever the machine reaches first


def test_a_pivot_is_a_query_and_leaves_nothing(engine: DuckdbEngine) -> None:
    result = run(engine, "PIVOT (SELECT port, 1 AS one FROM boat) ON port USING count(*)")
    assert len(result.rows) == 1
    assert run(engine, "SELECT count(*) FROM duckdb_types() WHERE type_name LIKE '%pivot%'").rows == [(0,)]


def test_a_column_may_be_named_as_a_function(engine: DuckdbEngine) -> None:
    assert run(engine, "SELECT name AS query FROM boat WHERE id = 1").rows == [("Ask",)]


@pytest.mark.parametrize("query", ["SELECT random()", "SELECT now()", "SELECT CURRENT_DATE", "SELECT uuid()"])
def test_unstable_functions_are_noted(engine: DuckdbEngine, query: str) -> None:
    (note,) = run(engine, query).warnings
    assert note.startswith("nondeterministic: ")


def test_predictions_can_run_in_this_process(path: Path) -> None:
    engine = open_engine(Database("boats", path), Settings(limits=FAST, runs_in_process=True))
    assert run(engine, "SELECT count(*) FROM boat").rows == [(3,)]
    late = engine.run_prediction(
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7"
    )
    assert isinstance(late, QueryFailure)
    assert late.status is Status.TIMEOUT
    engine.close()


def test_the_description_is_the_ddl(engine: DuckdbEngine) -> None:
    ddl = engine.describe()
    assert ddl.startswith("CREATE TABLE boat(id INTEGER")
    assert ddl.count("CREATE") == 2
    assert engine.version.startswith("duckdb ")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no such database file"):
        open_engine(Database("x", tmp_path / "x.duckdb"), Settings())


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text("no database")
    with pytest.raises(EngineError, match=r"x\.duckdb: "):
        open_engine(Database("x", tmp_path / "x.duckdb"), Settings()).run_gold("SELECT 1")
