"""The figures of the published WikiSQL data: every one is reproduced exactly. Skipped where the data is absent."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.evaluation.wikisql_tables import WikiSqlTables
from pytest_sqlbench.logical_form import AGGREGATES, OPERATORS, LogicalForm, WebTable
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.scoring.wikisql.reader import read_sql
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.suites.wikisql_tables import read_tables_file
from pytest_sqlbench.verdict import Outcome, Verdict
from tests.shared_data import shared
from tests.suites.wikisql_files import write_lines


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def unpack(packed: Path, target: Path) -> Path:
    target.write_bytes(lzma.decompress(packed.read_bytes()))
    return target


def write_manifest(folder: Path, **keys: object) -> Path:
    path = folder / "suite.yaml"
    lines = ["sqlbench: 1", "name: web", "format: wikisql", *(f"{key}: {value}" for key, value in keys.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


def judge_all(suite: Suite, predict: Callable[[int, Case], Prediction]) -> list[Verdict]:
    with closing(open_judge(suite, Settings())) as judge:
        return [judge.judge(case, predict(place, case)) for place, case in enumerate(suite.cases)]


def count_right(verdicts: list[Verdict], metric: str) -> int:
    return sum(verdict.scores.get(metric) == 1.0 for verdict in verdicts)


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dev tables (headers) and the stand-in database."""
    folder = tmp_path_factory.mktemp("dev")
    headers = json.loads(shared("wikisql/dev_headers.json").read_text(encoding="utf-8"))
    entries = [
        {"id": name, "header": [header for header, _ in columns], "types": [kind for _, kind in columns]}
        for name, columns in headers.items()
    ]
    write_lines(folder / "dev.tables.jsonl", entries)
    unpack(shared("wikisql/devB.db.xz"), folder / "dev.db")
    return folder


def load_dev(folder: Path, **keys: object) -> Suite:
    data = shared("wikisql/dev.jsonl")
    return load_suite(write_manifest(folder, data=data, tables="dev.tables.jsonl", database="dev.db", **keys))


@pytest.mark.parametrize("equality, n", [("head", 3807), ("ordered", 3715), ("'2018'", 2979)])
def test_published_predictions_score_as_published(dev: Path, equality: str, n: int) -> None:
    records = read_lines(shared("wikisql/dev.pred.jsonl"))
    verdicts = judge_all(load_dev(dev, lf_equality=equality), lambda place, _: Prediction(None, facts=records[place]))
    official = read_lines(shared("wikisql/official_per_example.jsonl"))
    key = {"head": "lf", "ordered": "lf_ordered", "'2018'": "lf_readme2018"}[equality]
    assert [verdict.outcome is Outcome.CORRECT for verdict in verdicts] == [line["ex_devB"] for line in official]
    assert [verdict.scores["acc_lf"] == 1.0 for verdict in verdicts] == [line[key] for line in official]
    assert count_right(verdicts, "acc_lf") == n


@pytest.mark.parametrize("mode, acc_ex, acc_lf", [("seed", 4557, 3009), ("strict", 4547, 3807)])
def test_other_modes_score_as_measured(dev: Path, mode: str, acc_ex: int, acc_lf: int) -> None:
    records = read_lines(shared("wikisql/dev.pred.jsonl"))
    verdicts = judge_all(load_dev(dev, mode=mode), lambda place, _: Prediction(None, facts=records[place]))
    assert (count_right(verdicts, "acc_ex"), count_right(verdicts, "acc_lf")) == (acc_ex, acc_lf)


def test_every_gold_survives_as_sql_text(dev: Path) -> None:
    verdicts = judge_all(load_dev(dev), lambda _, case: Prediction(case.gold[0]))
    assert (count_right(verdicts, "acc_ex"), count_right(verdicts, "acc_lf")) == (8421, 8421)
    assert {verdict.facts["shape"] for verdict in verdicts} == {"sql"}


def write_pseudo(form: LogicalForm, table: WebTable) -> str:
    text = f"SELECT {AGGREGATES[form.agg]} {table.headers[form.sel]} FROM table"
    conds = [f"{table.headers[column]} {OPERATORS[operator]} {value}" for column, operator, value in form.conds]
    return text + (" WHERE " + " AND ".join(conds) if conds else "")


def test_every_gold_but_two_survives_as_pseudo_sql(dev: Path) -> None:
    """Two values stand in double quotes themselves, beside headers of one word: that is SQL as well."""
    verdicts = judge_all(
        load_dev(dev), lambda _, case: Prediction(write_pseudo(case.facts["gold_facts"], case.facts["table"]))
    )
    assert count_right(verdicts, "acc_lf") == 8419


def test_real_rows_of_dev_score_as_published(tmp_path: Path) -> None:
    suite = load_suite(write_manifest(tmp_path, data=shared("wikisql/devA.jsonl")))
    records = read_lines(shared("wikisql/devA.pred.jsonl"))
    verdicts = judge_all(suite, lambda place, _: Prediction(None, facts=records[place]))
    assert (len(verdicts), count_right(verdicts, "acc_ex"), count_right(verdicts, "acc_lf")) == (459, 252, 190)


@pytest.mark.parametrize("mode", ["official", "strict", "seed"])
def test_gold_of_test_answers_as_published(tmp_path: Path, mode: str) -> None:
    answers = {
        (line["table_id"], line["question"], str(line["sql"])): answer
        for line, answer in zip(
            read_lines(shared("wikisql/test.jsonl")),
            json.loads(shared("wikisql/test_gold.json").read_text(encoding="utf-8")),
            strict=True,
        )
    }
    lines = read_lines(shared("wikisql/testP.jsonl"))
    suite = load_suite(write_manifest(tmp_path, data=shared("wikisql/testP.jsonl"), mode=mode))
    with closing(WikiSqlTables(suite.databases["main"].path, None)) as tables:
        wrong = [
            case.id
            for case, line in zip(suite.cases, lines, strict=True)
            if tables.run(case.facts["gold_facts"], case.facts["table"], mode)  # type: ignore[arg-type]
            != answers[line["table_id"], line["question"], str(line["sql"])]
        ]
    assert (len(suite.cases), wrong) == (1062, [])


def test_gold_of_train_answers_as_recorded(tmp_path: Path) -> None:
    questions = unpack(shared("wikisql/trainV.jsonl.xz"), tmp_path / "train.jsonl")
    unpack(shared("wikisql/train_html.db.xz"), tmp_path / "train.db")
    suite = load_suite(write_manifest(tmp_path, data="train.jsonl"))
    with closing(WikiSqlTables(suite.databases["main"].path, None)) as tables:
        wrong = [
            case.id
            for case, line in zip(suite.cases, read_lines(questions), strict=True)
            if tables.run(case.facts["gold_facts"], case.facts["table"], "official") != line["gold"]
        ]
    assert (len(suite.cases), wrong) == (39540, [])


@pytest.mark.parametrize("name, right", [("cn_baseline", 16), ("cn_finetuned200", 32)])
@pytest.mark.parametrize("mode", ["official", "strict"])
def test_recorded_replies_agree_with_their_own_verdict(tmp_path: Path, name: str, mode: str, right: int) -> None:
    """45 of the 500 tables are at hand; the recorded gold is SQL text, and its form is read from it."""
    tables_file = shared("wikisql/testP.tables.jsonl")
    tables = read_tables_file(tables_file, _NoDigest(), needs_rows=True)
    runs = json.loads(shared(f"wikisql/llm_runs/{name}.json").read_text(encoding="utf-8"))
    runs = [run for run in runs if run["table_id"] in tables]
    forms = [read_sql(run["gold_sql"], tables[run["table_id"]]) for run in runs]
    assert all(isinstance(form, LogicalForm) for form in forms)
    questions = [
        {**run, "sql": {"sel": form.sel, "agg": form.agg, "conds": form.conds}}
        for run, form in zip(runs, forms, strict=True)
        if isinstance(form, LogicalForm)
    ]
    write_lines(tmp_path / "runs.jsonl", questions)
    suite = load_suite(write_manifest(tmp_path, data="runs.jsonl", tables=tables_file, mode=mode))
    verdicts = judge_all(suite, lambda place, _: Prediction(runs[place]["raw_output"]))
    assert [verdict.outcome is Outcome.CORRECT for verdict in verdicts] == [run["execution_match"] for run in runs]
    assert (len(verdicts), count_right(verdicts, "acc_ex")) == (45, right)
    assert all((verdict.reason is None) == (verdict.outcome is Outcome.CORRECT) for verdict in verdicts)
    assert Counter(verdict.outcome for verdict in verdicts).keys() <= {Outcome.CORRECT, Outcome.WRONG}


class _NoDigest:
    def update(self, _: bytes) -> None:
        """Take no notice."""
