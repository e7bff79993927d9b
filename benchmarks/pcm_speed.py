"""How fast pairs of queries are scored by PCM-F1: CPU time, and as a multiple of `sqlglot.parse_one` of the same texts.

Run it as ``python benchmarks/pcm_speed.py [PAIRS.jsonl]``, a file with ``gold`` and ``pred`` a line; without one the
pairs of the project's own tests are scored again and again. Ratios travel between machines, milliseconds do not.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import sqlglot
from sqlglot.errors import SqlglotError

from pytest_sqlbench import pcm_score
from pytest_sqlbench.errors import UnscorableGold

QUIRKS = Path(__file__).parent.parent / "tests" / "scoring" / "pcm" / "quirks.tsv"
REPEATS = 50

Pair = tuple[str, str]


def read_pairs(path: Path | None) -> list[Pair]:
    """Read the pairs to score; those of the tests, repeated, where no file is given."""
    if path is not None:
        records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [(record["gold"], record["pred"]) for record in records]
    rows = [line.split("\t") for line in QUIRKS.read_text(encoding="utf-8").splitlines()[1:]]
    return [(gold.replace("\\n", "\n"), predicted.replace("\\n", "\n")) for _, gold, predicted, *_ in rows] * REPEATS


def cpu_ms(run: Callable[[Pair], object], pairs: Sequence[Pair]) -> float:
    """Return the CPU milliseconds of one pair: the better of two passes over all."""
    best = float("inf")
    for _ in range(2):
        started = time.process_time()
        for pair in pairs:
            run(pair)
        best = min(best, (time.process_time() - started) / len(pairs) * 1e3)
    return best


def score(pair: Pair) -> None:
    """Clean, parse and score a pair."""
    try:
        pcm_score(*pair)
    except UnscorableGold:
        return


def parse_both(pair: Pair) -> None:
    """Parse both texts of a pair with sqlglot, and do nothing with them."""
    for text in pair:
        try:
            sqlglot.parse_one(text, dialect="tsql")
        except SqlglotError:
            continue


def main() -> None:
    """Print pairs a second and the ratio."""
    logging.disable(logging.CRITICAL)  # sqlglot warns of every DECLARE
    pairs = read_pairs(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    ours, theirs = cpu_ms(score, pairs), cpu_ms(parse_both, pairs)
    print(f"{len(pairs):,} pairs, {1e3 / ours:,.0f} pairs a second of CPU ({ours:.3f} ms a pair, end to end)")
    print(f"sqlglot {sqlglot.__version__} takes {theirs:.3f} ms only to parse both texts: {ours / theirs:.2f} of that")


if __name__ == "__main__":
    main()
