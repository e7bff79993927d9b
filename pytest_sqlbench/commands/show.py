"""``pytest-sqlbench show CASE``: everything that a saved run knows of one case."""

from __future__ import annotations

import argparse

from pytest_sqlbench.commands.gates import add_storage_argument, open_saved
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.report.failure import describe_failure
from pytest_sqlbench.run import Run, Tally, tally_cases

HELP = "Show one case of a saved run: question, gold, prediction and the rows that differ."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument(
        "case", metavar="CASE", help="As in a node id, orders[late], or the id alone where it is unique."
    )
    parser.add_argument("--run", dest="run_spec", metavar="NAME", default="", help="Saved run. Default: the newest.")
    add_storage_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print every sample of the case."""
    saved = open_saved(args.run_spec, args.storage)
    tally = find_tally(saved, args.case)
    suite, case = tally.key
    print(f"{suite}[{case}] in {saved.name} ({saved.fingerprint.model or 'no model'})")
    for verdict in tally.verdicts:
        if tally.samples > 1:
            print(f"\nsample {verdict.sample}")
        print(describe_failure(verdict, is_long=True))
    if not any(verdict.gold for verdict in tally.verdicts):
        print("(a committed run keeps no texts: save a whole one with --sqlbench-json or --sqlbench-autosave)")
    return 0


def find_tally(saved: Run, name: str) -> Tally:
    """Return the case of a saved run that a name means; raise `UsageError` if none or several do."""
    # a whole node id is as good: what stands before :: is the manifest
    wanted = name.rpartition("::")[2]
    tallies = tally_cases(saved.verdicts)
    found = [tally for (suite, case), tally in tallies.items() if wanted in (case, f"{suite}[{case}]")]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no case {name!r} in {saved.name} ({len(tallies):,} cases)")
    several = ", ".join(f"{suite}[{case}]" for suite, case in (tally.key for tally in found))
    raise UsageError(f"{name!r} is several cases of {saved.name}: {several}")
