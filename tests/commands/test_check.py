from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main
from pytest_sqlbench.scoring.lint import RULES
from tests.shared_data import shared

SCHEMA = """
CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT, dept TEXT, salary REAL, power TEXT, note TEXT);
INSERT INTO emp VALUES (1,'Ann','eng',100,'90',NULL), (2,'Bob','eng',80,'130',NULL), (3,'Cid','ops',80,'8',NULL),
    (4,'Dee','ops',60,'70',NULL), (5,'Eve','hr',60,'70',NULL);
CREATE TABLE loose(k TEXT, v REAL);
INSERT INTO loose VALUES ('a', 0.1), ('a', 0.2), ('a', 0.3), ('b', 1e16), ('b', 1.0), ('b', 1.0);
"""


def check(folder: Path, *cases: str, more: tuple[str, ...] = ()) -> int:
    """Write a suite of cases (each the rest of a flow mapping) and check it."""
    database = folder / "emp.sqlite"
    if not database.exists():
        connection = sqlite3.connect(database)
        connection.executescript(SCHEMA)
        connection.close()
    listed = "".join(f"  - {{id: c{number}, {case}}}\n" for number, case in enumerate(cases))
    (folder / "emp.yaml").write_text(f"sqlbench: 1\ndatabase: emp.sqlite\ncases:\n{listed}", encoding="utf-8")
    return main(["check", str(folder / "emp.yaml"), *more])


def gold(sql: str) -> str:
    return f'question: What?, gold: "{sql}"'


@pytest.mark.parametrize(
    "case, finding",
    [
        pytest.param(gold("SELECT nme FROM emp"), "error   emp[c0] gold_fails: no such column: nme", id="fails"),
        pytest.param(gold("SELECT name FROM emp WHERE id > 9"), "warning emp[c0] empty", id="empty"),
        pytest.param(
            gold("SELECT name FROM emp ORDER BY salary LIMIT 1"),
            "warning emp[c0] arbitrary_cut: 2 rows tie under ORDER BY, 1 are returned",
            id="tie_at_the_limit",
        ),
        pytest.param(
            gold("SELECT name FROM emp LIMIT 2"),
            "warning emp[c0] arbitrary_cut: 5 rows fit without ORDER BY, 2 are returned",
            id="limit_without_order",
        ),
        pytest.param(
            gold("SELECT name FROM emp GROUP BY dept"), "warning emp[c0] order_dependent: row 1", id="bare_column"
        ),
        pytest.param(
            gold("SELECT name FROM emp WHERE id = (SELECT id FROM emp ORDER BY salary LIMIT 1)"),
            "warning emp[c0] order_dependent: row 1",
            id="cut_in_a_subquery",
        ),
        pytest.param(
            gold("SELECT name FROM emp ORDER BY power, id"), "warning emp[c0] text_sort: emp.power", id="text_sort"
        ),
        pytest.param(gold("SELECT MAX(power) FROM emp"), "warning emp[c0] text_sort: emp.power", id="greatest_text"),
        pytest.param(
            gold("SELECT COUNT(*) FROM emp WHERE '2020' < date('now')"),
            "warning emp[c0] relative_date: 'now'",
            id="relative_date",
        ),
        pytest.param(gold("SELECT random()"), "error   emp[c0] gold_differs_from_itself", id="random"),
        pytest.param(
            gold("SELECT COUNT(CASE WHEN id > 2 THEN 1 ELSE 0 END) FROM emp"),
            "warning emp[c0] constant_aggregate: COUNT(CASE WHEN id > 2 THEN 1 ELSE 0 END)",
            id="count_with_else",
        ),
        pytest.param(
            gold("SELECT COUNT(id > 2) FROM emp"), "warning emp[c0] constant_aggregate: COUNT(id > 2)", id="count_truth"
        ),
        pytest.param(
            gold("SELECT name FROM emp WHERE note = NULL OR id = 1"),
            "warning emp[c0] compares_with_null: note = NULL",
            id="equals_null",
        ),
        pytest.param(
            'question: What?, gold: ["SELECT 1", "SELECT 2"]',
            "warning emp[c0] golds_disagree: row 1, column 1: 2 is not 1",
            id="golds_disagree",
        ),
        pytest.param(gold("SELECT 1") + ', evidence: " "', "warning emp[c0] blank_evidence", id="blank_evidence"),
    ],
)
def test_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, finding: str) -> None:
    assert check(tmp_path, case) == 1
    assert finding in capsys.readouterr().out


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM emp",
        "SELECT name FROM emp ORDER BY salary",
        "SELECT name FROM emp ORDER BY salary DESC LIMIT 1",
        "SELECT salary FROM emp ORDER BY salary LIMIT 1",
        "SELECT dept, COUNT(CASE WHEN id > 2 THEN 1 END) FROM emp GROUP BY dept",
        "SELECT name FROM emp ORDER BY name, power",
        "SELECT SUM(CASE WHEN id > 2 THEN 1 ELSE 0 END) FROM emp",
        "SELECT SUM(v) FROM loose WHERE k = 'a'",
    ],
)
def test_sound_golds_have_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str], sql: str) -> None:
    level = ("--level", "warning")
    ignored = "text_sort" if "power" in sql else None
    code = check(tmp_path, gold(sql), more=level)
    assert code == 0 or ignored in capsys.readouterr().out


@pytest.mark.parametrize(
    "case, note",
    [
        (gold("SELECT name FROM emp ORDER BY salary"), "ties: 2 rows tie"),
        (gold("SELECT dept FROM emp"), "repeated_rows: 5 rows, 3 different"),
        (gold("SELECT note FROM emp WHERE id = 1"), "null_only"),
        ("question: What?, gold: 'SELECT name FROM emp WHERE dept = \"hr\"'", 'misquoted: "hr" is no column'),
        ('question: What?, gold: ["SELECT 1", "SELECT 1, 2"]', "golds_differ_in_shape: 1 and 2 columns"),
    ],
)
def test_notes_are_shown_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, note: str) -> None:
    assert check(tmp_path, case) == 0
    assert check(tmp_path, case, more=("--level", "note")) == 1
    assert f"note    emp[c0] {note}" in capsys.readouterr().out


def test_questions_that_stand_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [gold("SELECT 1"), "question: ' what ', gold: SELECT 2", "question: what, gold: select 1"]
    assert check(tmp_path, *cases, more=("--level", "note")) == 1
    out = capsys.readouterr().out
    assert "warning emp[c1] duplicate_question: as case c0" in out
    assert "note    emp[c2] repeated_question: as case c0" in out


def test_accepted_findings_are_not_shown_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = ("--accepted", str(tmp_path / "accepted.txt"))
    case = gold("SELECT name FROM emp WHERE id > 9")
    assert check(tmp_path, case, more=(*accepted, "--accept")) == 0
    assert (tmp_path / "accepted.txt").read_text(encoding="utf-8") == "emp/c0 empty\n"
    assert check(tmp_path, case, more=accepted) == 0
    assert "1 cases checked: nothing found; 1 accepted" in capsys.readouterr().out
    assert check(tmp_path, gold("SELECT 1"), more=accepted) == 0
    assert "accepted, and no longer found: emp/c0 empty" in capsys.readouterr().out
    assert check(tmp_path, gold("SELECT nme"), more=accepted) == 1


@pytest.mark.parametrize(
    "more, message",
    [
        (("--accept",), "--accept needs --accepted=FILE"),
        (("--accepted", "no.txt"), "no.txt: cannot be read"),
        (("--case", "c9"), "is named c9"),
    ],
)
def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], message: str) -> None:
    assert check(tmp_path, gold("SELECT 1"), more=more) == 4
    assert message in capsys.readouterr().err


def test_one_case_can_be_chosen(tmp_path: Path) -> None:
    assert check(tmp_path, gold("SELECT nme"), "question: Why?, gold: SELECT 1", more=("--case", "c1")) == 0


def test_the_database_is_left_as_it_was(tmp_path: Path) -> None:
    check(tmp_path, gold("SELECT 1"))
    before = (tmp_path / "emp.sqlite").read_bytes()
    check(tmp_path, gold("SELECT name FROM emp ORDER BY salary LIMIT 1"))
    assert (tmp_path / "emp.sqlite").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["emp.sqlite", "emp.yaml"]


def test_every_rule_has_a_meaning() -> None:
    assert all(meaning and rule == rule.lower() for rule, (_, meaning) in RULES.items())


def test_published_golds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Spider's own: as many empty golds and cuts as another tool finds, and CPU time that nobody minds."""
    data = shared("spider/dev.json").parent
    manifest = tmp_path / "spider.yaml"
    manifest.write_text(
        f"sqlbench: 1\nformat: spider\ndata: {data}/dev.json\ndatabases: {data}/database\nwithout: [wta_1]\n",
        encoding="utf-8",
    )
    assert main(["check", str(manifest), "--level", "note"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("972 cases checked: arbitrary_cut 42, empty 49, misquoted 213, noisy_fractions ")
    assert "order_dependent 2" in last
    assert float(last.rpartition("(")[2].split()[0]) < 40
