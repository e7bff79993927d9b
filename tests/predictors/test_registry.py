"""Specs become predictors, and a wrong spec says what is known."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pytest_sqlbench.case import Case
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors import registry
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor, predict
from tests.predictors.cases import make_suite


def test_gold_answers_with_the_gold_query(tmp_path: Path) -> None:
    case = make_suite("a").cases[0]
    predictor = make_predictor("gold", tmp_path)
    assert (predictor.name, predictor.predict(case).reply) == ("gold", "SELECT 'a'")


def test_gold_carries_the_structured_gold_of_a_format(tmp_path: Path) -> None:
    case = Case("s", "a", "?", ("SELECT 1",), facts={"gold_facts": {"sel": 1}})
    assert make_predictor("gold", tmp_path).predict(case).facts == {"sel": 1}


@pytest.mark.parametrize(
    "spec, message",
    [
        ("gpt-9", "unknown model 'gpt-9': no scheme 'gpt-9'. Known: .*file, gold, .*python"),
        ("pkg.mod:answer", "For a function write 'python:pkg.mod:answer'"),
        ("preds.jsonl", "For recorded predictions write 'file:preds.jsonl'"),
        ("gold:x", "gold takes no argument"),
        ("", "unknown model ''"),
    ],
)
def test_a_wrong_spec_says_what_is_known(spec: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        make_predictor(spec, tmp_path)


def test_packages_add_schemes_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("oracle", "pytest_sqlbench.predictors.gold:open_predictor", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.ENTRY_POINTS else [])
    assert make_predictor("oracle", tmp_path).name == "gold"


class _Plain:
    name = "plain"

    def predict(self, case: Case) -> Prediction:
        return Prediction(reply="SELECT 1")


def test_a_predictor_that_knows_neither_suites_nor_samples_is_asked_plainly() -> None:
    suite = make_suite("a")
    bind_suite(_Plain(), suite)
    assert predict(_Plain(), suite.cases[0], sample=3) == Prediction(reply="SELECT 1")
