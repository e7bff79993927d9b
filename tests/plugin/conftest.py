"""A small project for tests that run a real pytest: one shop suite with ten cases, with and without xdist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlite_utils  # noqa: F401 - see below
import yaml  # noqa: F401 - see below

# pytester forgets what a run in this process imported; C extensions do not bear being imported twice
import pytest_sqlbench.collection
import pytest_sqlbench.engines.build
import pytest_sqlbench.engines.sqlite
import pytest_sqlbench.evaluation.execution
import pytest_sqlbench.predictors.openai
import pytest_sqlbench.predictors.python
import pytest_sqlbench.predictors.recorded
import pytest_sqlbench.prefetch
import pytest_sqlbench.report.summary
import pytest_sqlbench.scoring.explain
import pytest_sqlbench.suites.own
import pytest_sqlbench.terminal  # noqa: F401

MANIFEST = """\
sqlbench: 1
name: shop
database:
  schema: |
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, kind TEXT);
  rows:
    item:
      - {id: 1, name: pen, price: 1.5, kind: office}
      - {id: 2, name: pad, price: 3.0, kind: office}
      - {id: 3, name: cup, price: 4.25, kind: kitchen}
      - {id: 4, name: jug, price: null, kind: kitchen}
cases:
"""

GOLDS = [
    ("names", "SELECT name FROM item", "easy"),
    ("count", "SELECT COUNT(*) FROM item", "easy"),
    ("kinds", "SELECT DISTINCT kind FROM item", "easy"),
    ("dear", "SELECT name FROM item WHERE price > 2 ORDER BY price DESC", "hard"),
    ("no-price", "SELECT name FROM item WHERE price IS NULL", "hard"),
    ("nothing", "SELECT name FROM item WHERE price > 100", "hard"),
    ("sums", "SELECT kind, SUM(price) FROM item GROUP BY kind", "hard"),
    ("first", "SELECT name FROM item WHERE id = 1", "easy"),
    ("last", "SELECT name FROM item WHERE id = 4", "easy"),
    ("mean", "SELECT AVG(price) FROM item", "easy"),
]


class Project:
    """The folder of a test, with the suite in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.manifest = self.write("cases/shop.yaml", MANIFEST + "".join(map(_case, GOLDS)))

    def write(self, name: str, text: str) -> Path:
        """Write a file below the project."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def predictions(self, **changed: str | None) -> str:
        """Write predictions that equal the golds save for the changed ones (None: left out); return the model spec."""
        lines = []
        for case_id, gold, _ in GOLDS:
            reply = changed.get(case_id.replace("-", "_"), gold)
            if reply is not None:
                lines.append(json.dumps({"id": case_id, "reply": reply}))
        self.write("predictions.jsonl", "\n".join(lines) + "\n")
        return "file:predictions.jsonl"

    def run(self, *args: str) -> pytest.RunResult:
        """Run pytest on the project; in a process of its own only where workers are asked for, since that is slow."""
        lean = ("-p", "no:hypothesispytest", "-p", "no:anyio")
        if "-n" in args:
            return self.pytester.runpytest_subprocess(*lean, *args)
        return self.pytester.runpytest_inprocess(*lean, *args)


def _case(entry: tuple[str, str, str]) -> str:
    case_id, gold, difficulty = entry
    words = f"question: 'Q {case_id}?', gold: '{gold}', difficulty: {difficulty}, tags: [t-{case_id}]"
    return f"  - {{id: {case_id}, {words}}}\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


@pytest.fixture(params=[(), ("-n", "2")], ids=["serial", "xdist"])
def workers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Arguments for one process and for two workers: every claim has to hold for both."""
    return tuple(request.param)
