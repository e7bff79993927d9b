"""``--sqlbench-db``: the same rows with workers, what a killed run leaves, and paths that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.results_database import read_rows
from tests.plugin.conftest import Project

WRONG = {"dear": "SELECT name FROM item WHERE price > 3 ORDER BY price DESC", "first": "SELECT nam FROM item"}

ROWS = """
    SELECT c.suite, c.name, c.digest, c.question, c.gold, c.difficulty, c."database", c.written_at, v.sample, v.outcome,
        v.score, v.metric, v.reason, v.detail, v.cause, v.causes, v.hint, v.policy, v.sql, v.reply, v.extraction,
        v.flags, v.near, v.missing_n, v.extra_n, v.gold_result, v.predicted_result,
        (SELECT group_concat(tag) FROM tags t WHERE t.case_id = c.id), (SELECT count(*) FROM timings),
        r.status, r.model, r.engines, r.suites
    FROM verdicts v JOIN cases c ON c.id = v.case_id JOIN runs r ON r.id = v.run_id ORDER BY c.name"""


def read_run(project: Project, *options: str) -> list[tuple[Any, ...]]:
    path = project.path / f"results{len(options)}.db"
    project.run("cases", f"--sqlbench-model={project.predictions(**WRONG)}", f"--sqlbench-db={path}", *options)
    return read_rows(path, ROWS)


def test_the_same_rows_with_and_without_workers(project: Project) -> None:
    alone, together = read_run(project), read_run(project, "-n", "2")
    assert len(alone) == 10
    assert alone == together


def test_a_killed_run_leaves_what_it_had(project: Project) -> None:
    project.write(
        "conftest.py",
        "import os\n"
        "import pytest_sqlbench.results_database as results\n"
        "results.BATCH = 1\n"
        "def pytest_sqlbench_verdict(case):\n"
        "    if case.id == 'dear':\n"
        "        os.kill(os.getpid(), 9)\n",
    )
    result = project.pytester.runpytest_subprocess("cases", "--sqlbench-model=gold", "--sqlbench-db=results.db")
    assert result.ret == -9
    path = project.path / "results.db"
    assert read_rows(path, "SELECT status FROM runs") == [("running",)]
    assert read_rows(path, "SELECT name FROM case_results ORDER BY 1") == [("count",), ("kinds",), ("names",)]
    (project.path / "conftest.py").unlink()
    project.run("cases", "--sqlbench-model=gold", "--sqlbench-db=results.db")
    assert read_rows(path, "SELECT run_id, n FROM accuracy_by_suite") == [(1, 3), (2, 10)]


def test_a_file_that_is_no_database_ends_the_run_before_it_starts(project: Project) -> None:
    path: Path = project.write("results.db", "something else" * 99)
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-db=results.db")
    result.stderr.fnmatch_lines(["ERROR: *results.db: cannot be used as a results database (file is not a database)"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert path.read_text() == "something else" * 99
