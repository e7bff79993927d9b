"""``pytest-sqlbench compare A B``: two saved runs side by side, with the plugin's own gates."""

from __future__ import annotations

import argparse

from pytest_sqlbench.commands.gates import add_gate_arguments, add_storage_argument, open_saved, print_gates, read_rules
from pytest_sqlbench.comparison import compare_runs
from pytest_sqlbench.report.comparison import SHOWN_CASES, describe_comparison
from pytest_sqlbench.report.samples import describe_samples

HELP = "Compare two saved runs; exit code 1 if a gate is missed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("baseline", metavar="A", help="The baseline: a name in the storage folder, or a path.")
    parser.add_argument("run_spec", metavar="B", help="The run that is compared with it.")
    parser.add_argument(
        "--show", metavar="N", type=int, default=SHOWN_CASES, help="Cases named per group. Default: 10."
    )
    add_gate_arguments(parser)
    add_storage_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the comparison and the gates."""
    rules = read_rules(args)
    comparison = compare_runs(open_saved(args.baseline, args.storage), open_saved(args.run_spec, args.storage))
    lines = [*describe_comparison(comparison, max(0, args.show)), *describe_samples(comparison.run.verdicts)]
    print("\n".join(lines))
    return print_gates(rules, comparison.run, comparison, takes_partial=args.gate_partial) if rules else 0
