"""Spider's four classes of hardness, from the parsed query that its question lists carry.

Source: Yu et al. 2018, "Spider: A Large-Scale Human-Labeled Dataset", and the counting rules of its evaluator, whose
slips are kept: a negated condition counts as an aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_LIKE = 9
"""The number that parsed queries give to the operator LIKE."""


def find_hardness(sql: dict[str, Any]) -> str:
    """Return ``easy``, ``medium``, ``hard`` or ``extra``.

    Args:
        sql: A query as Spider's parser writes it: clauses of nested lists.

    Raises:
        KeyError, TypeError, IndexError: It is none.
    """
    clauses, nested, others = _count_clauses(sql), _count_nested(sql), _count_others(sql)
    if clauses <= 1 and others == 0 and nested == 0:
        return "easy"
    if nested == 0 and ((others <= 2 and clauses <= 1) or (clauses <= 2 and others < 2)):
        return "medium"
    if nested == 0 and ((others > 2 and clauses <= 2) or (2 < clauses <= 3 and others <= 2)):
        return "hard"
    if nested <= 1 and clauses <= 1 and others == 0:
        return "hard"
    return "extra"


def _conditions(sql: dict[str, Any]) -> list[Any]:
    """Return conditions and the words between them, of all three clauses that have some."""
    return [*sql["from"]["conds"], *sql["where"], *sql["having"]]


def _count_clauses(sql: dict[str, Any]) -> int:
    n = sum(bool(sql[clause]) for clause in ("where", "groupBy", "orderBy")) + (sql["limit"] is not None)
    n += max(0, len(sql["from"]["table_units"]) - 1)
    conditions = [*sql["from"]["conds"][::2], *sql["where"][::2], *sql["having"][::2]]
    n += sum(word == "or" for word in _conditions(sql) if isinstance(word, str))
    return int(n) + sum(bool(condition[1] == _LIKE) for condition in conditions)


def _count_nested(sql: dict[str, Any]) -> int:
    conditions = [condition for condition in _conditions(sql) if not isinstance(condition, str)]
    n = sum(isinstance(condition[place], dict) for condition in conditions for place in (3, 4))
    return n + sum(sql[operator] is not None for operator in ("intersect", "except", "union"))


def _count_others(sql: dict[str, Any]) -> int:
    selected = sql["select"][1]
    ordered = sql["orderBy"][1] if sql["orderBy"] else []
    units = [unit[place] for unit in ordered for place in (1, 2) if unit[place]]
    aggregates = sum(map(_count_true, (selected, sql["where"][::2], sql["groupBy"], units, sql["having"])))
    return sum((aggregates > 1, len(selected) > 1, len(sql["where"]) > 1, len(sql["groupBy"]) > 1))


def _count_true(units: Iterable[Sequence[Any]]) -> int:
    return sum(bool(unit[0]) for unit in units)
