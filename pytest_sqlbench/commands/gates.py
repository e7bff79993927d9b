"""What `compare` and `merge` share: finding saved runs, the gate options, and printing what the gates say."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_sqlbench.baseline import find_saved, load_run
from pytest_sqlbench.comparison import Comparison
from pytest_sqlbench.gate import Rule, judge_run, parse_compare_fail, parse_fail_under
from pytest_sqlbench.report.comparison import describe_gates
from pytest_sqlbench.run import Run, count_missing, tally_cases

STORAGE = ".sqlbench"
"""The folder of saved runs where no option names another."""


def add_storage_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--storage``."""
    parser.add_argument(
        "--storage", metavar="DIR", type=Path, default=Path(STORAGE), help=f"Folder of saved runs. Default: {STORAGE}."
    )


def add_gate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--fail-under`` and ``--compare-fail``, which mean what the plugin's options mean."""
    parser.add_argument(
        "--fail-under", metavar="[SUITE:]PCT", action="append", default=[], help="Fail below this score; repeatable."
    )
    parser.add_argument(
        "--compare-fail",
        metavar="EXPR",
        action="append",
        default=[],
        help="Fail if worse than the baseline by more, as in accuracy:2%% or p:0.05; repeatable.",
    )
    parser.add_argument("--gate-partial", action="store_true", help="Evaluate the gates although cases are missing.")


def read_rules(args: argparse.Namespace) -> list[Rule]:
    """Read the gate options; raise `UsageError` for one that cannot be read."""
    return [*map(parse_fail_under, args.fail_under), *map(parse_compare_fail, args.compare_fail)]


def open_saved(spec: str, storage: Path) -> Run:
    """Load a saved run by name or path; raise `BaselineError` where there is none."""
    return load_run(find_saved(spec, storage))


def print_gates(rules: Sequence[Rule], run: Run, comparison: Comparison | None, *, takes_partial: bool) -> int:
    """Evaluate the gates, print a line for each, and return the exit code: 0 met, 1 missed or trouble."""
    errors = sum(tally.is_trouble for tally in tally_cases(run.verdicts).values())
    missing = count_missing(run)
    if missing and rules and not takes_partial:
        lacking = ", ".join(f"{n:,} of {name}" for name, n in missing.items())
        for line, _ in describe_gates((), errors, f"cases without a verdict in this run: {lacking} (--gate-partial)"):
            print(line)
        return 1
    results = judge_run(rules, run, comparison)
    tolerates = any(rule.text.startswith("errors:") for rule in rules)
    for line, _ in describe_gates(results, 0 if tolerates else errors):
        print(line)
    return 0 if all(result.is_met for result in results) and (tolerates or not errors) else 1
