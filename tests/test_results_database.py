"""The results database by itself: the documented questions, history, runs again, versions, and Datasette."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.results_database import ResultsDatabase, read_rows
from pytest_sqlbench.run import Fingerprint, Run
from pytest_sqlbench.triage import diagnose_all
from pytest_sqlbench.verdict import Verdict
from tests.verdicts import make_verdict, make_verdicts

PAGE = Path(__file__).parent.parent / "docs" / "reports.md"
GOLD = "SELECT a FROM t WHERE a > 1"


def keep(path: Path, letters: str, **more: object) -> None:
    verdicts = [
        make_verdict(f"c{n}", letter, gold=GOLD, sql=GOLD.replace("1", "2"), difficulty="easy" if n % 2 else "hard",
                     tokens=10 * n, cost_usd=0.01, **more)
        for n, letter in enumerate(letters)
    ]  # fmt: skip
    keep_run(path, verdicts)


def keep_run(path: Path, verdicts: list[Verdict]) -> ResultsDatabase:
    database = ResultsDatabase(path, "made-up")
    database.add(verdicts)
    run = Run(tuple(verdicts), Fingerprint(model="made-up"))
    database.finish(run, diagnose_all(verdicts), {})
    database.close()
    return database


def questions() -> list[str]:
    return re.findall(r"^### [^\n]+\?\n\n```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_six_documented_questions_are_answered(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    keep(path, "ccwm")
    keep(path, "wcwcu")
    assert [read_rows(path, query) for query in questions()] == [
        [(1, "orders", 4, 50.0), (2, "orders", 4, 50.0)],
        [("orders", "c0", "correct", "wrong")],
        [("filter_value", 2)],
        [("hard", 2, 0.0), ("easy", 2, 100.0)],
        [("orders", "c2", 2)],
        [(1, 4, 60, 0.04, 0.02), (2, 5, 100, 0.05, 0.025)],
    ]


def test_history_is_that_of_earlier_runs(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    keep(path, "cw")
    keep(path, "wm")
    database = ResultsDatabase(path)
    database.add(make_verdicts("cc"))
    assert database.read_history() == {
        ("orders", "c0"): ["run 1 correct", "run 2 wrong"],
        ("orders", "c1"): ["run 1 wrong", "run 2 trouble"],
    }
    database.close()


def test_a_case_that_is_run_again_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    scored = {"scores": {"pcm_em": 0.5}, "facts": {"components": [
        {"name": "select", "matched": ["a"], "missing": [], "extra": ["b"]}]}}  # fmt: skip
    keep_run(path, [make_verdict("c", "w", **scored), make_verdict("c", "c", **scored)])
    assert read_rows(path, "SELECT outcome FROM verdicts") == [("correct",)]
    for table in ("scores", "components", "timings"):
        assert read_rows(path, f"SELECT count(*) FROM {table}") == [(1,)]


def test_an_edited_case_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    keep(path, "c", digest="1")
    keep(path, "w", digest="2")
    assert read_rows(path, "SELECT count(*) FROM cases") == [(2,)]
    assert read_rows(path, "SELECT * FROM changes") == []


def test_any_text_of_a_model_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    texts = ["\ud800", "\0", "'; DROP TABLE runs; --"]
    keep_run(path, [make_verdict(f"c{n}", "w", sql=text, reply=text, tags=(text,)) for n, text in enumerate(texts)])
    assert read_rows(path, "SELECT sql FROM verdicts ORDER BY id") == [("\\ud800",), *((text,) for text in texts[1:])]


def test_files_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    text, other, newer = tmp_path / "text.db", tmp_path / "other.db", tmp_path / "newer.db"
    text.write_text("no database at all, and long enough to be seen as one by nobody" * 9)
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    keep(newer, "c")
    with closing(sqlite3.connect(newer)) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES (99, 'later', '')")
    for path, words in ((text, "not a database"), (other, "another program's"), (newer, "a newer pytest-sqlbench")):
        before = path.read_bytes()
        with pytest.raises(UsageError, match=words):
            ResultsDatabase(path)
        assert path.read_bytes() == before


def test_datasette_serves_it(tmp_path: Path) -> None:
    pytest.importorskip("datasette", reason="datasette is not installed (extra test)")
    path = tmp_path / "results.db"
    keep(path, "ccw")
    for table, n in (("accuracy_by_suite", 1), ("verdicts", 3), ("failures_by_cause", 1)):
        command = [sys.executable, "-m", "datasette", str(path), "--get", f"/results/{table}.json?_shape=array"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        assert len(json.loads(answer.stdout)) == n
