from __future__ import annotations

import pytest

from pytest_sqlbench.case import Case
from pytest_sqlbench.evaluation.desk import Desk, find_misquoted, score_otherwise
from pytest_sqlbench.policy import PRESETS, parse_presets
from pytest_sqlbench.result import QueryFailure, ResultSet, Status

NOTE = ('quotes: "Oslo" is no column and was read as a string',)


class Recorder:
    """An engine that answers from a table and remembers what it was asked."""

    version = "recorder 1"

    def __init__(self, answers: dict[str, ResultSet | QueryFailure]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        self.asked.append(query)
        return self.answers[query]

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        return self.run_gold(query)

    def describe(self) -> str:
        return ""

    def close(self) -> None:
        return


def rows(*cells: object, warnings: tuple[str, ...] = ()) -> ResultSet:
    return ResultSet(("a",), [(cell,) for cell in cells], warnings=warnings)


def desk(golds: tuple[str, ...] = ("gold",), **answers: ResultSet | QueryFailure) -> tuple[Desk, Recorder]:
    engine = Recorder({**answers})
    return Desk(Case("s", "c", "", golds), engine), engine


def test_other_policies_cost_no_query() -> None:
    made, engine = desk(gold=rows(1, 1), guess=rows(1))
    made.run_prediction("guess", PRESETS["default"], made.run_golds(PRESETS["default"]))  # type: ignore[arg-type]
    scores = score_otherwise(made, "guess", parse_presets("default,bird,paper"))
    assert scores == {"policy:default": 0.0, "policy:bird": 1.0, "policy:paper": 0.0}
    assert engine.asked == ["gold", "guess"]


def test_a_policy_that_rewrites_queries_runs_them_anew() -> None:
    case = Case("s", "c", "", ("SELECT DISTINCT a FROM t",))
    answers = {
        "SELECT DISTINCT a FROM t": rows(1),
        "SELECT a FROM t": rows(1, 1),
        "SELECT  a FROM t": rows(1, 1),
    }
    engine = Recorder({**answers})
    scores = score_otherwise(Desk(case, engine), "SELECT a FROM t", parse_presets("spider,spider:keep_distinct"))
    assert scores == {"policy:spider": 1.0, "policy:spider:keep_distinct": 0.0}
    assert engine.asked == ["SELECT  a FROM t", "SELECT a FROM t", "SELECT DISTINCT a FROM t"]


def test_any_gold_makes_a_reading_right() -> None:
    made, _ = desk(("first", "second"), first=rows(1), second=rows(2), guess=rows(2))
    assert score_otherwise(made, "guess", [PRESETS["bird"]]) == {"policy:bird": 1.0}


@pytest.mark.parametrize("sql", [None, "guess"])
def test_no_statement_and_no_rows_are_wrong_everywhere(sql: str | None) -> None:
    made, _ = desk(gold=rows(1), guess=QueryFailure(Status.SYNTAX, "no"))
    assert score_otherwise(made, sql, [PRESETS["bird"]]) == {"policy:bird": 0.0}


@pytest.fixture
def quoted() -> dict[str, ResultSet]:
    return {"plain": rows(1), "quoted": rows(1, warnings=NOTE)}


@pytest.mark.parametrize(
    "gold, policy, status",
    [
        pytest.param("plain", "default", Status.NO_SUCH_COLUMN, id="quoted_text_is_no_column"),
        pytest.param("quoted", "default", None, id="what_the_gold_does_is_pardoned"),
        pytest.param("plain", "bird", None, id="published_evaluators_let_it_pass"),
    ],
)
def test_misquoted_predictions(quoted: dict[str, ResultSet], gold: str, policy: str, status: Status | None) -> None:
    made, _ = desk((gold,), **quoted)
    golds = made.run_golds(PRESETS[policy])
    assert isinstance(golds, list)
    result = made.run_prediction("quoted", PRESETS[policy], golds)
    assert (result.status if isinstance(result, QueryFailure) else None) is status


def test_the_misquoted_word_is_found() -> None:
    assert find_misquoted(rows(1, warnings=('quotes: "a"b" is no column and was read as a string',))) == 'a"b'
    assert find_misquoted(rows(1, warnings=("nondeterministic: random()",))) is None
