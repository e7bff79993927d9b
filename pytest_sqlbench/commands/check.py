"""``pytest-sqlbench check SUITE``: what is doubtful about the golds of a suite, before any model is asked."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.evaluation.gold_check import GoldChecker
from pytest_sqlbench.scoring.lint import Finding, Severity
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite

HELP = "Check the golds of suites; exit code 1 if there is a finding that is not accepted."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("suites", metavar="SUITE", nargs="+", type=Path, help="Suite manifests.")
    parser.add_argument("--case", metavar="ID", action="append", default=[], help="Only this case; repeatable.")
    parser.add_argument(
        "--level",
        choices=[severity.value for severity in Severity],
        default=Severity.WARNING.value,
        help="Findings from this severity on are printed and fail. Default: warning.",
    )
    parser.add_argument(
        "--accepted",
        metavar="FILE",
        type=Path,
        help="Findings that were looked at: 'suite/case rule' a line, # comment.",
    )
    parser.add_argument("--accept", action="store_true", help="Write all findings to the file of --accepted.")
    parser.add_argument("--gold-timeout", metavar="S", type=float, default=60.0, help="Seconds that a gold may run.")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="Of the shuffled copies. Default: 0.")


def run(args: argparse.Namespace) -> int:
    """Print the findings, most severe first, and a count of each rule."""
    if args.accept and args.accepted is None:
        raise UsageError("--accept needs --accepted=FILE, where the findings are written")
    accepted = read_accepted(args.accepted) if args.accepted is not None and not args.accept else frozenset()
    settings = replace(Settings(), gold_timeout_s=args.gold_timeout, seed=args.seed)
    started = time.process_time()
    found: list[Finding] = []
    n = 0
    for path in args.suites:
        count, findings = _check(path, settings, args.case)
        n += count
        found += findings
    if n == 0:
        raise UsageError(f"no case of {', '.join(map(str, args.suites))} is named {', '.join(args.case)}")
    shown = [finding for finding in found if _rank(finding) <= _LEVELS.index(args.level)]
    if args.accept:
        args.accepted.write_text("".join(f"{key}\n" for key in sorted({one.key for one in shown})), encoding="utf-8")
        print(f"{len(shown)} findings of {n} cases are accepted in {args.accepted}")
        return 0
    fresh = [finding for finding in shown if finding.key not in accepted]
    print("\n".join(describe_findings(fresh, n, len(shown) - len(fresh), time.process_time() - started)))
    for key in sorted(accepted - {finding.key for finding in found}):
        print(f"accepted, and no longer found: {key}")
    return 1 if fresh else 0


_LEVELS = [severity.value for severity in Severity]


def _rank(finding: Finding) -> int:
    return _LEVELS.index(finding.severity.value)


def _check(path: Path, settings: Settings, only: Sequence[str]) -> tuple[int, list[Finding]]:
    suite = load_suite(path)
    checker = GoldChecker(suite, settings)
    cases = [case for case in suite.cases if not only or case.id in only]
    kept = {case.id for case in cases}
    try:
        found = [finding for finding in checker.check_suite() if finding.case in kept]
        for case in cases:
            found += checker.check(case)
    finally:
        checker.close()
    return len(cases), found


def read_accepted(path: Path) -> frozenset[str]:
    """Read a file of accepted findings; raise `UsageError` if it is not there or a line is not one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    keys: set[str] = set()
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text and len(text.split()) != 2:
            raise UsageError(f"{path}:{number}: found {text!r}, wanted 'suite/case rule'")
        if text:
            keys.add(" ".join(text.split()))
    return frozenset(keys)


def describe_findings(found: Iterable[Finding], n: int, accepted_n: int, cpu_s: float) -> list[str]:
    """Return one line per finding and the counts; `n` cases were checked in `cpu_s` seconds of CPU."""
    listed = sorted(found, key=_rank)
    lines = [
        f"{finding.severity.value:<8}{finding.suite}[{finding.case}] {finding.rule}"
        + (f": {finding.detail}" if finding.detail else "")
        for finding in listed
    ]
    counts = Counter(finding.rule for finding in listed)
    total = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items())) or "nothing found"
    also = f"; {accepted_n} accepted" if accepted_n else ""
    lines.append(f"{n} cases checked: {total}{also} ({1000 * cpu_s / n:.1f} ms a case)")
    return lines
