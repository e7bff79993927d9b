from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.case import Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.registry import load_suite

ENTRY = {
    "question_id": 17,
    "db_id": "shop",
    "question": "How many?",
    "evidence": "count rows",
    "SQL": "SELECT 1",
    "difficulty": "simple",
}


def read(folder: Path, entries: list[dict[str, Any]], more: str = "") -> Suite:
    (folder / "db" / "shop").mkdir(parents=True, exist_ok=True)
    sqlite3.connect(folder / "db" / "shop" / "shop.sqlite").close()
    (folder / "dev.json").write_text(json.dumps(entries), encoding="utf-8")
    manifest = folder / "suite.yaml"
    manifest.write_text(f"sqlbench: 1\nformat: bird\ndata: dev.json\ndatabases: db\n{more}", encoding="utf-8")
    return load_suite(manifest)


def test_questions_become_cases(tmp_path: Path) -> None:
    (case,) = read(tmp_path, [ENTRY]).cases
    assert (case.id, case.gold, case.evidence, case.difficulty) == ("17", ("SELECT 1",), "count rows", "simple")


def test_evidence_can_be_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, [ENTRY], "evidence: no\n").cases[0].evidence == ""


def test_lists_without_ids_count_places(tmp_path: Path) -> None:
    entry = {"db_id": "shop", "question": "?", "query": "SELECT 2"}
    assert [case.id for case in read(tmp_path, [entry, entry]).cases] == ["0", "1"]


def test_databases_that_are_absent_are_skipped_where_asked(tmp_path: Path) -> None:
    elsewhere = {**ENTRY, "question_id": 18, "db_id": "bank"}
    assert len(read(tmp_path, [ENTRY, elsewhere], "missing_databases: skip\n").cases) == 1
    with pytest.raises(CaseError, match="question 18: database 'bank' has no file"):
        read(tmp_path, [ENTRY, elsewhere])
