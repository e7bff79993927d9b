"""A team's own cases: every key, and one line for everything that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.suites.registry import load_suite

HEAD = "sqlbench: 1\nname: s\ndatabase: {schema: CREATE TABLE t (a INTEGER);}\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_of_a_case_arrives(tmp_path: Path) -> None:
    text = HEAD + (
        "threshold: 0.5\ntags: [x]\npolicy: bird\ngate: {fail_under: 80%}\n"
        "cases:\n"
        "  - id: a\n    question: Q?\n    gold: [SELECT 1, SELECT 2]\n    evidence: hint\n    tags: [y, z]\n"
        "    difficulty: hard\n    threshold: 0.25\n    policy: {rows: set}\n    required_columns: [1, name]\n"
    )
    suite = load_suite(write(tmp_path, text))
    case = suite.cases[0]
    assert (suite.threshold, suite.tags, suite.policy, suite.fail_under) == (0.5, ("x",), find_preset("bird"), 0.8)
    assert (case.gold, case.evidence, case.tags) == (("SELECT 1", "SELECT 2"), "hint", ("y", "z"))
    assert (case.difficulty, case.threshold, case.line) == ("hard", 0.25, 9)
    assert case.policy is not None
    assert (case.policy.rows, case.policy.required) == ("set", ("1", "name"))


def test_several_engines_give_a_case_each(tmp_path: Path) -> None:
    text = HEAD + "engines: [sqlite, duckdb]\ncases:\n  - {id: a, question: Q, gold: SELECT 1}\n"
    suite = load_suite(write(tmp_path, text))
    assert [(case.id, case.engine) for case in suite.cases] == [("a@sqlite", "sqlite"), ("a@duckdb", "duckdb")]


def test_jsonl_lines_are_the_same_cases(tmp_path: Path) -> None:
    lines = [{"id": f"c{n}", "question": "Q", "gold": "SELECT 1", "tags": ["t"]} for n in range(3)]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    suite = load_suite(write(tmp_path, HEAD + "data: c.jsonl\n"))
    assert [(case.id, case.line, case.tags) for case in suite.cases] == [(f"c{n}", n + 1, ("t",)) for n in range(3)]


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "a", "question": "Q", "gold": "SELECT 1"}\n', encoding="utf-8")
    path = write(tmp_path, HEAD + "data: c.jsonl\n")
    before = load_suite(path).digest
    assert load_suite(path).digest == before
    (tmp_path / "c.jsonl").write_text('{"id": "a", "question": "Q", "gold": "SELECT 2"}\n', encoding="utf-8")
    assert load_suite(path).digest != before


@pytest.mark.parametrize(
    "line, wanted",
    [
        ("[1]", "c.jsonl:1: found '[1]', wanted an object"),
        ('{"id": "a", "golld": 1}', "c.jsonl:1: unknown key 'golld'"),
        ('{"id": 1}', "c.jsonl:1: id is 1; wanted 1 to 60"),
        ('{"id": "a", "question": "Q"}', "c.jsonl:1: case 'a': there is no gold"),
        ('{"id": "a", "question": "Q", "gold": []}', "c.jsonl:1: case 'a': gold is []"),
        ('{"id": "a", "question": "Q", "gold": "S", "tags": [1]}', "c.jsonl:1: case 'a': tags is [1]"),
        ('{"id": "a", "question": "Q", "gold": "S", "threshold": true}', "threshold is True, wanted a number"),
        ('{"id": "a", "question": "Q", "gold": "S", "policy": {"row": 1}}', "unknown policy key 'row'. Known:"),
        ('{"id": "a", "question": "Q", "gold": "S", "database": "x"}', "database is 'x', wanted one of main"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, line: str, wanted: str) -> None:
    (tmp_path / "c.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(CaseError) as caught:
        load_suite(write(tmp_path, HEAD + "data: c.jsonl\n"))
    assert wanted in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{"id": "a",\n"x": "\xff"}\n')
    with pytest.raises(CaseError, match=r"c.jsonl:2: is not UTF-8 text"):
        load_suite(write(tmp_path, HEAD + "data: c.jsonl\n"))


def test_dates_stay_texts(tmp_path: Path) -> None:
    text = HEAD.replace("}", ", rows: {t: [{a: 2026-01-02}]}}") + "cases:\n  - {id: a, question: Q, gold: SELECT 1}\n"
    suite = load_suite(write(tmp_path, text))
    assert suite.databases["main"].inline_rows["t"] == ({"a": "2026-01-02"},)
