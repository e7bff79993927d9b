"""Small suites for the tests of predictors."""

from __future__ import annotations

from pathlib import Path

from pytest_sqlbench.case import Case, Suite


def make_suite(*ids: str, name: str = "shop", positions: tuple[int, ...] = (), database: str = "") -> Suite:
    """Return a suite whose golds are ``SELECT '<id>'``."""
    places = positions or (None,) * len(ids)
    cases = tuple(
        Case(
            suite=name,
            id=case_id,
            question=f"What is {case_id}?",
            gold=(f"SELECT '{case_id}'",),
            database=database,
            facts={} if place is None else {"position": place},
        )
        for case_id, place in zip(ids, places, strict=True)
    )
    return Suite(name=name, path=Path(f"{name}.yaml"), cases=cases)
