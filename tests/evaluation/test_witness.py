from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.evaluation.witness import WitnessBench
from pytest_sqlbench.library import evaluate_sql
from pytest_sqlbench.policy import PRESETS
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Reason, from_record, to_record

SCHEMA = """
CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT NOT NULL, dept TEXT, salary REAL, bonus INTEGER,
    grade TEXT CHECK (grade IN ('junior', 'senior')), mail TEXT UNIQUE);
CREATE TABLE pet(id INTEGER PRIMARY KEY, emp_id INTEGER NOT NULL REFERENCES emp(id), kind TEXT);
CREATE TABLE loose(emp_id INTEGER, note TEXT);
INSERT INTO emp VALUES (1,'Ann','eng',100.5,10,'junior','a@x'),(2,'Bob','eng',80,NULL,'senior','b@x'),
    (3,'Cid','ops',80,5,'junior','c@x'),(4,'Dee','ops',60,0,'senior','d@x'),(5,'Eve','hr',60,NULL,'junior','e@x');
INSERT INTO pet VALUES (1,1,'cat'),(2,3,'dog'),(3,4,'cat');
INSERT INTO loose VALUES (1,'x'),(2,'y');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    database = tmp_path / "emp.sqlite"
    connection = sqlite3.connect(database)
    connection.executescript(SCHEMA)
    connection.close()
    return database


@pytest.fixture
def bench(path: Path) -> Iterator[WitnessBench]:
    made = WitnessBench(path)
    yield made
    made.close()


def is_exposed(bench: WitnessBench, gold: str, predicted: str, policy: str = "default") -> bool:
    return bench.try_prediction([gold], predicted, PRESETS[policy], 30).witness is not None


@pytest.mark.parametrize(
    "gold, predicted",
    [
        pytest.param("SELECT COUNT(*) FROM emp WHERE dept = 'eng'", "SELECT 2", id="constant_guess"),
        pytest.param(
            "SELECT COUNT(*) FROM emp WHERE dept = 'eng'",
            "SELECT COUNT(*) FROM emp WHERE bonus IS NULL",
            id="coincidence",
        ),
        pytest.param("SELECT name FROM emp WHERE salary >= 60", "SELECT name FROM emp", id="condition_dropped"),
        pytest.param(
            "SELECT name FROM emp WHERE salary > 70", "SELECT name FROM emp WHERE salary >= 70", id="border_moved"
        ),
        pytest.param("SELECT DISTINCT name FROM emp", "SELECT name FROM emp", id="distinct_dropped"),
        pytest.param("SELECT COUNT(*) FROM emp", "SELECT COUNT(dept) FROM emp", id="nulls_are_not_counted"),
        pytest.param(
            "SELECT name FROM emp WHERE dept = 'eng'", "SELECT name FROM emp WHERE dept LIKE '%eng%'", id="pattern"
        ),
        pytest.param(
            "SELECT name FROM emp WHERE dept = 'eng' AND salary > 90",
            "SELECT name FROM emp WHERE dept = 'eng' OR salary > 90 LIMIT 1",
            id="or_for_and",
        ),
        pytest.param("SELECT MAX(salary) FROM emp", "SELECT 100.5", id="answer_copied"),
        pytest.param("SELECT MAX(bonus) FROM emp", "SELECT SUM(bonus) - 5 FROM emp", id="another_aggregate"),
        pytest.param(
            "SELECT name FROM emp JOIN pet ON emp.id = pet.emp_id WHERE kind = 'dog'",
            "SELECT name FROM emp WHERE name = 'Cid'",
            id="join_replaced_by_its_answer",
        ),
        pytest.param(
            "SELECT name FROM emp WHERE id NOT IN (SELECT emp_id FROM pet)",
            "SELECT name FROM emp WHERE bonus IS NULL",
            id="another_table_never_read",
        ),
    ],
)
def test_luck_is_exposed(bench: WitnessBench, gold: str, predicted: str) -> None:
    assert is_exposed(bench, gold, predicted)


@pytest.mark.parametrize(
    "gold, predicted",
    [
        pytest.param(
            "SELECT name FROM emp WHERE salary > 70",
            "SELECT e.name FROM emp AS e WHERE 70 < e.salary",
            id="turned_round",
        ),
        pytest.param(
            "SELECT name FROM emp WHERE salary BETWEEN 60 AND 80",
            "SELECT name FROM emp WHERE salary >= 60 AND salary <= 80",
            id="between",
        ),
        pytest.param(
            "SELECT name FROM emp WHERE dept IN ('eng', 'hr')",
            "SELECT name FROM emp WHERE dept = 'hr' OR dept = 'eng'",
            id="in_for_or",
        ),
        pytest.param("SELECT COUNT(*) FROM emp", "SELECT COUNT(id) FROM emp", id="key_is_never_null"),
        pytest.param("SELECT COUNT(*) FROM emp", "SELECT COUNT(name) FROM emp", id="declared_not_null"),
        pytest.param(
            "SELECT mail FROM emp WHERE mail IS NOT NULL",
            "SELECT DISTINCT mail FROM emp WHERE mail IS NOT NULL",
            id="declared_unique",
        ),
        pytest.param(
            "SELECT kind FROM pet", "SELECT kind FROM pet JOIN emp ON pet.emp_id = emp.id", id="declared_foreign_key"
        ),
        pytest.param(
            "SELECT note FROM loose",
            "SELECT note FROM loose JOIN emp ON loose.emp_id = emp.id",
            id="foreign_key_that_the_data_obey",
        ),
        pytest.param(
            "SELECT name FROM emp",
            "SELECT name FROM emp WHERE grade IN ('junior', 'senior') OR grade IS NULL",
            id="declared_check",
        ),
        pytest.param(
            "SELECT name FROM emp WHERE id IN (SELECT emp_id FROM pet)",
            "SELECT name FROM emp WHERE EXISTS (SELECT 1 FROM pet WHERE emp_id = emp.id)",
            id="exists",
        ),
        pytest.param(
            "SELECT name FROM emp ORDER BY salary DESC LIMIT 1",
            "SELECT name FROM emp ORDER BY salary DESC, name LIMIT 1",
            id="ambiguous_gold_proves_nothing",
        ),
        pytest.param(
            "SELECT dept, COUNT(*) FROM emp GROUP BY dept", "SELECT dept, COUNT(1) FROM emp GROUP BY 1", id="group"
        ),
    ],
)
def test_equivalent_queries_are_never_exposed(bench: WitnessBench, gold: str, predicted: str) -> None:
    for policy in ("default", "bird", "spider"):
        assert not is_exposed(bench, gold, predicted, policy)


def test_columns_that_the_real_data_told_apart_may_look_alike(bench: WitnessBench) -> None:
    assert not is_exposed(bench, "SELECT name, dept FROM emp", "SELECT dept, name FROM emp")


def test_any_gold_will_do(bench: WitnessBench) -> None:
    golds = ["SELECT COUNT(*) FROM emp", "SELECT COUNT(dept) FROM emp"]
    assert bench.try_prediction(golds, "SELECT COUNT(dept) FROM emp", PRESETS["default"], 30).witness is None


def test_the_same_query_is_not_tried(bench: WitnessBench) -> None:
    trial = bench.try_prediction(["SELECT name FROM emp"], "select name\nfrom emp;", PRESETS["default"], 30)
    assert (trial.is_same_form, trial.tried, trial.witness) == (True, 0, None)


def test_a_witness_shows_its_tables_and_both_answers(bench: WitnessBench) -> None:
    sql = "SELECT COUNT(*) FROM emp WHERE dept = 'eng'"
    first = bench.try_prediction([sql], "SELECT 2", PRESETS["default"], 30).witness
    again = bench.try_prediction([sql], "SELECT 2", PRESETS["default"], 30).witness
    assert first is not None
    assert first == again
    columns, rows = first.tables["emp"]
    assert first.gold.rows == [(sum(row[columns.index("dept")] == "eng" for row in rows),)]
    assert first.predicted.rows == [(2,)]


@pytest.mark.parametrize(
    "predicted",
    [
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT COUNT(*) FROM t",
        "SELECT load_extension('x')",
        "ATTACH 'leak.db' AS leak",
        "INSERT INTO emp VALUES (9, 'x', 'x', 1, 1, 'junior', 'z') RETURNING 1",
        "SELECT nme FROM emp",
        "no sql",
    ],
)
def test_predictions_that_misbehave_prove_nothing_and_harm_nothing(
    bench: WitnessBench, path: Path, predicted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    before = path.read_bytes()
    trial = bench.try_prediction(["SELECT COUNT(*) FROM emp"], predicted, PRESETS["default"], 3)
    assert trial.witness is None
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_verdicts_carry_the_second_score(path: Path) -> None:
    settings = Settings(witnesses=30)
    lucky = evaluate_sql("SELECT COUNT(*) FROM emp WHERE dept = 'eng'", "SELECT 2", path, settings=settings)
    assert lucky.outcome.value == "correct"
    assert "passed_by_luck" in lucky.flags
    assert lucky.scores["passed_by_luck"] == 1.0
    assert lucky.facts["witness"]["predicted"] == [[2]]
    assert from_record(to_record(lucky)).facts["witness"]["tables"]["emp"]["columns"][0] == "id"
    sound = evaluate_sql("SELECT COUNT(*) FROM emp", "SELECT COUNT(id) FROM emp", path, settings=settings)
    assert sound.scores["passed_by_luck"] == 0.0


def test_instances_of_ones_own_have_to_match_too(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.executescript(SCHEMA + "INSERT INTO emp VALUES (6,'Fay','eng',10,1,'junior','f@x');")
    connection.close()
    manifest = tmp_path / "suite.yaml"
    manifest.write_text(
        "sqlbench: 1\ndatabase: emp.sqlite\ninstances: [other.sqlite]\n"
        "cases: [{id: a, question: How many?, gold: SELECT COUNT(*) FROM emp WHERE dept = 'eng'}]\n",
        encoding="utf-8",
    )
    suite = load_suite(manifest)
    judge = open_judge(suite, Settings())
    try:
        verdict = judge.judge(suite.cases[0], Prediction(reply="SELECT 2"))
        assert (verdict.outcome.value, verdict.reason) == ("wrong", Reason.OTHER_INSTANCE)
        assert verdict.detail == "on other.sqlite: row 1, column 1: 2 is not 3"
        assert judge.judge(suite.cases[0], Prediction(reply=suite.cases[0].gold[0])).outcome.value == "correct"
    finally:
        judge.close()


def test_a_file_that_cannot_be_read_leaves_the_verdict_alone(tmp_path: Path) -> None:
    database = tmp_path / "empty.sqlite"
    sqlite3.connect(database).close()
    case = Case("s", "c", "", ("SELECT 1",), database="main")
    suite = Suite("s", tmp_path / "s.yaml", (case,), {"main": Database("main", database)})
    judge = open_judge(suite, Settings(witnesses=3))
    try:
        assert judge.judge(case, Prediction(reply="SELECT 1.0")).scores["passed_by_luck"] == 0.0
    finally:
        judge.close()
