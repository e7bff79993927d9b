"""How long one comparison takes, by shape of the results: CPU microseconds, and as a multiple of `Counter == Counter`.

Run it as ``python benchmarks/compare_speed.py``. Ratios travel between machines, microseconds do not.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable

from pytest_sqlbench.policy import PRESETS
from pytest_sqlbench.result import ResultSet, Row
from pytest_sqlbench.scoring.compare import compare


def cpu_us(run: Callable[[], object]) -> float:
    """Return the least CPU time of one call, over batches of about 20 ms."""
    run()
    started = time.process_time()
    run()
    calls = max(1, int(0.02 / max(1e-7, time.process_time() - started)))
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        for _ in range(calls):
            run()
        best = min(best, (time.process_time() - started) / calls)
    return best * 1e6


def make_rows(n: int, seed: int = 7) -> list[Row]:
    """Make rows of two whole numbers, a fraction, a text and a whole number that is often NULL."""
    draw = random.Random(seed)
    return [
        (i, draw.randrange(100), draw.random(), f"name {draw.randrange(n)}", draw.choice([None, 1, 2]))
        for i in range(n)
    ]


def shapes(n: int) -> dict[str, tuple[str, list[Row], list[Row]]]:
    """Return name to policy, gold rows and predicted rows."""
    rows = make_rows(n)
    noisy: list[Row] = [(*row[:2], row[2] * (1 + 1e-13), *row[3:]) for row in rows]  # type: ignore[operator]
    wrong: list[Row] = [*rows[:-1], (*rows[-1][:4], "x")]
    return {
        "equal, same order": ("default", rows, [tuple(row) for row in rows]),
        "equal, other order": ("default", rows, [tuple(row) for row in reversed(rows)]),
        "every fraction noisy": ("default", rows, noisy),
        "columns reversed": ("default", rows, [row[::-1] for row in rows]),
        "columns reversed, permute": ("paper", rows, [row[::-1] for row in rows]),
        "one extra column, superset": ("dbt", rows, [(0, *row) for row in rows]),
        "one cell wrong": ("default", rows, wrong),
        "one row lacking": ("default", rows, rows[:-1]),
    }


def look_alikes(n: int, width: int, seed: int = 7) -> tuple[list[Row], list[Row]]:
    """Make rows of zeros and ones, and the same rows with rows and columns shuffled."""
    draw = random.Random(seed)
    rows: list[Row] = [tuple(draw.randrange(2) for _ in range(width)) for _ in range(n)]
    places = list(range(width))
    draw.shuffle(places)
    other: list[Row] = [tuple([row[place] for place in places]) for row in rows]
    draw.shuffle(other)
    return rows, other


def main() -> None:
    """Print the table."""
    print(f"{'rows':>6}  {'shape':<30}{'CPU us':>12}{'x Counter':>11}")
    for n in (1, 10, 1_000, 10_000):
        for name, (policy, gold, predicted) in shapes(n).items():
            print_row(n, name, policy, gold, predicted)
    for n, width in ((10, 30), (1_000, 8), (1_000, 20), (10_000, 20), (1_000, 30)):
        print_row(n, f"{width} look-alike columns", "paper", *look_alikes(n, width))


def print_row(n: int, name: str, policy: str, gold: list[Row], predicted: list[Row]) -> None:
    """Measure one shape and print it beside counting both sides."""
    columns = (
        tuple(f"c{place}" for place in range(len(gold[0]))),
        tuple(f"p{i}" for i in range(len(predicted[0] if predicted else gold[0]))),
    )
    results = ResultSet(columns[0], gold), ResultSet(columns[1], predicted)
    ours = cpu_us(lambda: compare(*results, PRESETS[policy]))
    plain = cpu_us(lambda: Counter(gold) == Counter(predicted))
    print(f"{n:>6}  {name:<30}{ours:>12.1f}{ours / plain:>11.2f}")


if __name__ == "__main__":
    main()
