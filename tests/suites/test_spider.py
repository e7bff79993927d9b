from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.suites.spider_hardness import find_hardness
from tests.shared_data import shared

PARSED: dict[str, Any] = {
    "from": {"table_units": [["table_unit", 0]], "conds": []},
    "select": [False, [[0, [0, [0, 1, False], None]]]],
    "where": [],
    "groupBy": [],
    "having": [],
    "orderBy": [],
    "limit": None,
    "intersect": None,
    "union": None,
    "except": None,
}
CONDITION = [False, 2, [0, [0, 1, False], None], 1.0, None]


def write_suite(folder: Path, data: str, name: str = "dev.json", more: str = "") -> Path:
    """Write a manifest over one database ``shop`` and return its path."""
    (folder / "db" / "shop").mkdir(parents=True, exist_ok=True)
    sqlite3.connect(folder / "db" / "shop" / "shop.sqlite").close()
    (folder / name).write_text(data, encoding="utf-8")
    manifest = folder / "suite.yaml"
    manifest.write_text(f"sqlbench: 1\nformat: spider\ndata: {name}\ndatabases: db\n{more}", encoding="utf-8")
    return manifest


def entry(**changes: Any) -> dict[str, Any]:
    return {"db_id": "shop", "question": "How many?", "query": "SELECT 1", "sql": PARSED, **changes}


def test_questions_become_cases(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, json.dumps([entry(), entry(query="SELECT 2", sql=None)])))
    assert [(case.id, case.gold, case.difficulty) for case in suite.cases] == [
        ("0", ("SELECT 1",), "easy"),
        ("1", ("SELECT 2",), ""),
    ]
    assert suite.policy.name == "spider"
    assert suite.cases[1].facts["position"] == 1


def test_gold_lines_become_cases_without_questions(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, "SELECT 1\tshop\n\nSELECT 2\tshop\n", "dev_gold.sql"))
    assert [(case.id, case.gold[0], case.line) for case in suite.cases] == [("0", "SELECT 1", 1), ("1", "SELECT 2", 3)]


@pytest.mark.parametrize(
    "data, name, more, message",
    [
        ("{", "dev.json", "", r"dev\.json:1: is not JSON"),
        ("[]", "dev.json", "", r"dev\.json:1: wanted a JSON list"),
        ("[3]", "dev.json", "", r"entry 0: found '3', wanted an object"),
        (json.dumps([entry(query=3)]), "dev.json", "", r"entry 0: query is 3, wanted a text"),
        (json.dumps([entry(db_id="bank")]), "dev.json", "", r"question 0: database 'bank' has no file in"),
        (json.dumps([entry(db_id="../shop")]), "dev.json", "", r"database '\.\./shop' has no file in"),
        ("SELECT 1 shop\n", "gold.sql", "", r"gold\.sql:1: found 'SELECT 1 shop', wanted a query, a tab"),
        (json.dumps([entry()]), "dev.json", "only: [bank]\n", r"no question of dev\.json has its database"),
        (json.dumps([entry()]), "dev.json", "without: [shop]\n", r"no question of dev\.json has its database"),
        (
            json.dumps([entry()]),
            "dev.json",
            "tabels: x\n",
            r"suite\.yaml:5: unknown key 'tabels'. Did you mean 'tables'",
        ),
    ],
)
def test_faults_are_named(tmp_path: Path, data: str, name: str, more: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_suite(write_suite(tmp_path, data, name, more))


def test_tables_file_knows_the_databases(tmp_path: Path) -> None:
    manifest = write_suite(tmp_path, json.dumps([entry()]), more="tables: tables.json\n")
    tables = {"db_id": "bank", "table_names_original": [], "column_names_original": [], "foreign_keys": []}
    (tmp_path / "tables.json").write_text(json.dumps([tables]), encoding="utf-8")
    with pytest.raises(CaseError, match=r"question 0: database 'shop' is not in tables\.json"):
        load_suite(manifest)


def test_tables_file_knows_the_foreign_keys(tmp_path: Path) -> None:
    manifest = write_suite(tmp_path, json.dumps([entry()]), more="tables: tables.json\n")
    tables = {
        "db_id": "shop",
        "table_names_original": ["Item", "Sale"],
        "column_names_original": [[-1, "*"], [0, "Id"], [1, "Item_Id"]],
        "foreign_keys": [[2, 1]],
    }
    (tmp_path / "tables.json").write_text(json.dumps([tables]), encoding="utf-8")
    assert load_suite(manifest).settings["foreign_keys"] == {"shop": {"sale": ((("item_id",), "item", ("id",)),)}}


@pytest.mark.parametrize(
    "changes, hardness",
    [
        pytest.param({}, "easy", id="plain"),
        pytest.param({"where": [CONDITION]}, "easy", id="one_clause"),
        pytest.param({"where": [CONDITION], "limit": 1}, "medium", id="two_clauses"),
        pytest.param({"where": [CONDITION, "or", CONDITION], "limit": 1}, "hard", id="three_clauses"),
        pytest.param({"except": PARSED}, "hard", id="one_nested"),
        pytest.param({"except": PARSED, "where": [CONDITION], "limit": 1}, "extra", id="nested_and_two_clauses"),
    ],
)
def test_hardness(changes: dict[str, Any], hardness: str) -> None:
    assert find_hardness({**PARSED, **changes}) == hardness


def test_hardness_of_the_published_list() -> None:
    entries = json.loads(shared("spider/dev.json").read_text(encoding="utf-8"))
    counts = Counter(find_hardness(entry["sql"]) for entry in entries)
    assert counts == {"easy": 248, "medium": 446, "hard": 174, "extra": 166}
