"""Judges golds in the place of predictions, for ``--sqlbench-check``: a case passes if nothing is doubtful about it."""

from __future__ import annotations

from collections import defaultdict

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.evaluation.gold_check import GoldChecker
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.scoring.lint import Finding, Severity, worst
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import Outcome, Reason, Verdict


class CheckJudge:
    """Says of each case what `GoldChecker` finds. An error or a warning fails it; notes are flags."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        self._suite = suite
        self._checker = GoldChecker(suite, settings)
        self._shared: defaultdict[str, list[Finding]] | None = None

    def judge(self, case: Case, prediction: Prediction) -> Verdict:
        """Check the gold; what was predicted is not looked at."""
        if self._shared is None:
            self._shared = defaultdict(list)
            for finding in self._checker.check_suite():
                self._shared[finding.case].append(finding)
        found = [*self._shared[case.id], *self._checker.check(case)]
        doubts = [finding for finding in found if finding.severity is not Severity.NOTE]
        fails = worst(found) is Severity.ERROR
        outcome = Outcome.GOLD_ERROR if fails else Outcome.WRONG if doubts else Outcome.CORRECT
        return Verdict(
            suite=case.suite,
            case=case.id,
            outcome=outcome,
            metric="gold_check",
            score=None if fails else float(not doubts),
            reason=(Reason.GOLD_FAILED if fails else Reason.GOLD_DOUBTFUL) if doubts else None,
            detail="; ".join(_describe(finding) for finding in doubts),
            flags=tuple(finding.rule for finding in found if finding.severity is Severity.NOTE),
            question=case.question,
            gold=case.gold[0],
            tags=case.tags,
            difficulty=case.difficulty,
        )

    def close(self) -> None:
        """Close engines and copies."""
        self._checker.close()


def _describe(finding: Finding) -> str:
    return finding.rule.replace("_", " ") + (f" ({finding.detail})" if finding.detail else "")


def open_judge(suite: Suite, settings: Settings) -> CheckJudge:
    """Open a judge of a suite's golds."""
    return CheckJudge(suite, settings)
