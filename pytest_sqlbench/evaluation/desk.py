"""One case on its database: every text runs once, whatever number of policies asks for its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_sqlbench.case import Case
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet, Status
from pytest_sqlbench.scoring.compare import find_match
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.published import policy_text

READING = "policy:"
"""Before a policy's name: the key of its verdict among the scores of a case."""
_MISQUOTED = 'quotes: "'
"""How an engine's note begins that says that a double-quoted word was read as a string."""


@dataclass(slots=True)
class Gold:
    """One acceptable gold with its rows."""

    query: str
    """As the suite has it."""
    result: ResultSet
    order: GoldOrder

    @property
    def is_misquoted(self) -> bool:
        """True if the gold itself needs double-quoted strings."""
        return find_misquoted(self.result) is not None


class Desk:
    """Runs the golds of one case and one prediction, and keeps the results by text."""

    def __init__(self, case: Case, engine: Engine) -> None:
        self._case = case
        self._engine = engine
        self._golds: dict[str, Gold | QueryFailure] = {}
        self._predicted: dict[str, ResultSet | QueryFailure] = {}

    def run_golds(self, policy: Policy) -> list[Gold] | QueryFailure:
        """Run all golds as the policy wants their text; a failure of any is returned."""
        golds: list[Gold] = []
        for query in self._case.gold:
            sql = policy_text(query, policy)
            gold = self._golds.get(sql)
            if gold is None:
                result = self._engine.run_gold(sql)
                if isinstance(result, ResultSet):
                    gold = Gold(query, result, GoldOrder(sql, self._case.dialect, self._engine.run_gold))
                else:
                    gold = result
                self._golds[sql] = gold
            if isinstance(gold, QueryFailure):
                return gold
            golds.append(gold)
        return golds

    def run_prediction(self, sql: str, policy: Policy, golds: Iterable[Gold]) -> ResultSet | QueryFailure:
        """Run the predicted statement as the policy wants its text.

        SQLite reads an unknown ``"name"`` as a string. A prediction that relies on it asks for a column that is not
        there, unless a gold of the case relies on it too, or the policy is that of an evaluator that lets it pass.
        """
        text = policy_text(sql, policy)
        result = self._predicted.get(text)
        if result is None:
            result = self._predicted[text] = self._engine.run_prediction(text)
        if policy.rule == "relational" and isinstance(result, ResultSet) and result.warnings:
            name = find_misquoted(result)
            if name is not None and not any(gold.is_misquoted for gold in golds):
                return QueryFailure(Status.NO_SUCH_COLUMN, f"no such column: {name}", result.elapsed_ms)
        return result


def find_misquoted(result: ResultSet) -> str | None:
    """Return the double-quoted word that was read as a string, if the engine noted one."""
    for note in result.warnings:
        if note.startswith(_MISQUOTED):
            return note.removeprefix(_MISQUOTED).rpartition('"')[0]
    return None


def score_otherwise(desk: Desk, sql: str | None, policies: Iterable[Policy]) -> dict[str, float]:
    """Return what other policies say of a prediction: 1 or 0 under ``policy:NAME``.

    No text runs twice, so only a policy that rewrites queries costs a query more.

    Args:
        desk: Of the case.
        sql: The predicted statement; None if there is none.
        policies: Each is asked once.
    """
    scores: dict[str, float] = {}
    for policy in policies:
        golds = desk.run_golds(policy)
        is_right = False
        if sql is not None and not isinstance(golds, QueryFailure):
            predicted = desk.run_prediction(sql, policy, golds)
            is_right = isinstance(predicted, ResultSet) and any(
                find_match(gold.result, predicted, policy, gold.order) is not None for gold in golds
            )
        scores[f"{READING}{policy.name}"] = float(is_right)
    return scores
