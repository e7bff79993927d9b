"""Cases of the format are judged like any other: SPARQL by its bindings, translated SQL with a note."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome, Reason, Verdict
from tests.suites.acme.small import write_manifest

for library in ("duckdb", "pyoxigraph"):
    pytest.importorskip(library)


def _judge(tmp_path: Path, case_id: str, reply: str, *lines: str) -> Verdict:
    suite = load_suite(write_manifest(tmp_path, *lines))
    judge = open_judge(suite, Settings(cache_dir=tmp_path))
    verdict = judge.judge(suite.find_case(case_id), Prediction(reply))
    judge.close()
    return verdict


@pytest.mark.parametrize(
    "reply, reason",
    [
        ("SELECT ?label { ?s <http://e/name> ?label }", None),
        ("```sparql\nSELECT ?n WHERE { SERVICE <mapped> { ?s <http://e/name> ?n } }\n```", None),
        ("SELECT ?s { ?s <http://e/name> ?n }", Reason.IDENTIFIER_FOR_LABEL),
        ("SELECT ?n ?s { ?s <http://e/name> ?n }", Reason.EXTRA_COLUMNS),
        ("SELECT ?n { ?s <http://e/nmae> ?n }", Reason.EMPTY_AGAINST_ROWS),
        ("SELECT ?n { ?s <http://e/name> ?n } LIMIT 2", Reason.ROW_COUNT),
        ("SELECT ?n { SERVICE <http://e/> { ?s <http://e/name> ?n } }", Reason.REFUSED),
        ("SELECT ?n { ?s e:name ?n }", Reason.SYNTAX),
        ("SELECT (<http://e/f>(?n) AS ?x) { ?s <http://e/name> ?n }", Reason.NO_SUCH_FUNCTION),
        ("I do not know.", Reason.NO_SQL),
    ],
)
def test_sparql_is_judged_by_its_bindings(tmp_path: Path, reply: str, reason: Reason | None) -> None:
    verdict = _judge(tmp_path, "q00-sparql", reply)
    assert (verdict.outcome, verdict.reason) == (Outcome.WRONG if reason else Outcome.CORRECT, reason)


def test_a_number_of_the_graph_equals_that_of_the_table(tmp_path: Path) -> None:
    assert _judge(tmp_path, "q01-sparql", "SELECT (150.50 AS ?x) {}").outcome is Outcome.CORRECT
    assert _judge(tmp_path, "q01-sql", "SELECT 150.5").outcome is Outcome.CORRECT


SNOWFLAKE = "SELECT ship_name FROM ship WHERE ship_name RLIKE '.*' AND IFF(TRUE, 1, 0) = 1"


def test_another_dialect_runs_raw_unless_the_manifest_says_otherwise(tmp_path: Path) -> None:
    raw = _judge(tmp_path, "q00-sql", SNOWFLAKE)
    assert (raw.outcome, raw.facts) == (Outcome.WRONG, {})
    written = _judge(tmp_path, "q00-sql", SNOWFLAKE, "transpile_from: snowflake")
    assert written.outcome is Outcome.CORRECT
    assert written.sql == SNOWFLAKE
    assert "translated from snowflake" in written.extraction
    assert "CASE WHEN TRUE" in written.facts["ran"]


def test_a_text_that_does_not_parse_runs_as_it_is(tmp_path: Path) -> None:
    verdict = _judge(tmp_path, "q00-sql", "SELECT ship_name FROM (", "transpile_from: snowflake")
    assert verdict.reason is Reason.SYNTAX
    assert "not translated from snowflake" in verdict.extraction


def test_sparql_is_never_translated(tmp_path: Path) -> None:
    verdict = _judge(tmp_path, "q00-sparql", "SELECT ?n { ?s <http://e/name> ?n }", "transpile_from: snowflake")
    assert (verdict.outcome, verdict.extraction) == (Outcome.CORRECT, ())


def test_a_users_own_manifest_asks_a_graph(tmp_path: Path) -> None:
    (tmp_path / "boats.ttl").write_text("<http://e/a> <http://e/name> 'Ask', 'Ran' .", encoding="utf-8")
    manifest = tmp_path / "boats.yaml"
    manifest.write_text(
        "sqlbench: 1\ndialect: sparql\ndatabase: boats.ttl\ncases:\n"
        "  - id: names\n    question: Which boats are there, by name?\n"
        "    gold: SELECT ?n { ?s <http://e/name> ?n } ORDER BY ?n\n",
        encoding="utf-8",
    )
    suite = load_suite(manifest)
    judge = open_judge(suite, Settings(cache_dir=tmp_path))
    (case,) = suite.cases
    replies = (
        "SELECT ?x { ?y <http://e/name> ?x } ORDER BY ?x",
        "SELECT ?x { ?y <http://e/name> ?x } ORDER BY DESC(?x)",
    )
    assert [judge.judge(case, Prediction(reply)).reason for reply in replies] == [None, Reason.ORDER_ONLY]
    judge.close()
