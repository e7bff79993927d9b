from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main

MANIFEST = """\
sqlbench: 1
database:
  schema: |
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);
    CREATE TABLE other (id INTEGER);
  rows:
    item: [{id: 1, name: pen, price: 1.5}, {id: 2, name: cup, price: 4}]
cases:
  - {id: dear, question: Dear ones?, gold: SELECT name FROM item WHERE price > 3}
"""


@pytest.fixture(autouse=True)
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "shop.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    return path


def test_the_witness_is_written_and_tells_the_queries_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT name FROM item WHERE id = 2"
    assert main(["witness", "shop.yaml", "dear", "--sql", sql]) == 1
    out = capsys.readouterr().out
    assert "table item\n" in out
    assert f"predicted: {sql}\n" in out
    connection = sqlite3.connect(tmp_path / "witness-dear.sqlite")
    gold = connection.execute("SELECT name FROM item WHERE price > 3").fetchall()
    assert sorted(gold) != sorted(connection.execute(sql).fetchall())
    assert connection.execute("SELECT COUNT(*) FROM other").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(
    "sql, told",
    [
        ("SELECT name FROM item WHERE NOT price <= 3", "30 databases tell no difference"),
        ("select name from item where price > 3;", "it is the gold in other words"),
    ],
)
def test_no_witness_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], sql: str, told: str) -> None:
    assert main(["witness", "shop.yaml", "dear", "--sql", sql]) == 0
    assert told in capsys.readouterr().out
    assert list(tmp_path.glob("*.sqlite")) == []


def test_predictions_come_from_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "dear", "reply": "```sql\\nSELECT \'cup\'\\n```"}\n', encoding="utf-8")
    assert main(["witness", "shop.yaml", "dear", "--model", "file:p.jsonl", "--output", "w.sqlite"]) == 1
    assert (tmp_path / "w.sqlite").is_file()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["absent", "--sql", "SELECT 1"], "there is no case 'absent'"),
        (["dear", "--sql", "SELECT 1", "--output", "shop.yaml"], "exists already"),
        (["dear", "--sql", "SELECT 1", "--policy", "x"], "unknown policy 'x'"),
    ],
)
def test_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["witness", "shop.yaml", *arguments]) == 4
    assert message in capsys.readouterr().err
