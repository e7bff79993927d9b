"""Progress is shown on a terminal, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import pytest

from pytest_sqlbench.report.progress import Progress, describe_progress
from tests.plugin.conftest import Project

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

MANIFEST = """\
sqlbench: 1
name: many
database: {schema: CREATE TABLE t (a INTEGER)}
cases:
"""


def run_on_terminal(project: Project, *options: str, **environment: str) -> str:
    """Return what pytest writes to a terminal."""
    cases = "".join(f"  - {{id: c{n}, question: Q, gold: SELECT {n}}}\n" for n in range(60))
    project.write("many.yaml", MANIFEST + cases)
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "many.yaml",
        "--sqlbench-model=gold",
        "-p",
        "no:hypothesispytest",
        *options,
    ]
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS", "TERM")}
    process = subprocess.Popen(
        command, cwd=project.path, stdout=theirs, stderr=theirs, env={**kept, "TERM": "xterm", **environment}
    )
    os.close(theirs)
    parts: list[bytes] = []
    with suppress(OSError):  # Linux ends a pseudo-terminal with an error
        while part := os.read(ours, 4096):
            parts.append(part)
    os.close(ours)
    assert process.wait() == 0
    return b"".join(parts).decode()


def test_a_terminal_shows_one_line_that_is_taken_away(project: Project, workers: tuple[str, ...]) -> None:
    text = run_on_terminal(project, *workers)
    assert " of 60, " in text
    assert " right, " in text
    assert " left" in text
    assert "60 passed" in text.rpartition("\r\x1b[K")[2]
    assert "....." not in text


def test_a_job_of_ci_and_a_verbose_run_show_none(project: Project) -> None:
    assert " of 60, " not in run_on_terminal(project, CI="true")
    assert " of 60, " not in run_on_terminal(project, "-v")


def test_a_log_has_none_of_it(project: Project) -> None:
    assert "sqlbench: 1 of" not in project.run("cases", "--sqlbench-model=gold").stdout.str()


def test_the_line_says_what_is_known() -> None:
    assert describe_progress(Progress(0, 90, 0.0, 0, 0)) == "sqlbench: 0 of 90"
    full = Progress(500, 10_000, 100.0, 300, 480, calls=32, cost_usd=1.5)
    assert describe_progress(full) == (
        "sqlbench: 500 of 10,000, 5.0/s, 62.5 % of 480 right, 32 calls in flight, $1.5000, 31:40 left"
    )
    assert describe_progress(full, 20) == "sqlbench: 500 of 10,"
