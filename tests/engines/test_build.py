"""A database is built once from its recipe, whole or not at all, and a faulty row is named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.build import build_database
from pytest_sqlbench.errors import CaseError, EngineError, UsageError

SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_on BOOLEAN, day DATE, price DECIMAL(8,2));"


def recipe(folder: Path, text: str, suffix: str = ".csv", schema: str = SCHEMA) -> Database:
    path = folder / f"t{suffix}"
    path.write_text(text, encoding="utf-8")
    return Database("shop", schema=schema, rows=(("t", path),))


def rows_of(database: Database) -> list[tuple[object, ...]]:
    assert database.path is not None
    with closing(sqlite3.connect(database.path)) as connection:
        return connection.execute("SELECT * FROM t ORDER BY id").fetchall()


@pytest.mark.parametrize(
    "suffix, text",
    [
        (".csv", "id,name,is_on,day,price\n1,pen,true,2026-01-02,1.50\n2,cup,,,\n"),
        (
            ".jsonl",
            '{"id": 1, "name": "pen", "is_on": true, "day": "2026-01-02", "price": 1.5}\n{"id": 2, "name": "cup"}\n',
        ),
        (
            ".json",
            '[{"id": 1, "name": "pen", "is_on": "true", "day": "2026-01-02", "price": 1.5}, {"id": 2, "name": "cup"}]',
        ),
    ],
)
def test_rows_of_every_kind_of_file_arrive_typed(tmp_path: Path, suffix: str, text: str) -> None:
    built = build_database(recipe(tmp_path, text, suffix), "sqlite", tmp_path / "cache")
    assert rows_of(built) == [(1, "pen", 1, "2026-01-02", 1.5), (2, "cup", None, None, None)]


def test_the_same_recipe_is_built_once(tmp_path: Path) -> None:
    database = recipe(tmp_path, "id,name\n1,pen\n")
    first = build_database(database, "sqlite", tmp_path / "cache")
    assert first.path is not None
    stamp = first.path.stat().st_mtime_ns
    assert build_database(database, "sqlite", tmp_path / "cache") == first
    assert first.path.stat().st_mtime_ns == stamp
    changed = build_database(recipe(tmp_path, "id,name\n1,cup\n"), "sqlite", tmp_path / "cache")
    assert changed.path != first.path


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("id,name\n1,pen\n1,cup\n", "t.csv:3: the row does not fit table 't': UNIQUE"),
        ("id,name\n1,\n", "t.csv:2: the row does not fit table 't': NOT NULL"),
        ("id,nome\n1,pen\n", "t.csv:2: table 't' has no column 'nome'. Known: id, name"),
        ("id,name\n1\n", "t.csv:2: found 1 cells, wanted 2"),
        ("", "t.csv:1: is empty"),
    ],
)
def test_a_faulty_row_is_named_and_leaves_nothing(tmp_path: Path, text: str, wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        build_database(recipe(tmp_path, text), "sqlite", tmp_path / "cache")
    assert wanted in str(caught.value)
    assert list((tmp_path / "cache" / "databases").iterdir()) == []


def test_a_table_that_the_schema_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the schema has no table 't'"):
        build_database(recipe(tmp_path, "id\n1\n", schema="CREATE TABLE u (id);"), "sqlite", tmp_path / "cache")


def test_a_schema_that_does_not_run_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="schema does not run on SQLite: near"):
        build_database(recipe(tmp_path, "id\n1\n", schema="CREATE TABEL t (id);"), "sqlite", tmp_path / "cache")


def test_a_row_that_points_nowhere_is_found(tmp_path: Path) -> None:
    schema = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER, p INTEGER REFERENCES p);"
    with pytest.raises(UsageError, match="row 1 of 't' points at no row of 'p'"):
        build_database(recipe(tmp_path, "id,p\n1,5\n", schema=schema), "sqlite", tmp_path / "cache")


def test_a_row_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"gone.csv: cannot be read"):
        build_database(Database("d", schema=SCHEMA, rows=(("t", tmp_path / "gone.csv"),)), "sqlite", tmp_path)


def test_a_cache_that_cannot_be_written_is_trouble_of_the_bench(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(EngineError, match="cannot be built in"):
        build_database(recipe(tmp_path, "id,name\n1,pen\n"), "sqlite", tmp_path / "cache")
