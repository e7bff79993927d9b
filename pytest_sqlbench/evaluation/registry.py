"""Finds the judge of a suite's metric."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import Verdict


class Judge(Protocol):
    """Gives verdicts for the cases of one suite. One object serves one worker; it keeps connections open."""

    def judge(self, case: Case, prediction: Prediction) -> Verdict:
        """Judge one prediction. Trouble of the bench becomes an outcome; `EngineError` is for what cannot go on."""

    def close(self) -> None:
        """Release engines. Closing twice is allowed."""


METRICS: dict[str, str] = {
    "execution_accuracy": "pytest_sqlbench.evaluation.execution",
    "acc_ex": "pytest_sqlbench.evaluation.wikisql",
    "acc_lf": "pytest_sqlbench.evaluation.wikisql",
    "pcm_f1": "pytest_sqlbench.evaluation.clauses",
    "pcm_em": "pytest_sqlbench.evaluation.clauses",
    "clause_f1": "pytest_sqlbench.evaluation.clauses",
    "pcm_f1[sqlglot]": "pytest_sqlbench.evaluation.clauses",
    "pcm_em[sqlglot]": "pytest_sqlbench.evaluation.clauses",
    "clause_f1[sqlglot]": "pytest_sqlbench.evaluation.clauses",
}
"""``metric:`` of a suite to the module with ``open_judge(suite, settings) -> Judge``."""


def open_judge(suite: Suite, settings: Settings) -> Judge:
    """Open the judge of a suite; raise `UsageError` for a metric that nobody computes."""
    try:
        module = METRICS[suite.metric]
    except KeyError:
        known = ", ".join(sorted(METRICS))
        raise UsageError(f"{suite.path}: unknown metric {suite.metric!r}. Known: {known}.") from None
    return cast(Judge, import_module(module).open_judge(suite, settings))
