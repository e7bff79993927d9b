"""The SQLite engine: what queries give back, and how each kind of failure is named."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.sqlite import SqliteEngine, open_engine
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

SCHEMA = """
CREATE TABLE boat(id INTEGER PRIMARY KEY, name TEXT, port TEXT, length_m REAL);
CREATE TABLE trip(id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boat(id), day TEXT);
CREATE VIEW long_boat AS SELECT name FROM boat WHERE length_m > 10;
CREATE VIEW oslo_boat AS SELECT name FROM boat WHERE port = "Oslo";
INSERT INTO boat VALUES (1, 'Ask', 'Oslo', 12.5), (2, 'Embla', 'Oslo', 9.0), (3, 'Ran', NULL, 30.25);
INSERT INTO trip VALUES (1, 1, '2024-05-01'), (2, 1, '2024-06-01'), (3, 3, '2024-06-02');
"""
FAST = Settings(limits=Limits(timeout_s=1.0, rows=1000, result_bytes=2**20, memory_bytes=2**28))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small database, alone in its folder."""
    path = tmp_path / "harbour" / "boats.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    connection.close()
    return path


@pytest.fixture(params=["sandbox", "in_process"])
def engine(path: Path, request: pytest.FixtureRequest) -> Iterator[SqliteEngine]:
    """An engine over the boats, once with the child process and once without."""
    settings = Settings(limits=FAST.limits, runs_in_process=request.param == "in_process")
    engine = open_engine(Database("boats", path), settings)
    yield engine
    engine.close()


def run(engine: SqliteEngine, query: str) -> ResultSet:
    """Run a prediction that has to succeed."""
    result = engine.run_prediction(query)
    assert isinstance(result, ResultSet), result
    return result


def test_rows_labels_and_tables_come_back(engine: SqliteEngine) -> None:
    result = run(
        engine, "SELECT b.name, count(*) n FROM boat b JOIN trip t ON t.boat_id = b.id GROUP BY b.id ORDER BY n"
    )
    assert result.columns == ("name", "n")
    assert result.rows == [("Ran", 1), ("Ask", 2)]
    assert result.tables == {"boat", "trip"}
    assert result.warnings == ()


@pytest.mark.parametrize(
    "query, tables",
    [
        ("SELECT 42", set()),
        ("SELECT count(*) FROM Boat", {"boat"}),
        ("SELECT * FROM long_boat", {"boat"}),
        ("WITH c AS (SELECT 1 AS x) SELECT x FROM c", set()),
        ("SELECT name FROM sqlite_master", set()),
        ("SELECT value FROM json_each('[1, 2]')", set()),
    ],
    ids=["constant", "count_star", "view_reads_its_table", "cte_is_no_table", "catalogue", "table_function"],
)
def test_tables_are_those_the_engine_read(engine: SqliteEngine, query: str, tables: set[str]) -> None:
    assert run(engine, query).tables == tables


@pytest.mark.parametrize(
    "query, status, part",
    [
        ("SELEC 1", Status.SYNTAX, 'near "SELEC"'),
        ("SELECT (1", Status.SYNTAX, "incomplete input"),
        ("SELECT 'open", Status.SYNTAX, "unrecognized token"),
        ("SELECT 1\0; DROP TABLE boat", Status.SYNTAX, "null character"),
        ("SELECT '\ud800'", Status.SYNTAX, "Unicode"),
        ("SELECT * FROM ship", Status.NO_SUCH_TABLE, "no such table: ship"),
        ("SELECT nme FROM boat", Status.NO_SUCH_COLUMN, "no such column: nme"),
        ("SELECT year(day) FROM trip", Status.NO_SUCH_FUNCTION, "no such function: year"),
        ("SELECT id FROM boat JOIN trip ON boat_id = boat.id", Status.ERROR, "ambiguous column name: id"),
        ("SELECT sum(count(*)) FROM boat", Status.ERROR, "misuse of aggregate"),
        ("", Status.NO_RESULT_SET, "no statement"),
        (" ;; ", Status.NO_RESULT_SET, "no statement"),
        ("-- nothing\n/* here */", Status.NO_RESULT_SET, "no statement"),
        ("SELECT 1; SELECT 2", Status.DENIED, "one statement at a time"),
        ("DROP TABLE boat", Status.DENIED, "not authorized"),
        ("WITH x AS (SELECT 1) DELETE FROM boat", Status.DENIED, "not authorized"),
        ("REINDEX", Status.DENIED, "not a query"),
        ("PRAGMA table_info(boat)", Status.DENIED, "not authorized"),
        ("SELECT load_extension('x')", Status.DENIED, "load_extension"),
        ("SELECT 1 FROM boat a, boat b, boat c, boat d, boat e, boat f, boat g", Status.ROWS, "more than 1,000 rows"),
        ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", Status.ROWS, "1,000"),
        ("SELECT " + "x" * 100_001, Status.ERROR, "longer than 100,000"),
    ],
)
def test_each_failure_has_a_name(engine: SqliteEngine, query: str, status: Status, part: str) -> None:
    failure = engine.run_prediction(query)
    assert isinstance(failure, QueryFailure)
    assert failure.status is status
    assert part in failure.message
    assert "\n" not in failure.message


@pytest.mark.parametrize("statement", ["SELECT 1;", "SELECT 1; -- done", "/* a; */ SELECT 1", "\ufeffSELECT 1"])
def test_one_statement_may_have_company(engine: SqliteEngine, statement: str) -> None:
    assert run(engine, statement).rows == [(1,)]


@pytest.mark.parametrize(
    "query",
    [
        'SELECT name FROM boat WHERE port = "Oslo"',
        'SELECT "nme" FROM boat',
        'SELECT name AS "x" FROM boat WHERE port LIKE "%slo"',
        'SELECT name, "a""b" FROM boat',
    ],
)
def test_a_quoted_unknown_name_is_noted(engine: SqliteEngine, query: str) -> None:
    """Whether that makes the prediction wrong is the policy's to say."""
    (note,) = run(engine, query).warnings
    assert note.startswith("quotes: ")


@pytest.mark.parametrize(
    "query, row",
    [
        ('SELECT "name" FROM "boat" WHERE "boat"."id" = 1', ("Ask",)),
        ('SELECT count(*) AS "How many" FROM boat ORDER BY "How many"', (3,)),
        ('SELECT \'say "hi"\' -- "x"', ('say "hi"',)),
        ('SELECT "rowid" FROM boat LIMIT 1', (1,)),
        ('SELECT [name] FROM `boat` WHERE id = 2 /* "y" */', ("Embla",)),
        ("SELECT name FROM oslo_boat WHERE \"name\" = 'Ask'", ("Ask",)),
        ('SELECT x FROM (SELECT port AS "x" FROM boat WHERE id = 1)', ("Oslo",)),
    ],
)
def test_a_quoted_known_name_is_a_name(engine: SqliteEngine, query: str, row: tuple[object, ...]) -> None:
    assert run(engine, query).rows == [row]


def test_gold_may_quote_strings_and_is_told_so(engine: SqliteEngine) -> None:
    result = engine.run_gold('SELECT name FROM boat WHERE port = "Oslo" ORDER BY 1')
    assert isinstance(result, ResultSet)
    assert result.rows == [("Ask",), ("Embla",)]
    assert result.warnings == ('quotes: "Oslo" is no column and was read as a string',)


def test_gold_is_read_only_and_has_a_deadline(path: Path) -> None:
    engine = open_engine(Database("boats", path), Settings(gold_timeout_s=0.1))
    assert engine.run_gold("DELETE FROM boat") == _anytime(Status.DENIED, "not authorized")
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    assert engine.run_gold(endless) == _anytime(Status.TIMEOUT, "interrupted")
    engine.close()


class _anytime(QueryFailure):  # noqa: N801 - reads as a value
    """Equals a failure with this status and message, however long it took."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueryFailure) and (self.status, self.message) == (other.status, other.message)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "query, warnings",
    [
        ("SELECT random() > 0", ("nondeterministic: random()",)),
        ("SELECT changes(), sqlite_version()", ("nondeterministic: changes()", "nondeterministic: sqlite_version()")),
        ("SELECT date('now', '-1 day')", ("nondeterministic: date('now')",)),
        ("SELECT CURRENT_DATE", ("nondeterministic: current_date()",)),
        ("SELECT strftime('%Y', day) FROM trip", ()),
    ],
)
def test_unstable_functions_are_noted(engine: SqliteEngine, query: str, warnings: tuple[str, ...]) -> None:
    assert run(engine, query).warnings == warnings


def test_a_prediction_may_have_as_many_rows_as_its_gold(path: Path) -> None:
    engine = open_engine(Database("boats", path), FAST)
    many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000) SELECT x FROM c"
    assert isinstance(engine.run_prediction(many), QueryFailure)
    engine.run_gold(many)
    assert len(run(engine, many).rows) == 3000
    engine.run_gold("SELECT 1")
    assert isinstance(engine.run_prediction(many), QueryFailure)
    engine.close()


def test_a_big_result_is_refused_by_its_size(path: Path) -> None:
    engine = open_engine(Database("boats", path), FAST)
    wide = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 900) SELECT {} FROM c"
    wide = wide.format("printf('%.2000c', 'y')")
    failure = engine.run_prediction(wide)
    assert isinstance(failure, QueryFailure)
    assert failure.status is Status.BYTES
    engine.close()


def test_text_that_is_no_utf8_is_readable(path: Path, engine: SqliteEngine) -> None:
    result = run(engine, "SELECT CAST(x'63616fe9' AS TEXT)")
    assert result.rows == [("cao\\xe9",)]
    assert result.warnings == ("text: not valid UTF-8, read with backslash escapes",)
    assert run(engine, "SELECT 'café'").rows == [("café",)]


def test_full_text_tables_can_be_searched(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE VIRTUAL TABLE note USING fts5(body); INSERT INTO note VALUES ('red kite');")
    connection.close()
    engine = open_engine(Database("notes", path), FAST)
    result = run(engine, "SELECT body FROM note WHERE note MATCH 'kite'")
    assert (result.rows, result.tables is not None and "note" in result.tables) == ([("red kite",)], True)
    engine.close()


def test_the_description_is_the_ddl(engine: SqliteEngine) -> None:
    ddl = engine.describe()
    assert ddl.startswith(
        "CREATE TABLE boat(id INTEGER PRIMARY KEY, name TEXT, port TEXT, length_m REAL);\n\nCREATE TAB"
    )
    assert ddl.count("CREATE VIEW") == 2
    assert engine.version.startswith("sqlite 3.")


def test_a_changed_file_is_seen(path: Path, engine: SqliteEngine) -> None:
    assert run(engine, "SELECT count(*) FROM boat").rows == [(3,)]
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO boat VALUES (4, 'Njord', 'Bergen', 8)")
    connection.commit()
    connection.close()
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 10_000_000))
    assert run(engine, "SELECT count(*) FROM boat").rows == [(4,)]
    assert engine.run_gold("SELECT count(*) FROM boat") == ResultSetOf([(4,)])


class ResultSetOf:
    """Equals a result set with these rows."""

    def __init__(self, rows: list[tuple[object, ...]]) -> None:
        self.rows = rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResultSet) and other.rows == self.rows

    __hash__ = None  # type: ignore[assignment]


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in sorted(folder.iterdir())}


def test_pending_log_is_read_and_nothing_is_written_beside_it(path: Path) -> None:
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.execute("INSERT INTO boat VALUES (4, 'Njord', 'Bergen', 8)")
    writer.commit()
    before = _snapshot(path.parent)
    assert set(before) == {"boats.db", "boats.db-wal", "boats.db-shm"}
    engine = open_engine(Database("boats", path), FAST)
    assert run(engine, "SELECT count(*) FROM boat").rows == [(4,)]
    assert engine.run_gold("SELECT count(*) FROM boat") == ResultSetOf([(4,)])
    engine.close()
    assert _snapshot(path.parent) == before
    writer.close()


@pytest.mark.parametrize(
    "make, part",
    [
        (lambda path: None, "no such database file"),
        (lambda path: path.write_text("hello, this is no database at all"), "not a SQLite database"),
        (lambda path: path.mkdir(), "cannot be read"),
    ],
    ids=["missing", "text", "folder"],
)
def test_what_is_no_database_is_refused(tmp_path: Path, make: Callable[[Path], object], part: str) -> None:
    make(tmp_path / "x.db")
    with pytest.raises(EngineError, match=part):
        open_engine(Database("x", tmp_path / "x.db"), FAST)
