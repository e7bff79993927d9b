"""BIRD's question lists are read as published, and its published predictions score as its own evaluator says."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor
from pytest_sqlbench.result import Limits
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome, Reason
from tests.shared_data import shared


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    entries = [
        {
            "question_id": 7,
            "db_id": "pets",
            "question": "How many?",
            "SQL": "SELECT COUNT(*) FROM pet",
            "evidence": "e",
        },
        {"question_id": 9, "db_id": "gone", "question": "Which?", "SQL": "SELECT 1", "difficulty": "simple"},
    ]
    (tmp_path / "dev.json").write_text(json.dumps(entries), encoding="utf-8")
    (tmp_path / "dbs" / "pets").mkdir(parents=True)
    with closing(sqlite3.connect(tmp_path / "dbs" / "pets" / "pets.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE pet (name TEXT)")
    connection.close()
    return tmp_path


def write(folder: Path, more: str = "") -> Path:
    path = folder / "bird.yaml"
    path.write_text(f"sqlbench: 1\nname: bird\nformat: bird\ndata: dev.json\ndatabases: dbs\n{more}", encoding="utf-8")
    return path


def test_questions_whose_database_is_there_are_read(folder: Path) -> None:
    suite = load_suite(write(folder, "missing_databases: skip\n"))
    (case,) = suite.cases
    assert (case.id, case.database, case.evidence, case.facts["position"]) == ("7", "pets", "e", 0)
    assert suite.policy == find_preset("bird")


def test_a_missing_database_is_named(folder: Path) -> None:
    with pytest.raises(CaseError, match=r"dev.json: question 9: database 'gone' has no file in"):
        load_suite(write(folder))


PUBLISHED = [
    ("predict_mini_dev_gpt-4-turbo_sqlite.json", 39, 56, 56),
    ("predict_mini_dev_mistralai-mixtral-8x7b-instru-4_sqlite.json", 23, 38, 45),
    ("predict_mini_dev_gpt-4-o_cot_SQLite.json", 76, 76, 76),
]
"""File, and right answers of 92 with extraction off, as published scripts do it, and in full."""


@pytest.fixture
def published(tmp_path: Path) -> Path:
    data = shared("bird/bird_mini_dev_sqlite.json")
    text = f"sqlbench: 1\nname: bird\nformat: bird\ndata: {data}\ndatabases: {shared('bird/databases')}\n"
    path = tmp_path / "bird.yaml"
    path.write_text(f"{text}missing_databases: skip\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name, off, fences, full", PUBLISHED, ids=["gpt-4-turbo", "mixtral", "gpt-4-o"])
def test_published_predictions_score_as_published(published: Path, name: str, off: int, fences: int, full: int) -> None:
    suite = load_suite(published)
    predictor = make_predictor(f"file:{shared('bird/predictions') / name}", Path())
    bind_suite(predictor, suite)
    right = {}
    for level in ("off", "fences", "full"):
        judge = open_judge(suite, Settings(extraction=level, limits=Limits(timeout_s=60.0)))  # type: ignore[arg-type]
        verdicts = [judge.judge(case, predictor.predict(case)) for case in suite.cases]
        judge.close()
        right[level] = sum(verdict.outcome is Outcome.CORRECT for verdict in verdicts)
    assert len(suite.cases) == 92
    assert right == {"off": off, "fences": fences, "full": full}


def test_three_predictions_for_all_cases_are_no_hundred_per_cent(published: Path, tmp_path: Path) -> None:
    suite = load_suite(published)
    lines = [json.dumps({"id": case.id, "sql": case.gold[0]}) for case in suite.cases[:3]]
    (tmp_path / "three.jsonl").write_text("\n".join(lines), encoding="utf-8")
    predictor = make_predictor("file:three.jsonl", tmp_path)
    bind_suite(predictor, suite)
    judge = open_judge(suite, Settings())
    verdicts = [judge.judge(case, predictor.predict(case)) for case in suite.cases]
    judge.close()
    assert sum(verdict.reason is Reason.MISSING_PREDICTION for verdict in verdicts) == 89
    assert sum(verdict.outcome is Outcome.CORRECT for verdict in verdicts) == 3
