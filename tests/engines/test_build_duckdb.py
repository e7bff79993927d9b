"""A recipe fills a DuckDB file once, typed as its schema says."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.build import build_database
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.settings import Settings

pytest.importorskip("duckdb")

SCHEMA = "CREATE TABLE boat (id INTEGER, price DECIMAL(9,2), built DATE, name VARCHAR);"


def test_cells_are_cast_to_the_types_of_the_schema(tmp_path: Path) -> None:
    rows = tmp_path / "boat.csv"
    rows.write_text("id,price,built,name\n1,12.50,2019-01-31,007\n2,,,\n", encoding="utf-8")
    inline = {"boat": ({"id": 3, "name": "x"},)}
    database = Database("boats", schema=SCHEMA, rows=(("boat", rows),), inline_rows=inline)
    engine = open_engine("duckdb", database, Settings(cache_dir=tmp_path))
    result = engine.run_gold("SELECT * FROM boat ORDER BY id")
    assert isinstance(result, ResultSet)
    assert result.rows == [
        (1, Decimal("12.50"), datetime.date(2019, 1, 31), "007"),
        (2, None, None, None),
        (3, None, None, "x"),
    ]


def test_a_file_is_built_once_and_leaves_nothing_else(tmp_path: Path) -> None:
    database = Database("boats", schema=SCHEMA)
    first = build_database(database, "duckdb", tmp_path)
    assert first.path is not None
    stamp = first.path.stat().st_mtime_ns
    assert build_database(database, "duckdb", tmp_path) == first
    assert first.path.stat().st_mtime_ns == stamp
    assert list((tmp_path / "databases").iterdir()) == [first.path]


@pytest.mark.parametrize(
    "schema, rows, message",
    [
        ("CREATE TABEL x", {}, "the schema does not run on DuckDB"),
        (SCHEMA, {"boat": ({"id": 1}, {"id": "one"})}, "rows of boat:2: the row does not fit table 'boat'"),
        (SCHEMA, {"boat": ({"iid": 1},)}, "rows of boat:1: the row does not fit table 'boat'"),
        (SCHEMA, {"ship": ({"id": 1},)}, "rows of ship:1: the schema has no table 'ship'"),
    ],
    ids=["schema", "type", "column", "table"],
)
def test_a_faulty_recipe_is_one_line_and_leaves_no_file(
    tmp_path: Path, schema: str, rows: dict[str, tuple[dict[str, object], ...]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        build_database(Database("boats", schema=schema, inline_rows=rows), "duckdb", tmp_path)
    assert list((tmp_path / "databases").iterdir()) == []
