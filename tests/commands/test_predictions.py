"""Stored answers become a file that can be committed, replayed and imported, and nothing is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor, predict
from pytest_sqlbench.predictors.store import Entry, Store
from tests.predictors.cases import make_suite
from tests.predictors.test_store import read_entries


def _fill(path: Path, *entries: Entry) -> None:
    store = Store(path)
    for entry in entries:
        store.put(entry)
    store.close()


def _entry(case: str, prediction: Prediction, model: str = "openai:m", sample: int = 0) -> Entry:
    return Entry(
        "shop", case, sample, f"k-{case}-{model}-{sample}", model, prediction, 2, "{}", "p", None, "2026-01-01"
    )


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own, with no store named from outside."""
    monkeypatch.delenv("SQLBENCH_STORE", raising=False)
    monkeypatch.chdir(tmp_path)


FULL = Prediction("SELECT 'ä\u2028\0'", Usage(7, 3, 0.5), 12.5, 2, "stop", {"sel": 1})


def test_an_export_replays_and_imports_with_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _fill(Path(".sqlbench/predictions.db"), _entry("a", FULL), _entry("b", Prediction("")), _entry("a", FULL, sample=1))
    assert main(["predictions", "export", "-o", "p.jsonl"]) == 0
    assert "3 predictions of openai:m" in capsys.readouterr().err
    suite = make_suite("a", "b")
    recorded = make_predictor("file:p.jsonl", tmp_path)
    bind_suite(recorded, suite)
    kept = Prediction(FULL.reply, FULL.usage, 12.5, 0, "stop", {"sel": 1})
    assert predict(recorded, suite.cases[0]) == predict(recorded, suite.cases[0], 1) == kept
    assert predict(recorded, suite.cases[1]).reply == ""
    assert main(["predictions", "import", "p.jsonl", "--store", "other.db"]) == 0
    assert read_entries(Path("other.db")) == read_entries(Path(".sqlbench/predictions.db"))


def test_answers_of_two_models_are_not_mixed(capsys: pytest.CaptureFixture[str]) -> None:
    _fill(Path("s.db"), _entry("a", FULL), _entry("a", FULL, "openai:n"))
    assert main(["predictions", "export", "--store=s.db"]) == 4
    assert "answers of 2 models: openai:m, openai:n. Name one with --model" in capsys.readouterr().err
    assert main(["predictions", "export", "--store=s.db", "--model=openai:n", "--suite=shop"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "openai:n"


@pytest.mark.parametrize(
    "args, message",
    [
        (["export"], "predictions.db: there is no such store"),
        (["import"], "import needs the file"),
        (["import", "none.jsonl"], "none.jsonl: there is no such file"),
        (["import", "plain.jsonl"], "plain.jsonl:1: has no 'suite'"),
    ],
)
def test_a_mistake_is_one_line(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.jsonl").write_text('{"id": "a", "sql": "SELECT 1"}\n')
    assert main(["predictions", *args]) == 4
    assert message in capsys.readouterr().err
