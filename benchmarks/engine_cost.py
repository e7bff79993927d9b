"""What the guard and the process around SQLite cost, on the small queries of `cases/`, in CPU time.

    python benchmarks/engine_cost.py

Three ways to judge one pair of gold and prediction, each the best of many rounds:

* raw: a plain loop, as most evaluators do it: connect, run gold, run prediction, compare as bags, close.
* guarded: this package's engine in this process, predictions without the sandbox.
* sandboxed: the same with predictions in the sandbox; its CPU time counts too.

Prints the ratio of guarded to raw (wanted: at most 1.3) and what the sandbox adds (wanted: at most 250 us a query).
"""

from __future__ import annotations

import gc
import json
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from pytest_sqlbench.case import Suite
from pytest_sqlbench.engines import sandbox
from pytest_sqlbench.engines.build import build_database
from pytest_sqlbench.engines.sqlite import open_engine
from pytest_sqlbench.result import Engine, ResultSet
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite

CASES = Path(__file__).parent.parent / "cases"
ROUNDS = 150
SMALL_MS = 1.0
"""Golds that take longer say nothing about overhead: they are left out."""


def _child_cpu_s() -> float:
    """Return the CPU time of the sandbox, from the scheduler's own nanoseconds."""
    total = 0
    for box in sandbox._SANDBOXES.values():
        for task in Path(f"/proc/{box.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def _best_us(judge: Callable[[str], None], queries: list[str], has_child: bool) -> float:
    """Return the mean over the queries of each one's least CPU time, the sandbox's included."""
    least = dict.fromkeys(queries, float("inf"))
    gc.collect()
    for _ in range(ROUNDS):
        for query in queries:
            child = _child_cpu_s() if has_child else 0.0
            start = time.process_time()
            judge(query)
            spent = time.process_time() - start
            spent += (_child_cpu_s() - child) if has_child else 0.0
            least[query] = min(least[query], spent)
    return sum(least.values()) / len(least) * 1e6


def _raw(path: Path, query: str) -> None:
    connection = sqlite3.connect(path)
    gold = connection.execute(query).fetchall()
    predicted = connection.execute(query).fetchall()
    assert Counter(gold) == Counter(predicted)
    connection.close()


def _ours(engine: Engine, query: str) -> None:
    gold, predicted = engine.run_gold(query), engine.run_prediction(query)
    assert isinstance(gold, ResultSet)
    assert isinstance(predicted, ResultSet), predicted
    assert Counter(gold.rows) == Counter(predicted.rows)


def _golds(suite: Suite) -> Iterator[str]:
    for case in suite.cases:
        yield from case.gold


def _is_small(engine: Engine, query: str) -> bool:
    """Whether the best of some runs is short: on a busy machine one run says little."""
    runs = [engine.run_gold(query) for _ in range(10)]
    return all(isinstance(run, ResultSet) for run in runs) and min(run.elapsed_ms for run in runs) < SMALL_MS


def measure(manifest: Path, cache_dir: Path) -> dict[str, float]:
    """Measure one suite; return microseconds a pair and how many pairs there were."""
    suite = load_suite(manifest)
    database = build_database(next(iter(suite.databases.values())), "sqlite", cache_dir)
    assert database.path is not None
    path = database.path
    inside = open_engine(database, Settings(runs_in_process=True))
    outside = open_engine(database, Settings())
    queries = [query for query in dict.fromkeys(_golds(suite)) if _is_small(inside, query)]
    outside.run_prediction(queries[0])  # starts the sandbox
    figures = {
        "raw_us": _best_us(lambda query: _raw(path, query), queries, False),
        "guarded_us": _best_us(lambda query: _ours(inside, query), queries, False),
        "sandboxed_us": _best_us(lambda query: _ours(outside, query), queries, True),
        "pairs": float(len(queries)),
    }
    inside.close()
    outside.close()
    return figures


def main() -> int:
    """Measure every suite of `cases/` and print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        rows = {path.stem: measure(path, Path(folder)) for path in sorted(CASES.glob("*.yaml"))}
    total = sum(row["pairs"] for row in rows.values())
    mean = {key: sum(row[key] * row["pairs"] for row in rows.values()) / total for key in next(iter(rows.values()))}
    ratio = mean["guarded_us"] / mean["raw_us"]
    extra_us = mean["sandboxed_us"] - mean["guarded_us"]
    for name, row in rows.items():
        print(f"{name:10} " + "  ".join(f"{key} {value:.0f}" for key, value in row.items()))
    print(f"guarded / raw: {ratio:.2f} (at most 1.3)")
    print(f"the sandbox adds {extra_us:.0f} us CPU a query (at most 250)")
    print(json.dumps({"guarded_to_raw": round(ratio, 3), "sandbox_us": round(extra_us, 1), "pairs": int(total)}))
    return 0 if ratio <= 1.3 and extra_us <= 250 else 1


if __name__ == "__main__":
    sys.exit(main())
