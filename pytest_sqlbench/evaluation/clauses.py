"""The judge of metrics over a query's clauses: PCM-F1, PCM-EM and the micro F1 of all clauses. Nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.scoring.extract import Extraction, extract_query
from pytest_sqlbench.scoring.pcm.clauses import Difference, clause_f1, compare_clauses
from pytest_sqlbench.scoring.pcm.components import NAMES, Components
from pytest_sqlbench.scoring.pcm.score import PcmScore, query_components, score_components
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable
from pytest_sqlbench.scoring.trees import tree_components
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import Outcome, Reason, Verdict, amend

Reader = Callable[[str], Components]

INVALID = "invalid"
"""Flag of a prediction that the metric's parser cannot read; it scores 0."""
SHOWN_ITEMS = 40
"""Items of a component that a verdict keeps in each of its three lists."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A prediction beside one gold."""

    gold: str
    score: PcmScore
    micro_f1: float
    differences: list[Difference]

    def figures(self) -> dict[str, float]:
        """The three metrics by name."""
        return {"pcm_f1": self.score.f1, "pcm_em": self.score.em, "clause_f1": self.micro_f1}


class ClauseJudge:
    """Judges the cases of one suite by the clauses of gold and predicted query."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        given: Mapping[str, Any] = {"parser": "official", "values": True, "on_clause": True, **suite.settings}
        self._suite = suite
        self._level = settings.extraction
        self._options = {"values": given["values"], "on_clause": given["on_clause"]}
        self._is_official = given["parser"] == "official"
        self._figure = suite.metric.removesuffix("[sqlglot]")
        self._suffix = suite.metric[len(self._figure) :]

    def judge(self, case: Case, prediction: Prediction) -> Verdict:
        """Score a prediction against the nearest of the golds that the parser can read.

        A case whose golds are all unreadable is unscorable. A prediction that is unreadable scores 0.
        """
        verdict = Verdict(
            suite=case.suite,
            case=case.id,
            outcome=Outcome.WRONG,
            metric=self._suite.metric,
            score=0.0,
            policy=self._policy(),
            question=case.question,
            gold=case.gold[0],
            tags=case.tags,
            difficulty=case.difficulty,
        )
        read = self._reader(case)
        golds: list[tuple[str, Components]] = []
        for query in case.gold:
            try:
                golds.append((query, read(query)))
            except Unreadable as error:
                trouble = f"the metric's parser cannot read the gold query: {error}"
        if not golds:
            return amend(verdict, outcome=Outcome.UNSCORABLE, score=None, detail=trouble)
        predicted, verdict = self._read(case, prediction, read, verdict)
        if predicted is None:
            return amend(verdict, scores=self._zeros(golds[0][1]), flags=(INVALID,))
        return self._decide(case, verdict, golds, predicted)

    def close(self) -> None:
        """Nothing is open."""

    def _zeros(self, gold: Components) -> dict[str, float]:
        """The figures of an invalid prediction: 0 for every metric and for every component that the gold has."""
        figures = [f"{name}{self._suffix}" for name in ("pcm_f1", "pcm_em", "clause_f1")]
        return dict.fromkeys([*figures, *(f"f1_{name}" for name in NAMES if gold[name])], 0.0)

    def _policy(self) -> str:
        left_out = [f"no {name.replace('_', ' ')}" for name, counts in self._options.items() if not counts]
        return ", ".join(["clauses", *left_out])

    def _reader(self, case: Case) -> Reader:
        if self._is_official:
            return partial(query_components, **self._options)
        return partial(tree_components, dialect=case.dialect, **self._options)

    def _read(
        self, case: Case, prediction: Prediction, read: Reader, verdict: Verdict
    ) -> tuple[Components | None, Verdict]:
        """Read the reply as it came, as the official evaluator does; else what is picked out of it."""
        reply = prediction.reply
        if reply is None:
            return None, amend(verdict, reason=Reason.MISSING_PREDICTION, detail="no prediction for this case")
        try:
            return read(reply), amend(verdict, sql=reply)
        except Unreadable as error:
            message = str(error)
        found = extract_query(reply, case.dialect, self._level)
        verdict = amend(
            verdict,
            sql=found.sql,
            reply=reply if reply != found.sql else None,
            extraction=found.steps,
        )
        if found.sql is not None and found.sql != reply:
            try:
                return read(found.sql), verdict
            except Unreadable as error:
                message = str(error)
        return None, amend(verdict, reason=_reason(prediction, found), detail=message)

    def _decide(
        self, case: Case, verdict: Verdict, golds: list[tuple[str, Components]], predicted: Components
    ) -> Verdict:
        best = max(
            (_compare(query, components, predicted) for query, components in golds),
            key=lambda compared: compared.figures()[self._figure],
        )
        score = best.figures()[self._figure]
        figures = {f"{name}{self._suffix}": value for name, value in best.figures().items()}
        figures |= {f"f1_{name}": value for name, value in best.score.components.items()}
        verdict = amend(verdict, score=score, scores=figures, gold=best.gold)
        threshold = self._suite.threshold if case.threshold is None else case.threshold
        if score >= threshold:
            return amend(verdict, outcome=Outcome.CORRECT)
        return amend(
            verdict,
            reason=Reason.BELOW_THRESHOLD,
            detail=f"{self._suite.metric} {score:.3f} is below {threshold:g}{_worst(best.score)}",
            facts={"components": [_record(difference) for difference in best.differences]},
        )


def _compare(query: str, gold: Components, predicted: Components) -> _Compared:
    return _Compared(
        query, score_components(gold, predicted), clause_f1(gold, predicted), compare_clauses(gold, predicted)
    )


def _reason(prediction: Prediction, found: Extraction) -> Reason:
    if prediction.finish_reason == "length":
        return Reason.TRUNCATED_REPLY
    return Reason.SYNTAX if found.sql is not None else found.trouble or Reason.NO_SQL


def _worst(score: PcmScore) -> str:
    """Name the components that are not equal, worst first."""
    if not score.components:
        return ": neither query has an item that counts"
    unequal = sorted((value, name) for name, value in score.components.items() if value < 1.0)
    return ": " + ", ".join(f"{name} {value:.2f}" for value, name in unequal) if unequal else ""


def _record(difference: Difference) -> dict[str, Any]:
    return {
        "name": difference.name,
        "matched": list(difference.matched[:SHOWN_ITEMS]),
        "missing": list(difference.missing[:SHOWN_ITEMS]),
        "extra": list(difference.extra[:SHOWN_ITEMS]),
    }


def open_judge(suite: Suite, settings: Settings) -> ClauseJudge:
    """Open the judge of a suite; raise `UsageError` for cases that are no SQL."""
    if any(case.dialect == "sparql" for case in suite.cases):
        raise UsageError(f"{suite.path}: metric {suite.metric!r} compares clauses of SQL, and a case is SPARQL")
    return ClauseJudge(suite, settings)
