"""Which cases to ask for before anybody waits for them. Pure: it only counts."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from pytest_sqlbench.case import Case

Place = tuple[Case, int]
"""A case and the number of its sample."""

WINDOW = 8
"""How many times the concurrency is read ahead: with less, a few slow calls leave the others idle at the end."""


class ReadAhead:
    """A plan of cases in the order in which they will be asked for, and how far ahead of the asking to go.

    Several processes take stretches of the plan: from each asked place a few are due next, and beside them the plan
    is followed from its beginning, at most ``window`` places ahead of what was asked for.
    """

    def __init__(self, plan: Iterable[Place], concurrency: int, *, is_short: bool = False) -> None:
        """Make a plan; ``is_short`` where the run may end at any case, as it does with ``-x``."""
        self._plan = list(plan)
        self._places = {(case.suite, case.id, sample): n for n, (case, sample) in enumerate(self._plan)}
        self._window = concurrency * (1 if is_short else WINDOW)
        self._near = max(2, concurrency // 4)
        self._started: set[int] = set()
        self._frontier = 0
        self._asked_n = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self._plan)

    def due(self, case: Case | None = None, sample: int = 0) -> list[Place]:
        """Return what to start now that this case is asked for; None: before anything is."""
        with self._lock:
            numbers: list[int] = []
            if case is not None:
                self._asked_n += 1
                place = self._places.get((case.suite, case.id, sample))
                if place is not None:
                    numbers.extend(range(place, min(place + 1 + self._near, len(self._plan))))
            end = min(len(self._plan), self._asked_n + self._window)
            numbers.extend(range(self._frontier, end))
            self._frontier = max(self._frontier, end)
            fresh = [number for number in dict.fromkeys(numbers) if number not in self._started]
            self._started.update(fresh)
            return [self._plan[number] for number in fresh]
