from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.case import Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.registry import load_suite


def read(folder: Path, content: str, more: str = "database: shop.db\n", name: str = "q.csv") -> Suite:
    sqlite3.connect(folder / "shop.db").close()
    (folder / name).write_text(content, encoding="utf-8")
    manifest = folder / "suite.yaml"
    manifest.write_text(f"sqlbench: 1\nformat: table\ndata: {name}\n{more}", encoding="utf-8")
    return load_suite(manifest)


def test_usual_column_names_are_found(tmp_path: Path) -> None:
    suite = read(tmp_path, "ID,Question,SQL,hint\na-1,How many?,SELECT 1,count\n")
    (case,) = suite.cases
    assert (case.id, case.question, case.gold, case.evidence) == ("a-1", "How many?", ("SELECT 1",), "count")
    assert (case.database, case.line, suite.policy.name) == ("main", 2, "default")


def test_columns_can_be_named(tmp_path: Path) -> None:
    more = "database: shop.db\ncolumns: {question: NLQ, gold: GOLD SQL}\n"
    (case,) = read(tmp_path, "NLQ\tGOLD SQL\tsql\nHow?\tSELECT 2\tno\n", more, "q.tsv").cases
    assert (case.id, case.question, case.gold) == ("0", "How?", ("SELECT 2",))


def test_json_lines_and_a_folder_of_databases(tmp_path: Path) -> None:
    line = '{"question": "How?", "query": "SELECT 1", "db_id": "shop", "tags": ["a", "b"], "id": 7}\n'
    suite = read(tmp_path, line, "databases: .\n", "q.jsonl")
    (case,) = suite.cases
    assert (case.id, case.database, case.tags) == ("7", "shop", ("a", "b"))
    assert suite.databases["shop"].path == tmp_path / "shop.db"


@pytest.mark.parametrize(
    "content, more, message",
    [
        ("a,b\n1,2\n", "", r"q\.csv:1: no column for the question. Found: a, b. Name it in the manifest"),
        ("question,gold\n,SELECT 1\n", "", r"q\.csv:2: question is empty"),
        ("question,gold\nHow?, \n", "", r"q\.csv:2: gold is empty"),
        ("question,gold,id\nHow?,SELECT 1,a b\n", "", r"q\.csv:2: id is 'a b', wanted"),
        ("question,gold,id\nHow?,SELECT 1,a\nHow?,SELECT 1,a\n", "", r"q\.csv:3: case id 'a' stands twice"),
        ("question,gold,db_id\nHow?,SELECT 1,bank\n", "", r"q\.csv:2: unknown database 'bank'. Known: main"),
        (
            "question,gold\nHow?,SELECT 1\n",
            "columns: {gold: sql}\n",
            r"no column 'sql' for gold. Found: question",
        ),
        ("question,gold\nHow?,SELECT 1\n", "columns: {golds: gold}\n", r"columns has 'golds'. Allowed: id, question"),
        ("question,gold\n", "", r"q\.csv has no row"),
        ("question,question\nHow?,Why?\n", "", r"q\.csv:1: column 'question' stands twice"),
    ],
)
def test_faults_are_named(tmp_path: Path, content: str, more: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        read(tmp_path, content, f"database: shop.db\n{more}")


def test_rows_without_a_database_need_one_of_the_manifest(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"q\.csv:2: names no database"):
        read(tmp_path, "question,gold\nHow?,SELECT 1\n", "databases: .\n")
