"""Verdicts by clauses: thresholds, several golds, unscorable golds, invalid predictions, the other parser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import Outcome, Reason, Verdict, from_record, to_record

CASE = Case("sede", "one", "Which?", ("SELECT a FROM t WHERE b = 1",), dialect="tsql", engine="")
SUITE = Suite("sede", Path("sede.yaml"), (CASE,), metric="pcm_f1")


def judge(reply: str | None, case: Case = CASE, suite: Suite = SUITE, finish: str = "") -> Verdict:
    return open_judge(suite, Settings()).judge(case, Prediction(reply, finish_reason=finish))


def test_equal_query_is_correct() -> None:
    verdict = judge("select A from T where B = 1")
    assert (verdict.outcome, verdict.score, verdict.metric) == (Outcome.CORRECT, 1.0, "pcm_f1")
    assert verdict.scores == {
        "pcm_f1": 1.0,
        "pcm_em": 1.0,
        "clause_f1": 1.0,
        "f1_select": 1.0,
        "f1_from": 1.0,
        "f1_where": 1.0,
    }


def test_other_query_is_wrong_and_says_where() -> None:
    verdict = judge("select a from t where c = 1")
    assert (verdict.outcome, verdict.reason) == (Outcome.WRONG, Reason.BELOW_THRESHOLD)
    assert verdict.detail == "pcm_f1 0.917 is below 1: where 0.75"
    assert verdict.facts["components"][2] == {
        "name": "where",
        "matched": ["1", "="],
        "missing": ["b"],
        "extra": ["c"],
    }


@pytest.mark.parametrize(("threshold", "outcome"), [(0.9, Outcome.CORRECT), (0.95, Outcome.WRONG)])
def test_threshold_of_the_suite_decides(threshold: float, outcome: Outcome) -> None:
    assert judge("select a from t where c = 1", suite=replace(SUITE, threshold=threshold)).outcome is outcome


def test_threshold_of_the_case_goes_before() -> None:
    assert judge("select a from t where c = 1", replace(CASE, threshold=0.5)).outcome is Outcome.CORRECT


def test_nearest_gold_counts_and_unreadable_ones_do_not() -> None:
    case = replace(CASE, gold=("select x = 1", "select a from t", "select a from t order by a"))
    verdict = judge("select a from t order by a", case)
    assert (verdict.outcome, verdict.gold) == (Outcome.CORRECT, "select a from t order by a")


def test_gold_that_the_parser_cannot_read_is_unscorable() -> None:
    verdict = judge("select a from t", replace(CASE, gold=("select x = a from t",)))
    assert (verdict.outcome, verdict.score, verdict.scores) == (Outcome.UNSCORABLE, None, {})
    assert verdict.detail == "the metric's parser cannot read the gold query: unexpected '=' as token 3"


@pytest.mark.parametrize(
    ("reply", "finish", "reason"),
    [
        (None, "", Reason.MISSING_PREDICTION),
        ("I do not know.", "", Reason.NO_SQL),
        ("select a from", "", Reason.SYNTAX),
        ("select a from t where b =", "length", Reason.TRUNCATED_REPLY),
    ],
    ids=["missing", "prose", "half", "cut"],
)
def test_invalid_prediction_scores_zero(reply: str | None, finish: str, reason: Reason) -> None:
    verdict = judge(reply, finish=finish)
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.WRONG, 0.0, reason)
    assert verdict.flags == ("invalid",)
    assert verdict.scores["pcm_f1"] == verdict.scores["f1_where"] == 0.0


def test_invalid_prediction_passes_no_threshold() -> None:
    assert judge("select a from", suite=replace(SUITE, threshold=0.0)).outcome is Outcome.WRONG


def test_reply_is_taken_out_of_its_fence() -> None:
    verdict = judge("Here it is:\n```sql\nSELECT a FROM t WHERE b = 1\n```\n")
    assert verdict.outcome is Outcome.CORRECT
    assert verdict.sql == "SELECT a FROM t WHERE b = 1"
    assert verdict.extraction


def test_readable_reply_is_scored_as_it_came() -> None:
    """Of several statements the last one counts, as officially; picking a statement would refuse the reply."""
    verdict = judge("DECLARE @b int = 1; SELECT a FROM t WHERE b = 1")
    assert (verdict.outcome, verdict.extraction) == (Outcome.CORRECT, ())


@pytest.mark.parametrize(("metric", "score"), [("pcm_em", 0.0), ("clause_f1", 2 / 3), ("pcm_f1", 0.9166666666666666)])
def test_suite_names_the_figure_that_counts(metric: str, score: float) -> None:
    assert judge("select a from t where c = 1", suite=replace(SUITE, metric=metric)).score == pytest.approx(score)


def test_settings_leave_values_out() -> None:
    suite = replace(SUITE, settings={"parser": "official", "values": False, "on_clause": True})
    verdict = judge("select a from t where b = 2", suite=suite)
    assert (verdict.outcome, verdict.policy) == (Outcome.CORRECT, "clauses, no values")


def test_other_parser_has_names_of_its_own() -> None:
    suite = replace(SUITE, metric="pcm_f1[sqlglot]", settings={"parser": "sqlglot"})
    case = replace(CASE, dialect="sqlite", gold=("select a from t where b in (select c from u)",))
    verdict = judge("select a from t where b in (select d from u)", case, suite)
    assert verdict.metric == "pcm_f1[sqlglot]"
    assert [name for name in verdict.scores if not name.startswith("f1_")] == [
        "pcm_f1[sqlglot]",
        "pcm_em[sqlglot]",
        "clause_f1[sqlglot]",
    ]
    assert 0.0 < verdict.scores["pcm_f1[sqlglot]"] < 1.0


def test_verdict_survives_the_way_to_another_process() -> None:
    verdict = judge("select a from t where c = 1")
    assert from_record(to_record(verdict)) == verdict


def test_sparql_has_no_clauses() -> None:
    with pytest.raises(UsageError, match="a case is SPARQL"):
        open_judge(replace(SUITE, cases=(replace(CASE, dialect="sparql"),)), Settings())
