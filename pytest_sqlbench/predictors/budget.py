"""A cap on what a run may cost, kept while many calls are under way."""

from __future__ import annotations

from enum import Enum


class Leave(Enum):
    """Whether one more call may start."""

    GO = "go"
    WAIT = "wait"
    STOP = "stop"


class Budget:
    """Counts what calls have cost; a call that is under way counts as the mean of those that ended."""

    def __init__(self, max_cost_usd: float | None = None) -> None:
        self._max = max_cost_usd
        self.spent_usd = 0.0
        self._under_way = 0
        self._ended_n = 0

    def ask(self) -> Leave:
        """Say whether one more call fits. Until the first has ended its cost is unknown: one goes, the others wait."""
        if self._max is None:
            return Leave.GO
        if self._ended_n == 0:
            return Leave.WAIT if self._under_way else Leave.GO
        mean = self.spent_usd / self._ended_n
        if self.spent_usd + (self._under_way + 1) * mean <= self._max and self.spent_usd < self._max:
            return Leave.GO
        return Leave.WAIT if self._under_way else Leave.STOP

    def start(self) -> None:
        """Count a call that starts."""
        self._under_way += 1

    def end(self, cost_usd: float | None) -> None:
        """Count what an ended call has cost; None: it brought no answer, or nobody knows."""
        self._under_way -= 1
        if cost_usd is not None:
            self._ended_n += 1
            self.spent_usd += cost_usd
