"""``pytest-sqlbench merge R1 R2 …``: one run of several shards, with the gates that no shard can judge alone."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from pytest_sqlbench.baseline import save_run
from pytest_sqlbench.commands.gates import add_gate_arguments, add_storage_argument, open_saved, print_gates, read_rules
from pytest_sqlbench.comparison import compare_runs
from pytest_sqlbench.report.comparison import describe_comparison
from pytest_sqlbench.report.summary import describe_summary
from pytest_sqlbench.run import count_missing
from pytest_sqlbench.shards import join_runs

HELP = "Join the runs of several shards (--sqlbench-json) into one; exit code 1 if a gate is missed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="Saved runs: names in the storage folder, or paths.")
    parser.add_argument("--output", metavar="PATH", type=Path, help="Write the joined run here, whole.")
    parser.add_argument("--save", metavar="NAME", help="Save it in the storage folder, in the form to commit.")
    parser.add_argument("--compare", metavar="NAME", help="Compare it with this saved run.")
    add_gate_arguments(parser)
    add_storage_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Join, print the summary, the comparison and the gates."""
    rules = read_rules(args)
    joined = join_runs([open_saved(spec, args.storage) for spec in args.runs])
    baseline = open_saved(args.compare, args.storage) if args.compare else None
    comparison = compare_runs(baseline, joined) if baseline else None
    if joined.verdicts:
        print("\n".join(describe_summary(joined.verdicts)))
    for name, n in count_missing(joined).items():
        print(f"missing: {n:,} cases of {name}")
    if comparison is not None:
        print("\n".join(describe_comparison(comparison)))
    if args.output:
        save_run(joined, args.output, is_committed=False)
    if args.save:
        save_run(replace(joined, name=args.save), args.storage / f"{args.save}.json", is_committed=True)
    return print_gates(rules, joined, comparison, takes_partial=args.gate_partial)
