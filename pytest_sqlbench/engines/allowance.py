"""What a query may use: a gold ten times as much as a prediction, a prediction as many rows as the gold of its case."""

from __future__ import annotations

from pytest_sqlbench.result import QueryFailure, ResultSet
from pytest_sqlbench.settings import Settings

GOLD_FACTOR = 10
"""A gold may return this many times the rows and bytes of a prediction."""

Budget = tuple[float, int, int]
"""Seconds, rows and bytes that one query may use."""


class Allowance:
    """Gives each query its budget, and counts the rows of the golds that ran since the last prediction.

    A prediction that returns what the gold returns must not fail by a limit. Only the golds that ran just before count,
    so that the order of the cases moves no verdict.
    """

    def __init__(self, settings: Settings) -> None:
        limits = settings.limits
        self._limits = limits
        self.of_gold: Budget = (settings.gold_timeout_s, limits.rows * GOLD_FACTOR, limits.result_bytes * GOLD_FACTOR)
        """What each gold may use."""
        self._rows = 0
        self._is_new_case = True

    def hear_gold(self, result: ResultSet | QueryFailure) -> ResultSet | QueryFailure:
        """Take note of a gold's result, and return it."""
        if isinstance(result, ResultSet):
            self._rows = max(len(result.rows), 0 if self._is_new_case else self._rows)
            self._is_new_case = False
        return result

    def next_prediction(self) -> Budget:
        """Return what the next prediction may use: as many rows as the gold that ran just before, also above the limit.

        It is asked for once a prediction, also for one that is refused: it ends the case.
        """
        self._is_new_case = True
        return self._limits.timeout_s, max(self._limits.rows, self._rows), self._limits.result_bytes
