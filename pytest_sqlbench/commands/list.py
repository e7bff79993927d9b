"""``pytest-sqlbench list``: the saved runs of a storage folder, a line each."""

from __future__ import annotations

import argparse

from pytest_sqlbench.baseline import list_saved, load_run
from pytest_sqlbench.commands.gates import add_storage_argument
from pytest_sqlbench.errors import BaselineError
from pytest_sqlbench.report.tables import align, show_rate
from pytest_sqlbench.run import Run, accuracy, count_missing

HELP = "List the saved runs with their accuracy."

_HEAD = ("run", "n", "accuracy", "95 % interval", "samples", "missing", "model")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    add_storage_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print a table; a file that cannot be read is a line of its own and makes the exit code 1."""
    rows, faults = [], []
    for path in list_saved(args.storage):
        try:
            rows.append(_row(path.stem, load_run(path)))
        except BaselineError as error:
            faults.append(str(error))
    print("\n".join(align([_HEAD, *rows])) if rows else f"no saved run in {args.storage}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def _row(name: str, saved: Run) -> tuple[str, ...]:
    try:
        score = accuracy(saved.verdicts)
    except ValueError:
        n, rate, interval = "0", "n/a", ""
    else:
        n, (rate, interval) = f"{score.n:,}", show_rate(score)
    missing = sum(count_missing(saved).values())
    origin = saved.fingerprint
    return name, n, rate, interval, str(origin.samples), f"{missing:,}" if missing else "", origin.model
