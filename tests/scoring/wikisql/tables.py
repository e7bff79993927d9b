"""A table and a shorthand that the tests of this folder share."""

from __future__ import annotations

from pytest_sqlbench.logical_form import Condition, LogicalForm, WebTable

PLAYERS = WebTable(
    "1-77-2",
    ("Player", "No.", "School/Club Team", "Years in Toronto", "Points", "Points won", "Date"),
    ("text", "real", "text", "text", "real", "real", "text"),
)


def form(sel: int, agg: int = 0, *conds: tuple[int, int, object]) -> LogicalForm:
    """Write a form briefly."""
    return LogicalForm(sel, agg, tuple(Condition(*cond) for cond in conds))
