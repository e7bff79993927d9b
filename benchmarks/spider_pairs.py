"""What judging costs beside running the queries: Spider's development set, one process, CPU time.

Run it as ``python benchmarks/spider_pairs.py FOLDER [MODEL]``; FOLDER holds ``dev.json``, ``tables.json``,
``database/`` and ``predictions/MODEL.sql``. The yardstick is a bare loop in the same minute: connect, run both queries,
count rows.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.policy import PRESETS, find_preset
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite

Work = list[tuple[Case, str]]


def load(folder: Path, model: str) -> tuple[Suite, Work]:
    """Return the suite without ``wta_1``, which has no rows, and a prediction for each case."""
    with tempfile.TemporaryDirectory() as made:
        manifest = Path(made) / "spider.yaml"
        manifest.write_text(
            f"sqlbench: 1\nformat: spider\ndata: {folder}/dev.json\ntables: {folder}/tables.json\n"
            f"databases: {folder}/database\nwithout: [wta_1]\npolicy: default\n",
            encoding="utf-8",
        )
        suite = load_suite(manifest)
    lines = (folder / "predictions" / f"{model}.sql").read_text(encoding="utf-8").split("\n")
    return suite, [(case, lines[int(case.id)]) for case in suite.cases]


def run_raw(suite: Suite, work: Work, is_cached: bool) -> Iterator[float]:
    """Connect (or take a kept connection), run both queries, compare two counters; yield seconds per pair."""
    kept: dict[str, sqlite3.Connection] = {}
    for case, sql in work:
        started = time.process_time()
        connection = kept.get(case.database) if is_cached else None
        if connection is None:
            connection = kept[case.database] = sqlite3.connect(str(suite.databases[case.database].path))
        with suppress(sqlite3.Error):
            _ = Counter(connection.execute(case.gold[0]).fetchall()) == Counter(connection.execute(sql).fetchall())
        yield time.process_time() - started


def run_compare(suite: Suite, work: Work) -> Iterator[float]:
    """Take kept connections, run both queries, and compare under the default policy; yield seconds per pair."""
    kept: dict[str, sqlite3.Connection] = {}
    policy = PRESETS["default"]

    def fetch(connection: sqlite3.Connection, sql: str) -> ResultSet:
        cursor = connection.execute(sql)
        return ResultSet(tuple([item[0] for item in cursor.description]), cursor.fetchall())

    for case, sql in work:
        started = time.process_time()
        connection = kept.get(case.database)
        if connection is None:
            connection = kept[case.database] = sqlite3.connect(str(suite.databases[case.database].path))
        with suppress(sqlite3.Error):
            results = fetch(connection, case.gold[0]), fetch(connection, sql)
            order = GoldOrder(case.gold[0], fetch=lambda text, connection=connection: fetch(connection, text))
            compare(*results, policy, order=order)
        yield time.process_time() - started


def run_judge(suite: Suite, work: Work, settings: Settings) -> Iterator[float]:
    """Judge as the plugin does; yield seconds per pair."""
    judge = open_judge(suite, settings)
    try:
        for case, sql in work:
            started = time.process_time()
            judge.judge(case, Prediction(reply=sql))
            yield time.process_time() - started
    finally:
        judge.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", nargs="?", default="codes_7b")
    args = parser.parse_args()
    suite, work = load(args.folder.absolute(), args.model)
    also = tuple(map(find_preset, ("bird", "spider", "spider:keep_distinct")))
    in_process = Settings(runs_in_process=True)
    rows: dict[str, Callable[[], Iterator[float]]] = {
        "raw: connect, run both, count rows": lambda: run_raw(suite, work, is_cached=False),
        "raw with kept connections": lambda: run_raw(suite, work, is_cached=True),
        "kept connections, our comparison": lambda: run_compare(suite, work),
        "judge, predictions in process": lambda: run_judge(suite, work, in_process),
        "judge, guarded child process": lambda: run_judge(suite, work, Settings()),
        "the same, three more readings": lambda: run_judge(suite, work, Settings(also=also)),
        "the same, 30 witness databases": lambda: run_judge(suite, work, Settings(witnesses=30)),
    }
    print(f"{len(work)} pairs of {args.model}; CPU of this process, best of 3 rounds (the child's is its own)")
    best: dict[str, list[float]] = {}
    for _ in range(3):  # all in turn, so that a busy machine is unfair to nobody
        for name, run in rows.items():
            times = list(run())
            if name not in best or sum(times) < sum(best[name]):
                best[name] = times
    base = statistics.fmean(best[next(iter(rows))])
    print(f"{'':<38}{'median us':>10}{'mean us':>10}{'x raw':>8}")
    for name, times in best.items():
        mean = statistics.fmean(times)
        print(f"{name:<38}{1e6 * statistics.median(times):>10.0f}{1e6 * mean:>10.0f}{mean / base:>8.2f}")


if __name__ == "__main__":
    main()
