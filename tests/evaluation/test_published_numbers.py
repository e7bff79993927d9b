"""Published predictions score what published evaluators say, all readings taken from one run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.policy import parse_presets
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome
from tests.shared_data import shared


def readings(manifest: Path, predictions: Path, names: str, extraction: str = "full") -> tuple[int, Counter[str]]:
    """Judge a file of predictions; return the number of cases and how many each policy calls right."""
    suite = load_suite(manifest)
    predictor = make_predictor(f"file:{predictions}", manifest.parent)
    bind_suite(predictor, suite)
    judge = open_judge(suite, Settings(also=parse_presets(names), extraction=extraction))  # type: ignore[arg-type]
    counts: Counter[str] = Counter()
    try:
        for case in suite.cases:
            verdict = judge.judge(case, predictor.predict(case))
            counts["main"] += verdict.outcome is Outcome.CORRECT
            for name, score in verdict.scores.items():
                counts[name.removeprefix("policy:")] += int(score)
    finally:
        judge.close()
    return len(suite.cases), counts


@pytest.mark.parametrize(
    "name, bird, spider, keep_distinct",
    [
        ("codes_7b", 83.0, 85.6, 83.7),
        ("dail_gpt4", 81.0, 83.1, 83.0),
        ("supersql", 83.7, 87.0, 86.1),
        # one right prediction holds tabs; cut off there, as by a reader of tab-separated lines, each figure is the
        # published one (79.0, 82.7, 80.5)
        ("c3", 79.1, 82.8, 80.6),
    ],
)
def test_spider(tmp_path: Path, name: str, bird: float, spider: float, keep_distinct: float) -> None:
    data = shared("spider/dev.json").parent
    manifest = tmp_path / "spider.yaml"
    manifest.write_text(
        f"sqlbench: 1\nformat: spider\ndata: {data}/dev.json\ntables: {data}/tables.json\n"
        f"databases: {data}/database\nwithout: [wta_1]\npolicy: default\n",
        encoding="utf-8",
    )
    predictions = data / "predictions" / f"{name}.sql"
    n, counts = readings(manifest, predictions, "bird,spider,spider:keep_distinct")
    percent = [round(100 * counts[reading] / n, 1) for reading in ("bird", "spider", "spider:keep_distinct")]
    assert (n, percent) == (972, [bird, spider, keep_distinct])


@pytest.mark.parametrize(
    "name, extracted, raw",
    [
        ("gpt-4-turbo_sqlite", 56, 39),
        ("mistralai-mixtral-8x7b-instru-4_sqlite", 38, 23),
        ("gpt-4-o_cot_SQLite", 76, 76),
    ],
)
def test_bird(tmp_path: Path, name: str, extracted: int, raw: int) -> None:
    data = shared("bird/bird_mini_dev_sqlite.json")
    manifest = tmp_path / "bird.yaml"
    manifest.write_text(
        f"sqlbench: 1\nformat: bird\ndata: {data}\ndatabases: {data.parent}/databases\nmissing_databases: skip\n",
        encoding="utf-8",
    )
    predictions = data.parent / "predictions" / f"predict_mini_dev_{name}.json"
    n, counts = readings(manifest, predictions, "bird,default,spider", extraction="fences")
    assert (n, counts["main"], counts["bird"]) == (92, extracted, extracted)
    assert readings(manifest, predictions, "", extraction="off")[1]["main"] == raw
