"""SEDE's files become cases; what is not as published is refused with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.registry import load_suite
from tests.shared_data import shared

TABLES = [
    {
        "db_id": "shop",
        "table_names_original": ["Orders", "Items"],
        "column_names_original": [[-1, "*"], [0, "Id"], [0, "Day"], [1, "Name"]],
        "column_types": ["text", "number", "time", "text"],
    }
]


def entry(**changes: Any) -> dict[str, Any]:
    whole = {
        "QuerySetId": 7,
        "Title": "How many orders?",
        "Description": "A long story.",
        "QueryBody": "SELECT COUNT(*) FROM Orders",
        "CreationDate": "2020-01-01",
        "validated": True,
    }
    return {**whole, **changes}


def write_suite(folder: Path, *entries: Any, more: str = "") -> Path:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in entries or (entry(),)]
    (folder / "val.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "tables.json").write_text(json.dumps(TABLES), encoding="utf-8")
    manifest = folder / "sede.yaml"
    manifest.write_text(f"sqlbench: 1\nformat: sede\ndata: val.jsonl\n{more}", encoding="utf-8")
    return manifest


def test_entries_become_cases(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, entry(), entry(QuerySetId=8, Title="Second")))
    assert [(case.id, case.question, case.gold, case.line) for case in suite.cases] == [
        ("val-7", "How many orders?", ("SELECT COUNT(*) FROM Orders",), 1),
        ("val-8", "Second", ("SELECT COUNT(*) FROM Orders",), 2),
    ]
    assert (suite.metric, suite.threshold, suite.cases[0].dialect) == ("pcm_f1", 1.0, "tsql")


def test_description_is_nowhere_in_a_case(tmp_path: Path) -> None:
    """It was never part of the task, so no prompt may see it."""
    assert "long story" not in repr(load_suite(write_suite(tmp_path)).cases)


def test_tables_are_described_for_the_prompt(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, more="tables: tables.json\n"))
    assert suite.cases[0].facts["schema"] == "Orders(Id number, Day time)\nItems(Name text)"


def test_settings_of_the_metric_are_read(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, more="metric: pcm_em\nthreshold: 0.5\nvalues: false\non_clause: false\n"))
    assert (suite.metric, suite.threshold) == ("pcm_em", 0.5)
    assert suite.settings == {"parser": "official", "values": False, "on_clause": False}


def test_other_parser_shows_in_the_metric(tmp_path: Path) -> None:
    assert load_suite(write_suite(tmp_path, more="parser: sqlglot\n")).metric == "pcm_f1[sqlglot]"


def test_folder_needs_a_split(tmp_path: Path) -> None:
    manifest = write_suite(tmp_path)
    manifest.write_text("sqlbench: 1\nformat: sede\ndata: .\nsplit: val\n", encoding="utf-8")
    assert [case.id for case in load_suite(manifest).cases] == ["val-7"]
    manifest.write_text("sqlbench: 1\nformat: sede\ndata: .\nsplit: dev\n", encoding="utf-8")
    with pytest.raises(CaseError, match=r"sede.yaml:4: split 'dev' names no .jsonl file of .*Found: val\."):
        load_suite(manifest)


@pytest.mark.parametrize(
    ("entries", "more", "message"),
    [
        (["{"], "", r"val.jsonl:1: is not JSON"),
        ([entry(), "[]"], "", r"val.jsonl:2: found '\[\]', wanted an object with QuerySetId, Title and QueryBody"),
        ([entry(Title=None)], "", r"val.jsonl:1: Title is None, wanted a text"),
        ([entry(QueryBody=" ")], "", r"val.jsonl:1: QueryBody is ' ', wanted a text"),
        ([entry(QuerySetId="7")], "", r"val.jsonl:1: QuerySetId is '7', wanted a whole number"),
        ([entry(), entry()], "", r"val-7.* stands twice"),
        ([" "], "", r"val.jsonl: holds no question"),
        ([entry()], "metric: execution_accuracy\n", r"sede.yaml:4: .*needs a database, and SEDE has none"),
        ([entry()], "parser: own\n", r"sede.yaml:4: parser is 'own'. Allowed: official, sqlglot\."),
        ([entry()], "values: 3\n", r"sede.yaml:4: values is 3, wanted true or false"),
        ([entry()], "tables: val.jsonl\n", r"val.jsonl: wanted a list of one database with table_names_original"),
        ([entry()], "split: val\n", r"sede.yaml:4: split is for a folder"),
        ([entry()], "titles: yes\n", r"sede.yaml:4: unknown key 'titles'"),
    ],
    ids=[
        "not_json", "not_an_object", "no_title", "empty_query", "id_as_text", "same_id", "empty_file",
        "metric_over_rows", "unknown_parser", "values_no_flag", "tables_of_another_shape", "split_of_a_file",
        "unknown_key",
    ],
)  # fmt: skip
def test_fault_is_named_with_file_and_line(tmp_path: Path, entries: list[Any], more: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_suite(write_suite(tmp_path, *entries, more=more))


@pytest.mark.parametrize(("split", "first"), [("val", "val-1233"), ("test", "test-")], ids=["val", "test"])
def test_published_files_are_read(tmp_path: Path, split: str, first: str) -> None:
    data = shared(f"sede/{split}.jsonl")
    manifest = tmp_path / "sede.yaml"
    tables = data.with_name("tables_so.json")
    manifest.write_text(f"sqlbench: 1\nformat: sede\ndata: {data}\ntables: {tables}\n", encoding="utf-8")
    suite = load_suite(manifest)
    assert len(suite.cases) == 857
    assert suite.cases[0].id.startswith(first)
    assert suite.cases[0].facts["schema"].startswith("Badges(Id number, UserId number, ")
