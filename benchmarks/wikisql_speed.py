"""Where the time of a WikiSQL run goes, in CPU microseconds a case: loading, reading, execution, comparison, pytest.

    python benchmarks/wikisql_speed.py SUITE.yaml gold
    python benchmarks/wikisql_speed.py SUITE.yaml file:PREDICTIONS

The whole run is measured once as plain pytest and once with ``--sqlbench-fast``. Ratios travel between machines,
microseconds do not.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_sqlbench.case import Suite
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.evaluation.wikisql_tables import WikiSqlTables
from pytest_sqlbench.logical_form import LogicalForm
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor
from pytest_sqlbench.scoring.wikisql.answer import read_answer
from pytest_sqlbench.scoring.wikisql.equality import equal_forms
from pytest_sqlbench.scoring.wikisql.rows import equal_answers
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import to_record


class Split:
    """CPU seconds by name, in the order in which they were measured."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[name] = time.process_time() - started

    def show(self, cases: int) -> None:
        for name, seconds in self.seconds.items():
            print(f"{name:<34} {1e6 * seconds / cases:8.1f} µs a case {seconds:8.2f} s")


def measure_parts(suite: Suite, predictions: list[Prediction], split: Split) -> None:
    """Measure what judging does, one part after the other over all cases."""
    database = suite.databases["main"].path if suite.databases else None
    tables = WikiSqlTables(database, suite.settings["tables"])
    forms: list[LogicalForm | None] = []
    pairs = list(zip(suite.cases, predictions, strict=True))
    with split.part("reading predictions"):
        for case, prediction in pairs:
            forms.append(read_answer(prediction.facts, prediction.reply or "", case.facts["table"]).form)
    with split.part("execution of golds"):
        golds = [tables.run(case.facts["gold_facts"], case.facts["table"], "official") for case in suite.cases]
    with split.part("execution of predictions"):
        answers = [
            None if form is None else tables.run(form, case.facts["table"], "official")
            for case, form in zip(suite.cases, forms, strict=True)
        ]
    with split.part("comparison of answers and forms"):
        for case, form, gold, answer in zip(suite.cases, forms, golds, answers, strict=True):
            if form is not None:
                equal_forms(case.facts["gold_facts"], form)
            if isinstance(gold, list) and isinstance(answer, list):
                equal_answers(gold, answer, "official")
    tables.close()
    judge = open_judge(suite, Settings())
    with split.part("judging as a whole"):
        verdicts = [judge.judge(case, prediction) for case, prediction in pairs]
    with split.part("verdicts to records"):
        for verdict in verdicts:
            to_record(verdict)
    judge.close()


def measure_pytest(manifest: Path, model: str, *options: str) -> tuple[float, float]:
    """Return the CPU seconds and the most megabytes of a whole pytest process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(manifest)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [*command, f"--sqlbench-model={model}", *options], stdout=subprocess.DEVNULL, check=False, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def main() -> None:
    """Measure one suite and one model."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    manifest, model = Path(sys.argv[1]).absolute(), sys.argv[2]
    if model.startswith("file:"):
        model = f"file:{Path(model.removeprefix('file:')).absolute()}"
    split = Split()
    with split.part("loading the suite"):
        suite = load_suite(manifest)
    with split.part("loading the predictions"):
        predictor = make_predictor(model, Path.cwd())
        bind_suite(predictor, suite)
        predict: Callable[..., Prediction] = predictor.predict
        predictions = [predict(case) for case in suite.cases]
    measure_parts(suite, predictions, split)
    n = len(suite.cases)
    print(f"{n:,} cases of {suite.name}, model {model}")
    split.show(n)
    ours = sum(split.seconds[name] for name in split.seconds if name.startswith(("loading", "judging", "verdicts")))
    for name, options in (("pytest", ()), ("pytest --sqlbench-fast", ("--sqlbench-fast",))):
        seconds, megabytes = measure_pytest(manifest, model, *options)
        rest = seconds - ours
        print(
            f"{name + ', all':<34} {1e6 * seconds / n:8.1f} µs a case {seconds:8.2f} s, {megabytes:.0f} MB,"
            f" of which pytest and start-up {1e6 * rest / n:.1f} µs a case"
        )


if __name__ == "__main__":
    main()
