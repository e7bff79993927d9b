"""The MySQL engine, on MariaDB: exact values, named failures, warnings that count, and no way to write."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.mysql import MysqlEngine, open_engine
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings
from tests.engines.attacks import SETTINGS, check, read_attacks
from tests.engines.servers import connect_mariadb
from tests.shared_data import shared

pytest.importorskip("pymysql")

BOATS = """
DROP DATABASE IF EXISTS boats;
DROP USER IF EXISTS reader@'%';
CREATE DATABASE boats;
CREATE TABLE boats.boat(id int PRIMARY KEY, name text NOT NULL, port text, length_m numeric(5,2));
CREATE VIEW boats.long_boat AS SELECT name FROM boats.boat WHERE length_m > 10;
INSERT INTO boats.boat VALUES (1, 'Ask', 'Oslo', 12.50), (2, 'Embla', 'Oslo', 9), (3, 'Ran', NULL, 30);
CREATE USER reader@'%';
GRANT SELECT, SHOW VIEW ON boats.* TO reader@'%';
"""
BENCH = """
DROP DATABASE IF EXISTS bench;
DROP USER IF EXISTS bench_ro@'%';
CREATE DATABASE bench;
CREATE TABLE bench.singer(id int PRIMARY KEY, name text, country text, age int);
INSERT INTO bench.singer SELECT seq, concat('name', seq), elt(1 + seq % 3, 'France', 'USA', 'UK'), 18 + seq % 60
    FROM boats.seq_0_to_99;
CREATE TABLE bench.big(id int, a int, b int, s text);
INSERT INTO bench.big SELECT seq, seq * 7919 % 1000, seq * 104729 % 100000, concat('str', seq * 31 % 1000000)
    FROM boats.seq_0_to_199999;
CREATE USER bench_ro@'%';
GRANT SELECT ON bench.* TO bench_ro@'%';
"""
FAST = Settings(limits=Limits(timeout_s=1.0, rows=1000, result_bytes=2**20))


def _setup(url: str, script: str) -> None:
    with connect_mariadb(url) as connection, connection.cursor() as cursor:
        for statement in filter(str.strip, script.split(";")):
            cursor.execute(statement)


@pytest.fixture(scope="module")
def url(mariadb_url: str) -> str:
    """The URL of a user that may only read the boats."""
    _setup(mariadb_url, BOATS)
    return mariadb_url.replace("root@", "reader@") + "boats"


@pytest.fixture(scope="module")
def engine(url: str) -> Iterator[MysqlEngine]:
    """An engine over the boats."""
    engine = open_engine(Database("boats", url=url), FAST)
    yield engine
    engine.close()


def run(engine: MysqlEngine, query: str) -> ResultSet:
    """Run a prediction that has to succeed."""
    result = engine.run_prediction(query)
    assert isinstance(result, ResultSet), result
    return result


def test_rows_and_labels_come_back(engine: MysqlEngine) -> None:
    result = run(engine, "SELECT port, count(*) AS n FROM boat GROUP BY port ORDER BY n DESC;")
    assert (result.columns, result.rows, result.tables) == (("port", "n"), [("Oslo", 2), (None, 1)], None)
    assert engine.run_gold("(SELECT 42)").rows == [(42,)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "expression, value",
    [
        ("1.10", Decimal("1.10")),
        ("DATE '2024-02-29'", datetime.date(2024, 2, 29)),
        ("TIMESTAMP '2024-02-29 01:02:03.000004'", datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
        ("CAST('-100:00:01' AS TIME)", -datetime.timedelta(hours=100, seconds=1)),
        ("x'aa'", b"\xaa"),
        ("CAST(b'101' AS UNSIGNED)", 5),
        ("true", 1),
        ("1.5e0", 1.5),
        ("'café €'", "café €"),
        ('"Oslo"', "Oslo"),
        ("1 / 0", None),
        ("NULL", None),
    ],
)
def test_values_are_exact(engine: MysqlEngine, expression: str, value: object) -> None:
    ((cell,),) = run(engine, f"SELECT {expression} AS x").rows
    assert (type(cell), cell) == (type(value), value)


@pytest.mark.parametrize(
    "query, status",
    [
        ("SELEC 1", Status.SYNTAX),
        ("SELECT 1\0; DROP TABLE boat", Status.SYNTAX),
        ("SELECT * FROM ship", Status.NO_SUCH_TABLE),
        ("SELECT nme FROM boat", Status.NO_SUCH_COLUMN),
        ("SELECT strftime('%Y', 1)", Status.NO_SUCH_FUNCTION),
        ("", Status.NO_RESULT_SET),
        ("# nothing\n-- and\n/* no more */", Status.NO_RESULT_SET),
        ("SELECT 1; SELECT 2", Status.DENIED),
        ("DROP TABLE boat", Status.DENIED),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", Status.DENIED),
        ("SELECT 1 /*!50000 UNION SELECT 2 */", Status.DENIED),
        ("SELECT 1 /*M! UNION SELECT 2 */", Status.DENIED),
        ("SET STATEMENT max_statement_time=0 FOR SELECT SLEEP(20)", Status.DENIED),
        ("SELECT @x := 1", Status.DENIED),
        ("SELECT @@datadir", Status.DENIED),
        ("SELECT `load_file` /* 1 */ ('/etc/passwd')", Status.DENIED),
        ("SELECT GET_LOCK('a', 1)", Status.DENIED),
        ("SELECT * FROM mysql.user", Status.DENIED),
        ("SELECT * FROM boat FOR UPDATE", Status.DENIED),
        ("SELECT 'a' + 1", Status.ERROR),
        ("SELECT REPEAT('x', 1000000000)", Status.BYTES),
        ("SELECT GROUP_CONCAT(a.seq, b.seq) FROM seq_1_to_600 a, seq_1_to_600 b", Status.BYTES),
        ("SELECT seq FROM seq_1_to_5000", Status.ROWS),
        ("SELECT REPEAT('x', 10000) FROM seq_1_to_900", Status.BYTES),
        ("SELECT SLEEP(20)", Status.TIMEOUT),
        ("SELECT BENCHMARK(10000000000, MD5('x'))", Status.TIMEOUT),
    ],
)
@pytest.mark.filterwarnings("error")
def test_each_failure_has_a_name(engine: MysqlEngine, query: str, status: Status) -> None:
    failure = engine.run_prediction(query)
    assert isinstance(failure, QueryFailure), failure.rows[:1]
    assert failure.status is status, failure
    assert run(engine, "SELECT count(*) FROM boat").rows == [(3,)]


def test_what_is_in_a_string_is_just_text(engine: MysqlEngine) -> None:
    text = "SELECT 'into @x; load_file(1)', \"# --\", `name` FROM boat WHERE name = 'Ask'"
    assert run(engine, text).rows == [("into @x; load_file(1)", "# --", "Ask")]


def test_a_warning_belongs_to_its_own_query(engine: MysqlEngine) -> None:
    assert isinstance(engine.run_prediction("SELECT 'a' + 1"), QueryFailure)
    assert run(engine, "SELECT 1").rows == [(1,)]


@pytest.mark.parametrize("query", ["SELECT rand()", "SELECT NOW()", "SELECT CURRENT_DATE", "SELECT uuid()"])
def test_unstable_functions_are_noted(engine: MysqlEngine, query: str) -> None:
    (note,) = run(engine, query).warnings
    assert note.startswith("nondeterministic: ")


def test_what_the_server_cannot_stop_is_killed(engine: MysqlEngine) -> None:
    before = engine.terminated
    start = time.monotonic()
    late = engine.run_prediction("SELECT REPEAT('a', 300000) LIKE CONCAT('%', REPEAT('a_', 2000), 'b%')")
    assert time.monotonic() - start < 3
    assert isinstance(late, QueryFailure)
    assert late.status is Status.TIMEOUT
    assert engine.terminated <= before + 1
    assert run(engine, "SELECT 1").rows == [(1,)]


def test_a_lost_session_is_replaced(engine: MysqlEngine, mariadb_url: str) -> None:
    _setup(mariadb_url, "KILL CONNECTION USER reader@'%'")
    assert run(engine, "SELECT 1").rows == [(1,)]
    assert engine.run_gold("SELECT 1").rows == [(1,)]  # type: ignore[union-attr]


def test_the_description_is_ddl(engine: MysqlEngine) -> None:
    ddl = engine.describe()
    assert ddl.startswith("CREATE TABLE `boat` (\n  `id` int(11) NOT NULL,")
    assert "ENGINE=" not in ddl
    assert "VIEW `long_boat`" in ddl
    assert engine.version.startswith(("mariadb ", "mysql "))


def test_root_is_refused_unless_forced(url: str) -> None:
    root = url.replace("reader@", "root@")
    with pytest.raises(EngineError, match="may write on the whole server"):
        open_engine(Database("x", url=root), FAST)
    engine = open_engine(Database("x", url=root), Settings(allows_superuser=True))
    assert run(engine, "SELECT 1").rows == [(1,)]
    engine.close()


def test_secrets_come_from_the_environment_and_stay_there(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOAT_SECRET", "s3cret/!")
    with pytest.raises(EngineError, match="Access denied") as caught:
        open_engine(Database("x", url=url.replace("reader@", "nobody:${BOAT_SECRET}@")), FAST)
    assert "s3cret" not in str(caught.value)


def test_every_statement_of_the_corpus_is_contained(mariadb_url: str, url: str) -> None:
    path = shared("attacks/mysql.jsonl")
    _setup(mariadb_url, BENCH)
    before = _dump(mariadb_url)
    engine = open_engine(Database("bench", url=mariadb_url.replace("root@", "bench_ro@") + "bench"), SETTINGS)
    failures = []
    for attack in read_attacks(path, path.parent):
        try:
            check(engine, attack)
            assert run(engine, "SELECT count(*) FROM singer").rows == [(100,)]
        except AssertionError as error:
            failures.append(str(error))
    engine.close()
    assert failures == []
    assert _dump(mariadb_url) == before


def _dump(url: str) -> list[Any]:
    """Everything that a query could change: rows, tables, users, grants, global variables."""
    parts = [
        "SELECT md5(group_concat(id, name, country, age ORDER BY id)) FROM bench.singer",
        "SELECT count(*), sum(id), sum(a), sum(b), sum(crc32(s)) FROM bench.big",
        "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2",
        "SELECT user, host FROM mysql.user ORDER BY 1, 2",
        "SHOW GRANTS FOR bench_ro@'%'",
        "SELECT variable_name, variable_value FROM information_schema.global_variables"
        " WHERE variable_name IN ('SQL_MODE', 'MAX_STATEMENT_TIME', 'READ_ONLY', 'TIME_ZONE') ORDER BY 1",
    ]
    with connect_mariadb(url) as connection, connection.cursor() as cursor:
        found = []
        for part in parts:
            cursor.execute(part)
            found.append(cursor.fetchall())
        return found
