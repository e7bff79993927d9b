"""Golds of one dialect on the engine of another: rewritten on request, and believed only after a check.

``--sqlbench-transpile-gold`` rewrites the golds of a suite for each engine it names. A rewritten gold counts if it
gives the rows that the original gives on its own engine; otherwise the case has a gold error, and no model is blamed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.evaluation.desk import Gold
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import Engine, QueryFailure, Status
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.sqltext import translate

ORIGIN = "transpiled_from"
"""The key of a case's facts that tells what was rewritten."""
_ENGINES = {"sqlite": "sqlite", "duckdb": "duckdb", "postgres": "postgres", "mysql": "mysql"}
"""Dialect to the engine that speaks it; the two have one name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rewritten gold comes from."""

    engine: str
    database: str
    gold: tuple[str, ...]


def transpile_suite(suite: Suite) -> Suite:
    """Return the suite with golds in the dialect of each case's engine.

    A gold that cannot be rewritten stays as it is, and then fails or not when it runs. Apply it before the databases
    are moved to servers: the check needs the original's.
    """
    return replace(suite, cases=tuple(map(_transpile_case, suite.cases)))


def _transpile_case(case: Case) -> Case:
    if case.engine == case.dialect or case.dialect not in _ENGINES or case.engine not in _ENGINES.values():
        return case
    gold = tuple(translate(query, case.dialect, case.engine) or query for query in case.gold)
    origin = Origin(_ENGINES[case.dialect], case.database, case.gold)
    return replace(case, gold=gold, dialect=case.engine, facts={**case.facts, ORIGIN: origin})


def check_transpiled(
    case: Case, golds: list[Gold], policy: Policy, open_engine: Callable[[str, str], Engine]
) -> QueryFailure | None:
    """Return why a rewritten gold may not be believed; None if it may, or was not rewritten.

    Args:
        case: Whose golds ran.
        golds: With their rows, in the order of ``case.gold``.
        policy: Under which the original and the rewritten gold have to agree.
        open_engine: Takes engine and database name.
    """
    origin = case.facts.get(ORIGIN)
    if not isinstance(origin, Origin):
        return None
    engine = open_engine(origin.engine, origin.database)
    for query, gold in zip(origin.gold, golds, strict=True):
        original = engine.run_gold(query)
        if isinstance(original, QueryFailure):
            return QueryFailure(original.status, f"the original gold fails on {origin.engine}: {original.message}")
        match = compare(original, gold.result, policy, order=gold.order)
        if not match.is_match:
            text = f"the transpiled gold gives other rows than the original on {origin.engine}: {match.detail}"
            return QueryFailure(Status.ERROR, text[:500])
    return None
