"""How often each gate alarms for two equal models, and for one that really got worse.

    python benchmarks/false_alarms.py [--trials N] [--seed N]      (about 7 minutes of CPU)

Two models answer 200 cases. A case is right with its own chance, whose mean over cases is 70 %. The new model has the
same chances (every alarm is false), or chances that are 5 or 10 points lower on average (every alarm is deserved).
Two worlds: `mixed`, where most cases are nearly always or nearly never right (Beta(1.4, 0.6)), and `coins`, where every
case is right with 70 %: the worst that sampling can do. The gates are the ones that the plugin runs.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from pytest_sqlbench.comparison import compare_runs
from pytest_sqlbench.gate import parse_compare_fail, parse_fail_under
from pytest_sqlbench.run import Run
from pytest_sqlbench.verdict import Outcome, Verdict

CASES = 200
RATE = 0.7
DROPS = (0.0, 0.05, 0.10)
COMPARED = ("p:0.05", "p:0.1", "accuracy:2%", "accuracy:5%", "regressions:0", "regressions:3", "regressions:10")
ABSOLUTE = ("70", "65", "65@low")


def answer(chances: list[float], samples: int, draws: random.Random) -> Run:
    """Let a model answer every case so many times."""
    return Run(
        tuple(
            Verdict("s", str(case), Outcome.CORRECT, score=1.0, sample=sample)
            if draws.random() < chance
            else Verdict("s", str(case), Outcome.WRONG, score=0.0, sample=sample)
            for case, chance in enumerate(chances)
            for sample in range(samples)
        )
    )


def count_alarms(world: str, samples: int, drop: float, trials: int, seed: int) -> Counter[str]:
    """Return how often each gate is missed."""
    draws = random.Random(f"{seed} {world} {samples} {drop}")
    alarms: Counter[str] = Counter()
    rules = [*map(parse_compare_fail, COMPARED), *map(parse_fail_under, ABSOLUTE)]
    for _ in range(trials):
        chances = [draws.betavariate(1.4, 0.6) if world == "mixed" else RATE for _ in range(CASES)]
        worse = [chance * (1 - drop / RATE) for chance in chances]
        comparison = compare_runs(answer(chances, samples, draws), answer(worse, samples, draws))
        alarms.update(rule.text for rule in rules if not rule.judge(comparison.run, comparison).is_met)
    return alarms


def main() -> None:
    """Print the table: alarms in per cent of trials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--trials", type=int, default=1000, help="per cell; a fifth of it at K = 5 (default 1000)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    trials = {1: args.trials, 5: max(1, args.trials // 5)}
    print(f"{CASES} cases, {100 * RATE:.0f} % right: alarms in % of {trials[1]} trials at K=1, of {trials[5]} at K=5")
    columns = [(world, samples, drop) for world in ("mixed", "coins") for samples in (1, 5) for drop in DROPS]
    print(f"{'':<16}" + "".join(f"{f'{world} K={samples}':>24}" for world in ("mixed", "coins") for samples in (1, 5)))
    print(f"{'true drop':<16}" + "".join(f"{f'{100 * drop:.0f} pt':>8}" for _, _, drop in columns))
    counted = [count_alarms(*column, trials[column[1]], args.seed) for column in columns]
    for text in (*COMPARED, *ABSOLUTE):
        name = text if text in COMPARED else f"under {text}"
        shares = [100 * alarms[text] / trials[column[1]] for alarms, column in zip(counted, columns, strict=True)]
        print(f"{name:<16}" + "".join(f"{share:8.1f}" for share in shares))


if __name__ == "__main__":
    main()
