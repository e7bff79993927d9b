"""A function of the user's answers; whatever it does wrong is a model error with its name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.case import Case
from pytest_sqlbench.errors import ModelError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.python import PythonPredictor, adopt
from pytest_sqlbench.predictors.registry import make_predictor
from tests.predictors.cases import make_suite

CASES = make_suite("a", "b").cases

SOURCE = """
def answer(case): return f"SELECT {case.id}"
async def later(case): return f"SELECT {case.id}"
def many(cases): return [f"SELECT {case.id}" for case in cases]
many.batch_size = 8
class Bot:
    name = "bot"
    def predict(self, case): return f"SELECT {case.id}"
class Pipeline:
    def __call__(self, case): return {"sql": f"SELECT {case.id}", "prompt_tokens": 3}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pipeline_under_test.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["answer", "later", "many", "Pipeline"])
@pytest.mark.parametrize("module", ["pipeline_under_test", "pipeline_under_test.py"])
def test_functions_coroutines_batches_and_objects_answer(module: str, name: str, folder: Path) -> None:
    predictor = make_predictor(f"python:{module}:{name}", folder)
    assert [predictor.predict(case).reply for case in CASES] == ["SELECT a", "SELECT b"]
    assert predictor.name == f"python:{module}:{name}"
    getattr(predictor, "close", lambda: None)()


def test_an_object_that_is_a_predictor_is_used_as_it_is(folder: Path) -> None:
    assert make_predictor("python:pipeline_under_test:Bot", folder).name == "bot"


@pytest.mark.parametrize(
    "rest, message",
    [
        ("pipeline_under_test", "names no callable"),
        ("pipeline_under_test:nothing", "has no 'nothing'"),
        ("not_there:answer", "does not import: ModuleNotFoundError"),
        ("not_there.py:answer", "does not import: FileNotFoundError"),
        ("pipeline_under_test:__name__", "is str. Allowed: a callable"),
    ],
)
def test_a_wrong_name_is_a_usage_error(rest: str, message: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=message):
        make_predictor(f"python:{rest}", folder)


@pytest.mark.parametrize(
    "answer, expected",
    [
        (None, Prediction(reply=None)),
        ("", Prediction(reply="")),
        (Prediction(reply="x", attempts=3), Prediction(reply="x", attempts=3)),
        ({"reply": "x", "cost_usd": 0.1}, Prediction("x", Usage(cost_usd=0.1))),
        ({"facts": {"sel": 1}}, Prediction(None, facts={"sel": 1})),
    ],
)
def test_answers_of_every_allowed_kind(answer: Any, expected: Prediction) -> None:
    assert PythonPredictor("me", lambda case: answer).predict(CASES[0]) == expected


@pytest.mark.parametrize(
    "answer, message",
    [
        (3, "me: returned int, wanted is a string"),
        ({"text": "x"}, "neither 'reply' nor 'sql': text"),
        ({"sql": "x", "token": 1}, "unknown keys token. Known: completion_tokens"),
    ],
)
def test_answers_of_another_kind_are_model_errors(answer: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        PythonPredictor("me", lambda case: answer).predict(CASES[0])


@pytest.mark.parametrize("error", [ValueError("no luck"), SystemExit("no luck")])
def test_what_the_callable_raises_is_a_model_error(error: BaseException) -> None:
    def answer(case: Case) -> str:
        raise error

    with pytest.raises(ModelError, match=f"me: {type(error).__name__}: no luck"):
        PythonPredictor("me", answer).predict(CASES[0])


@pytest.mark.parametrize("answers, message", [(["x"], "2 cases returned 1 answers"), ("xy", "returned str, a list")])
def test_a_batch_answers_every_case(answers: Any, message: str) -> None:
    def many(cases: list[Case]) -> Any:
        return answers

    many.batch_size = 2  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match=message):
        PythonPredictor("me", many).predict_batch(CASES)


def test_coroutines_share_one_loop_so_that_clients_keep_connections() -> None:
    loops = []

    async def answer(case: Case) -> str:
        loops.append(asyncio.get_running_loop())
        return "x"

    predictor = PythonPredictor("me", answer)
    for case in CASES:
        predictor.predict(case)
    predictor.close()
    predictor.close()
    assert loops[0] is loops[1]


def test_a_batch_size_must_be_a_number() -> None:
    def many(cases: list[Case]) -> list[str]:
        return []

    many.batch_size = "8"  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="batch_size is '8'"):
        adopt("me", many)


def test_what_a_coroutine_raises_to_end_the_program_leaves_the_loop_running() -> None:
    async def ask(case: Case) -> str:
        if case.id == "a":
            raise KeyboardInterrupt
        if case.id == "b":
            raise SystemExit("enough")
        return "SELECT 1"

    predictor = PythonPredictor("p", ask)
    with pytest.raises(KeyboardInterrupt):
        predictor.predict(CASES[0])
    with pytest.raises(ModelError, match="p: SystemExit: enough"):
        predictor.predict(CASES[1])
    assert predictor.predict(make_suite("c").cases[0]).reply == "SELECT 1"
    predictor.close()
