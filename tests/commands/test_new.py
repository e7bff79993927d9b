from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main
from pytest_sqlbench.suites.registry import load_suite

SCHEMA = """
CREATE TABLE "order items"(id INTEGER PRIMARY KEY, "kind of" TEXT, price REAL);
INSERT INTO "order items" VALUES (1, 'cup', 2.5), (2, 'jug', 4.0), (3, 'cup', 3.0);
CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT, born INTEGER);
INSERT INTO author VALUES (1, 'Ann', 1950), (2, 'Bob', 1960);
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    connection = sqlite3.connect(tmp_path / "my shop.sqlite")
    connection.executescript(SCHEMA)
    connection.close()
    return tmp_path


def test_a_database_becomes_a_suite_that_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my shop.sqlite"]) == 0
    manifest = folder / "cases" / "my-shop.yaml"
    suite = load_suite(manifest)
    assert [case.id for case in suite.cases] == ["count-author", "rows-per-name", "greatest-born"]
    assert "#   order items(id, kind of, price)" in manifest.read_text(encoding="utf-8")
    assert main(["check", str(manifest), "--level", "note"]) == 0
    assert "3 cases checked: nothing found" in capsys.readouterr().out


def test_a_table_of_data_becomes_a_database_with_types(folder: Path) -> None:
    (folder / "bike trips.csv").write_text("Start Station,minutes,fee\nA,3,1.5\nB,12,0\n", encoding="utf-8")
    assert main(["new", "bike trips.csv", "--output", "trips.yaml"]) == 0
    suite = load_suite(folder / "trips.yaml")
    assert suite.databases["main"].schema.strip() == (
        'CREATE TABLE "bike_trips" ("Start Station" TEXT, "minutes" INTEGER, "fee" REAL);'
    )
    assert main(["check", "trips.yaml", "--level", "note"]) == 0


def test_a_table_of_questions_is_read_where_it_stands(folder: Path) -> None:
    (folder / "q.csv").write_text("NLQ,SQL,Hint\nHow many?,SELECT COUNT(*) FROM author,x\n", encoding="utf-8")
    assert main(["new", "q.csv", "--database", "my shop.sqlite"]) == 0
    (case,) = load_suite(folder / "cases" / "q.yaml").cases
    assert (case.question, case.gold, case.evidence) == ("How many?", ("SELECT COUNT(*) FROM author",), "x")


@pytest.mark.parametrize(
    "content, arguments, message",
    [
        ("question,sql\nWhat?,SELECT 1\n", [], "say what they are about: --database=FILE"),
        ("a,b\n1,2\n", ["--database", "my shop.sqlite"], "has no columns of questions and golds. Found: a, b"),
        ("", [], "has no header"),
        ("a,b\n", [], "has no rows"),
        ("a,b\n1,2\n", ["--output", "my shop.sqlite"], "exists already"),
    ],
)
def test_faults_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, arguments: list[str], message: str
) -> None:
    (folder / "x.csv").write_text(content, encoding="utf-8")
    assert main(["new", "x.csv", *arguments]) == 4
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "name, message", [("absent.db", "there is no such file"), ("x.txt", "is no SQLite database"), ("e.db", "no table")]
)
def test_sources_that_are_none(folder: Path, capsys: pytest.CaptureFixture[str], name: str, message: str) -> None:
    (folder / "x.txt").write_text("no database at all" * 100, encoding="utf-8")
    sqlite3.connect(folder / "e.db").close()
    assert main(["new", name]) == 4
    assert message in capsys.readouterr().err
