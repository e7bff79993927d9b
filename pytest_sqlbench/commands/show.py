"""``pytest-sqlbench show CASE``: everything that a saved run knows of one case."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from pytest_sqlbench.baseline import load_run
from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.commands.gates import add_storage_argument, open_saved
from pytest_sqlbench.errors import SqlbenchError, UsageError
from pytest_sqlbench.report.failure import describe_failure, show_text
from pytest_sqlbench.run import Key, Run, Tally, tally_cases
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.triage import diagnose
from pytest_sqlbench.verdict import Verdict

HELP = "Show one case of a saved run: question, gold, prediction and the rows that differ."

SHOWN_RUNS = 20
"""Saved runs that are looked through for the history of a case."""


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
        for label, text in describe_facts(verdict):
            print(f"{label:<11}{show_text(text)}")
    if not any(verdict.gold for verdict in tally.verdicts):
        print("(a committed run keeps no texts: save a whole one with --sqlbench-json or --sqlbench-autosave)")
    for line in _describe_history(args.storage, tally.key, saved.name):
        print(line)
    return 0


def describe_facts(verdict: Verdict) -> list[tuple[str, str]]:
    """Return what else is known of a verdict, by name."""
    source = find_source(verdict)
    case = source[1] if source is not None else None
    diagnosis = diagnose(verdict, case.gold, case.dialect) if case is not None else diagnose(verdict)
    times = [f"gold {verdict.gold_ms:.1f} ms", f"predicted {verdict.predicted_ms:.1f} ms"]
    times += [f"model {verdict.model_ms:.0f} ms"] if verdict.model_ms is not None else []
    call = [f"{verdict.tokens:,} tokens"] if verdict.tokens is not None else []
    call += [f"${verdict.cost_usd:.4f}"] if verdict.cost_usd is not None else []
    facts = [
        ("cause", ", ".join(cause.value.replace("_", " ") for cause in diagnosis.causes) if diagnosis else ""),
        ("hint", diagnosis.hint if diagnosis else ""),
        ("scores", ", ".join(f"{name} {value:.3f}" for name, value in sorted(verdict.scores.items()))),
        ("policy", verdict.policy),
        ("database", case.database if case is not None else ""),
        ("tags", ", ".join(filter(None, (verdict.difficulty, *verdict.tags)))),
        ("times", ", ".join(times)),
        ("call", ", ".join(call)),
        ("written at", f"{case.file}:{case.line}" if case and case.file else verdict.where.removesuffix(":0")),
    ]
    return [(label, text) for label, text in facts if text]


def find_source(verdict: Verdict) -> tuple[Suite, Case] | None:
    """Return suite and case of a verdict where the manifest is at hand and still has it."""
    path = Path(verdict.where.rpartition(":")[0])
    try:
        suite = load_suite(path) if path.is_file() else None
        return (suite, suite.find_case(verdict.case)) if suite is not None else None
    except (SqlbenchError, KeyError):
        return None


def _describe_history(storage: Path, key: Key, but: str) -> list[str]:
    """Say what the case came to in the other saved runs, by name."""
    found = []
    for path in sorted(storage.glob("*.json"))[-SHOWN_RUNS:]:
        with suppress(SqlbenchError):
            saved = load_run(path)
            tally = tally_cases(saved.verdicts).get(key)
            if tally is not None and saved.name != but:
                found.append(f"{path.stem} {tally.shown.outcome.value.replace('_', ' ')}")
    return [f"{'history':<11}{', '.join(found)}"] if found else []


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
