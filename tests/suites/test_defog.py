from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.defog import expand_braces, split_statements
from pytest_sqlbench.suites.registry import load_suite
from tests.shared_data import shared

HEAD = "db_name,db_type,query_category,query,question,instructions\n"


def write_suite(folder: Path, rows: str) -> Path:
    (folder / "db").mkdir()
    sqlite3.connect(folder / "db" / "shop.db").close()
    (folder / "questions.csv").write_text(rows, encoding="utf-8")
    manifest = folder / "suite.yaml"
    manifest.write_text("sqlbench: 1\nformat: defog\ndata: questions.csv\ndatabases: db\n", encoding="utf-8")
    return manifest


def test_rows_become_cases(tmp_path: Path) -> None:
    rows = HEAD + "shop,sqlite,ratio,SELECT 1; SELECT 2,How many?,count rows\n"
    suite = load_suite(write_suite(tmp_path, rows))
    (case,) = suite.cases
    assert (case.gold, case.evidence, case.tags) == (("SELECT 1", "SELECT 2"), "count rows", ("shop", "ratio"))
    assert suite.policy.name == "defog"


@pytest.mark.parametrize(
    "rows, message",
    [
        ("db_name,query\nshop,SELECT 1\n", r"questions\.csv:1: no column 'question'. Found: db_name, query"),
        (HEAD + "shop,sqlite,x,,How?,\n", r"questions\.csv:2: query is empty"),
        (HEAD + "shop,sqlite,x,SELECT 1,How?\n", r"questions\.csv:2: has 5 cells, the header has 6"),
        (HEAD + "shop,sqlite,x,;,How?,\n", r"questions\.csv:2: query stands for 0 golds"),
        (HEAD + 'shop,sqlite,x,"SELECT {a,b,c,d,e,f,g}",How?,\n', r"stands for \d+ golds, wanted 1 to 64"),
        ("", r"questions\.csv:1: has no header"),
    ],
)
def test_faults_are_named(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_suite(write_suite(tmp_path, rows))


@pytest.mark.parametrize(
    "text, statements",
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT ';' ; SELECT \";\";;", ["SELECT ';'", 'SELECT ";"']),
        ("SELECT 1 -- a; b\n; SELECT 2 /* ; */", ["SELECT 1 -- a; b", "SELECT 2 /* ; */"]),
        ("SELECT 4/2-1; SELECT 'it''s; so'", ["SELECT 4/2-1", "SELECT 'it''s; so'"]),
    ],
)
def test_statements_are_split_outside_of_literals(text: str, statements: list[str]) -> None:
    assert split_statements(text) == statements


@pytest.mark.parametrize(
    "query, queries",
    [
        ("SELECT a FROM t", ["SELECT a FROM t"]),
        ("SELECT {a} FROM t", ["SELECT a FROM t"]),
        (
            "SELECT {a, b}, n FROM t GROUP BY {}",
            ["SELECT a, n FROM t GROUP BY a", "SELECT b, n FROM t GROUP BY b", "SELECT a, b, n FROM t GROUP BY a, b"],
        ),
        ("SELECT '{a,b}' FROM t", ["SELECT '{a,b}' FROM t"]),
    ],
)
def test_braces_stand_for_choices_of_columns(query: str, queries: list[str]) -> None:
    assert expand_braces(query) == queries


def test_published_table(tmp_path: Path) -> None:
    data = shared("defog/questions_gen_sqlite.csv")
    manifest = tmp_path / "suite.yaml"
    manifest.write_text(
        f"sqlbench: 1\nformat: defog\ndata: {data}\ndatabases: {data.parent}/sqlite_dbs\n", encoding="utf-8"
    )
    suite = load_suite(manifest)
    assert (len(suite.cases), sum(len(case.gold) > 1 for case in suite.cases)) == (210, 57)
