"""How many rows a prediction may return: the limit, or as many as the gold of its case."""

from __future__ import annotations

GOLD_FACTOR = 10
"""A gold may return this many times the rows and bytes of a prediction."""


class Allowance:
    """Counts the rows of the golds that ran since the last prediction.

    A prediction that returns what the gold returns must not fail by a limit. Only the golds that ran just before count,
    so that the order of the cases moves no verdict.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows = 0
        self._is_new_case = True

    def hear_gold(self, row_count: int) -> None:
        """Take note of a gold's result."""
        self._rows = max(row_count, 0 if self._is_new_case else self._rows)
        self._is_new_case = False

    def rows(self) -> int:
        """Return how many rows the next prediction may have."""
        self._is_new_case = True
        return max(self._limit, self._rows)
