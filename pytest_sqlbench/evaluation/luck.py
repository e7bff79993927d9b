"""A second look at predictions that are right: on databases of the user's own, and on generated ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.engines.registry import open_engine, place_database
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.evaluation.desk import Desk
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import Outcome, Reason, Verdict, amend

if TYPE_CHECKING:
    from pytest_sqlbench.evaluation.witness import Trial, Witness, WitnessBench
    from pytest_sqlbench.scoring.witness.tables import Reference

LUCK = "passed_by_luck"
"""The flag of a right verdict that a generated database exposes, and the name of its score."""
SHOWN_ROWS = 20


class LuckJudge:
    """Looks again at right verdicts of one suite. Engines and benches open at first use."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        self._suite = suite
        self._settings = settings
        self._instances: Mapping[str, tuple[str, ...]] = suite.settings.get("instances", {})
        self._engines: dict[tuple[str, str], Engine] = {}
        self._benches: dict[str, WitnessBench | None] = {}

    @property
    def has_work(self) -> bool:
        """True if anything is to be looked at again."""
        return bool(self._settings.witnesses or self._instances)

    def look_again(self, verdict: Verdict, case: Case, sql: str, policy: Policy) -> Verdict:
        """Return a right verdict as it stands after the second look.

        On an instance of the user's own the prediction has to match: there it becomes wrong. A generated database makes
        it ``passed_by_luck``, which is a score of its own and leaves the verdict right.
        """
        for path in self._instances.get(case.database, ()):
            verdict = self._try_instance(verdict, case, sql, policy, path)
            if verdict.outcome is not Outcome.CORRECT:
                return verdict
        if self._settings.witnesses and case.engine == "sqlite":
            bench = self._bench(case)
            if bench is not None:
                trial = bench.try_prediction(case.gold, sql, policy, self._settings.witnesses)
                verdict = with_trial(verdict, trial, self._settings.seed)
        return verdict

    def close(self) -> None:
        """Close what was opened."""
        for engine in self._engines.values():
            engine.close()
        for bench in self._benches.values():
            if bench is not None:
                bench.close()
        self._engines.clear()
        self._benches.clear()

    def _try_instance(self, verdict: Verdict, case: Case, sql: str, policy: Policy, path: str) -> Verdict:
        key = (case.engine, path)
        if key not in self._engines:
            self._engines[key] = open_engine(case.engine, Database(Path(path).name, Path(path)), self._settings)
        desk = Desk(case, self._engines[key])
        golds = desk.run_golds(policy)
        where = f"on {Path(path).name}: "
        if isinstance(golds, QueryFailure):
            detail = f"{where}the gold query fails: {golds.message}"
            return amend(verdict, outcome=Outcome.GOLD_ERROR, score=None, reason=Reason.GOLD_FAILED, detail=detail)
        predicted = desk.run_prediction(sql, policy, golds)
        if isinstance(predicted, QueryFailure):
            detail = f"{where}{predicted.message}"
            return amend(verdict, outcome=Outcome.WRONG, score=0.0, reason=Reason.OTHER_INSTANCE, detail=detail)
        matches = [compare(gold.result, predicted, policy, order=gold.order) for gold in golds]
        if any(match.is_match for match in matches):
            return verdict
        detail = f"{where}{matches[0].detail}"
        return amend(
            verdict,
            outcome=Outcome.WRONG,
            score=0.0,
            reason=Reason.OTHER_INSTANCE,
            detail=detail,
            match=matches[0],
            gold_result=golds[0].result,
            predicted_result=predicted,
        )

    def _bench(self, case: Case) -> WitnessBench | None:
        from pytest_sqlbench.evaluation.witness import WitnessBench

        if case.database not in self._benches:
            path = place_database(case.engine, self._suite.databases[case.database], self._settings).path
            references = find_references(self._suite, case.database)
            try:
                self._benches[case.database] = WitnessBench(path, self._settings.seed, references) if path else None
            except EngineError:
                self._benches[case.database] = None
        return self._benches[case.database]


def find_references(suite: Suite, database: str) -> dict[str, tuple[Reference, ...]]:
    """Return the foreign keys that the suite knows of a database, beyond those that its file declares."""
    from pytest_sqlbench.scoring.witness.tables import Reference

    known: Mapping[str, Any] = suite.settings.get("foreign_keys", {}).get(database, {})
    return {table: tuple(Reference(*parts) for parts in listed) for table, listed in known.items()}


def with_trial(verdict: Verdict, trial: Trial, seed: int) -> Verdict:
    """Add to a right verdict what the generated databases said."""
    facts: dict[str, Any] = {**verdict.facts, "witness": {"tried": trial.tried, "seed": seed}}
    scores = {**verdict.scores, LUCK: float(trial.witness is not None)}
    flags = verdict.flags
    if trial.witness is not None:
        flags = (*flags, LUCK)
        facts["witness"].update(describe_witness(trial.witness))
    return amend(verdict, flags=flags, scores=scores, facts=facts)


def describe_witness(witness: Witness) -> dict[str, Any]:
    """Return a witness as plain JSON types, rows cut at twenty a table."""

    def cut(result: ResultSet) -> list[Any]:
        return [list(row) for row in result.rows[:SHOWN_ROWS]]

    return {
        "number": witness.number,
        "tables": {
            title: {"columns": list(columns), "rows": [list(row) for row in rows[:SHOWN_ROWS]]}
            for title, (columns, rows) in witness.tables.items()
        },
        "gold": cut(witness.gold),
        "predicted": cut(witness.predicted),
    }
