"""Metrics over clauses in suites of one's own: which parser reads them, and which keys they have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.evaluation.registry import METRICS, open_judge
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.clause_settings import CLAUSE_METRICS
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome


def write_suite(folder: Path, more: str) -> Path:
    manifest = folder / "own.yaml"
    case = "cases:\n  - {id: one, question: Which?, gold: select a from t where b = 0}\n"
    manifest.write_text(f"sqlbench: 1\nname: own\n{more}{case}", encoding="utf-8")
    return manifest


@pytest.mark.parametrize(
    ("more", "metric", "parser"),
    [
        ("metric: pcm_f1\ndialect: tsql\n", "pcm_f1", "official"),
        ("metric: pcm_f1\ndialect: postgres\n", "pcm_f1[sqlglot]", "sqlglot"),
        ("metric: clause_f1\n", "clause_f1[sqlglot]", "sqlglot"),
        ("metric: pcm_em\nparser: official\n", "pcm_em", "official"),
    ],
    ids=["tsql", "postgres", "sqlite", "official_on_demand"],
)
def test_dialect_chooses_the_parser(tmp_path: Path, more: str, metric: str, parser: str) -> None:
    suite = load_suite(write_suite(tmp_path, more))
    assert (suite.metric, suite.settings["parser"]) == (metric, parser)


def test_case_of_ones_own_is_judged_without_a_database(tmp_path: Path) -> None:
    """The other parser sees the zero that the official one drops."""
    for parser, outcome in (("official", Outcome.CORRECT), ("sqlglot", Outcome.WRONG)):
        suite = load_suite(write_suite(tmp_path, f"metric: pcm_f1\nparser: {parser}\n"))
        judge = open_judge(suite, Settings())
        assert judge.judge(suite.cases[0], Prediction("select a from t where b = 00")).outcome is outcome


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("parser: official\n", r"own.yaml:3: parser is for pcm_f1, .*, and the metric is execution_accuracy"),
        ("metric: pcm_f1\nparser: java\n", r"own.yaml:4: parser is 'java'. Allowed: official, sqlglot\."),
        ("metric: pcm_f1\non_clause: 1\n", r"own.yaml:4: on_clause is 1, wanted true or false"),
        ("metric: pcm_f1\ndialect: sparql\n", r"own.yaml:3: pcm_f1 compares clauses of SQL"),
    ],
    ids=["metric_over_rows", "unknown_parser", "number_for_flag", "sparql"],
)
def test_fault_is_named_with_file_and_line(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_suite(write_suite(tmp_path, more))


def test_published_lists_can_be_judged_by_clauses(tmp_path: Path) -> None:
    """Spider's published PCM figures leave values and ON out and use the official parser."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.sqlite").touch()
    entry = {"question_id": 1, "db_id": "shop", "question": "Which?", "SQL": "select a from t where b = 1"}
    (tmp_path / "dev.json").write_text(json.dumps([entry]), encoding="utf-8")
    manifest = tmp_path / "bird.yaml"
    keys = "metric: pcm_f1\nparser: official\nvalues: false\non_clause: false\n"
    manifest.write_text(f"sqlbench: 1\nformat: bird\ndata: dev.json\ndatabases: .\n{keys}", encoding="utf-8")
    suite = load_suite(manifest)
    assert (suite.metric, suite.settings["values"]) == ("pcm_f1", False)
    verdict = open_judge(suite, Settings()).judge(suite.cases[0], Prediction("select a from t where b = 2"))
    assert verdict.outcome is Outcome.CORRECT


def test_every_name_has_a_judge() -> None:
    assert {f"{name}{suffix}" for name in CLAUSE_METRICS for suffix in ("", "[sqlglot]")} <= METRICS.keys()
