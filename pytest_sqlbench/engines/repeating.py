"""What stands between a judge and an engine: kept gold results, and queries that run again to be found unstable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from pytest_sqlbench.engines.allowance import Allowance
from pytest_sqlbench.engines.gold_cache import GoldCache
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet

Answer = ResultSet | QueryFailure


class LimitedEngine(Engine, Protocol):
    """An engine that gives a prediction as many rows as its gold."""

    allowance: Allowance


class _Between:
    """Stands between a judge and an engine; what it does not change is the engine's own."""

    def __init__(self, engine: LimitedEngine) -> None:
        self._engine = engine
        self.allowance = engine.allowance

    @property
    def version(self) -> str:
        """Name and version of the engine."""
        return self._engine.version

    @property
    def terminated(self) -> int:
        """How many server processes had to be terminated; 0 for an engine without a server."""
        return int(getattr(self._engine, "terminated", 0))

    def describe(self) -> str:
        """Say what a prompt may know of the database."""
        return self._engine.describe()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


class CachingEngine(_Between):
    """Answers golds from a cache where it can; everything else is the engine's own."""

    def __init__(self, engine: LimitedEngine, open_cache: Callable[[], GoldCache | None]) -> None:
        super().__init__(engine)
        self._open_cache = open_cache
        self.run_prediction = engine.run_prediction

    def run_gold(self, query: str) -> Answer:
        """Return the kept result of a gold, or run it and keep its result if it was slow."""
        cache = self._open_cache()
        if cache is None:
            return self._engine.run_gold(query)
        kept = cache.find(query)
        if kept is not None:
            return self.allowance.hear_gold(kept)
        result = self._engine.run_gold(query)
        if isinstance(result, ResultSet):
            cache.keep(query, result)
        return result


class RepeatingEngine(_Between):
    """Runs every query several times and notes results that differ.

    An engine that has ``run_again(query, is_gold)`` may answer in another physical order there.
    """

    def __init__(self, engine: LimitedEngine, times: int) -> None:
        super().__init__(engine)
        self._times = times

    def run_gold(self, query: str) -> Answer:
        """Run a gold several times."""
        return self._repeat(query, self._engine.run_gold, is_gold=True)

    def run_prediction(self, query: str) -> Answer:
        """Run a prediction several times."""
        return self._repeat(query, self._engine.run_prediction, is_gold=False)

    def _repeat(self, query: str, run: Callable[[str], Answer], *, is_gold: bool) -> Answer:
        first = run(query)
        if isinstance(first, QueryFailure):
            return first
        again = getattr(self._engine, "run_again", None)
        for _ in range(self._times - 1):
            other = again(query, is_gold) if again is not None else run(query)
            if note := _difference(first, other):
                return replace(first, warnings=(*first.warnings, note))
        return first


def _difference(first: ResultSet, other: Answer) -> str:
    if isinstance(other, QueryFailure):
        return f"nondeterministic: a second run ends as {other.status.value}"
    if len(first.rows) != len(other.rows):
        return f"nondeterministic: {len(first.rows):,} rows, and {len(other.rows):,} in a second run"
    if first.rows != other.rows and Counter(map(repr, first.rows)) != Counter(map(repr, other.rows)):
        return "nondeterministic: other rows in a second run"
    return ""
