"""Joins the runs of several shards into the run that one machine would have made. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.run import Run, measure_cost


def join_runs(runs: Sequence[Run]) -> Run:
    """Return one run of several shards.

    Raises:
        UsageError: There is none, two of them differ in more than their commit, a shard is missing or stands twice, or
            a case is in two of them.
    """
    if not runs:
        raise UsageError("no run to join")
    _check_shards(runs)
    first = runs[0]
    owners: dict[tuple[str, str, int], str] = {}
    for run in runs:
        _check_same_origin(first, run)
        for verdict in run.verdicts:
            key = verdict.suite, verdict.case, verdict.sample
            if key in owners:
                raise UsageError(f"case {verdict.suite}[{verdict.case}] is in {owners[key]} and in {run.name}")
            owners[key] = run.name
    verdicts = tuple(verdict for run in runs for verdict in run.verdicts)
    suites = {name: facts for run in runs for name, facts in run.fingerprint.suites.items()}
    joined = replace(first.fingerprint, shard="", suites=dict(sorted(suites.items())))
    return Run(verdicts, joined, cost_per_case_usd=measure_cost(verdicts))


def _check_shards(runs: Sequence[Run]) -> None:
    """Check that shards, where the runs are shards, are all of them and each once."""
    owners: dict[str, str] = {}
    for run in runs:
        shard = run.fingerprint.shard
        if shard and shard in owners:
            raise UsageError(f"shard {shard} stands twice: {owners[shard]} and {run.name}")
        owners[shard] = run.name
    totals = sorted({shard.partition("/")[2] for shard in owners})
    if len(totals) > 1:
        said = ", ".join(f"{name} is {f'shard {shard}' if shard else 'no shard'}" for shard, name in owners.items())
        raise UsageError(f"not shards of one run: {said}")
    n = int(totals[0] or 0)
    lacking = [f"{number}/{n}" for number in range(1, n + 1) if f"{number}/{n}" not in owners]
    if lacking:
        which = f"shard {lacking[0]} is" if len(lacking) == 1 else f"shards {', '.join(lacking)} are"
        raise UsageError(f"{which} missing: run it with --sqlbench-shard={lacking[0]} --sqlbench-json=PATH")


def _check_same_origin(first: Run, other: Run) -> None:
    mine, theirs = first.fingerprint, other.fingerprint
    for name in ("plugin", "policy_version", "extraction", "model", "parameters", "samples", "selection"):
        if getattr(mine, name) != getattr(theirs, name):
            raise UsageError(
                f"{first.name} and {other.name} are not shards of one run: "
                f"{name} is {getattr(mine, name)!r} and {getattr(theirs, name)!r}"
            )
    for name in mine.suites.keys() & theirs.suites.keys():
        if mine.suites[name] != theirs.suites[name]:
            raise UsageError(f"{first.name} and {other.name} are not shards of one run: suite {name} differs")
