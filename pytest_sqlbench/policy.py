"""When two result sets count as the same answer: the comparison policy and its presets. A record, no judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from pytest_sqlbench.errors import UsageError

Rows = Literal["auto", "multiset", "set", "ordered"]
Columns = Literal["auto", "exact", "permute", "superset", "names"]
Values = Literal["normalised", "typed"]
Vacuous = Literal["pass", "fail"]
Rule = Literal["relational", "bird", "spider", "spider2", "defog", "wikisql"]

POLICY_VERSION = 1
"""Raised with every change that can move a verdict; it is part of a run's fingerprint."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How rows, columns and values are compared. Recorded in every report."""

    name: str = "default"
    rows: Rows = "auto"
    """``auto``: ordered exactly where the gold has a top-level ORDER BY, rows tied under its keys in any order."""
    columns: Columns = "auto"
    """``auto``: by position, else in another order only where values or labels leave no choice."""
    values: Values = "normalised"
    """``normalised``: 1 equals 1.0 and Decimal(1), true equals 1, midnight equals its date. Never text for number."""
    rel_tol: float = 1e-6
    """Relative tolerance, for values with a fractional part only."""
    abs_tol: float = 1e-9
    """Absolute tolerance, for values with a fractional part only."""
    vacuous: Vacuous = "pass"
    """Whether an empty result against an empty gold counts as right (it is flagged either way)."""
    required: tuple[str, ...] = ()
    """Gold columns that matter, by label or 1-based position; empty: all of them."""
    keeps_distinct: bool = True
    """False: DISTINCT is removed from both queries before they run (a rule of Spider's test suite)."""
    rule: Rule = "relational"
    """Which comparison reads the fields above; the others reproduce a published evaluator."""


PRESETS: Mapping[str, Policy] = {
    "default": Policy(),
    "strict": Policy(name="strict", rows="auto", columns="exact", values="typed", rel_tol=0.0, abs_tol=0.0),
    "paper": Policy(name="paper", rows="multiset", columns="permute"),
    "dbt": Policy(name="dbt", rows="multiset", columns="superset"),
    "seed": Policy(name="seed", rows="set", columns="exact", rel_tol=0.0, abs_tol=0.0),
    "bird": Policy(name="bird", rows="set", columns="exact", rel_tol=0.0, abs_tol=0.0, rule="bird"),
    "spider": Policy(name="spider", columns="permute", rel_tol=0.0, abs_tol=0.0, keeps_distinct=False, rule="spider"),
    "spider:keep_distinct": Policy(
        name="spider:keep_distinct", columns="permute", rel_tol=0.0, abs_tol=0.0, rule="spider"
    ),
    "spider2": Policy(name="spider2", rows="multiset", columns="superset", rel_tol=0.0, abs_tol=1e-2, rule="spider2"),
    "defog": Policy(name="defog", rows="set", columns="superset", rel_tol=1e-5, abs_tol=1e-8, rule="defog"),
    "wikisql": Policy(name="wikisql", rows="ordered", columns="exact", rel_tol=0.0, abs_tol=0.0, rule="wikisql"),
}


def find_preset(name: str) -> Policy:
    """Look a preset up by name; raise `UsageError` that lists the known ones."""
    try:
        return PRESETS[name]
    except KeyError:
        raise UsageError(f"unknown policy {name!r}. Known: {', '.join(sorted(PRESETS))}.") from None


def parse_presets(names: str) -> tuple[Policy, ...]:
    """Read names of presets separated by commas; raise `UsageError` for one that is unknown or stands twice."""
    listed = [name.strip() for name in names.split(",") if name.strip()]
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"policy {twice!r} stands twice in {names!r}")
    return tuple(map(find_preset, listed))


def parse_policy(value: object) -> Policy:
    """Read a policy as manifests and options write it: a preset's name, or a mapping with an optional ``preset``.

    Raises:
        UsageError: An unknown name, key or value; the message lists what is allowed.
    """
    if isinstance(value, str):
        return find_preset(value)
    if not isinstance(value, Mapping):
        raise UsageError(f"policy must be a preset's name or a mapping, not {value!r}")
    given = dict(value)
    base = find_preset(str(given.pop("preset", "default")))
    changes: dict[str, Any] = {str(key): _checked(str(key), given[key]) for key in given}
    if not changes:
        return base
    return replace(base, **{"name": f"{base.name}*", **changes})


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "rows": get_args(Rows),
    "columns": get_args(Columns),
    "values": get_args(Values),
    "vacuous": get_args(Vacuous),
    "rule": get_args(Rule),
}


def _checked(key: str, value: object) -> object:
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise UsageError(f"policy {key} is {value!r}. Allowed: {', '.join(_CHOICES[key])}.")
        return value
    if key in ("rel_tol", "abs_tol"):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
            raise UsageError(f"policy {key} is {value!r}. Allowed: a number from 0 to below 1.")
        return float(value)
    if key == "required":
        items = value if isinstance(value, list) else [value]
        return tuple(str(item) for item in items)
    if key == "keeps_distinct":
        if not isinstance(value, bool):
            raise UsageError(f"policy keeps_distinct is {value!r}. Allowed: true, false.")
        return value
    known = sorted(["preset", *(field.name for field in fields(Policy))])
    raise UsageError(f"unknown policy key {key!r}. Known: {', '.join(known)}.")
