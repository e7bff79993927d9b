"""Whether two logical forms are the same, by each published rule, and in which part they differ first."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, NamedTuple, get_args

from pytest_sqlbench.logical_form import AGGREGATES, OPERATORS, Condition, LogicalForm, WebTable
from pytest_sqlbench.verdict import Reason

Equality = Literal["head", "ordered", "2018"]
"""``head``: the last published commit. ``ordered``: its option of that name. ``2018``: the figure in its README."""

EQUALITIES: tuple[str, ...] = get_args(Equality)


def equal_forms(gold: LogicalForm, predicted: LogicalForm, equality: Equality = "head") -> bool:
    """Decide whether two forms are equal.

    ``head`` compares conditions as a set of (column, operator, text of the value in lower case): repeated conditions
    collapse and 3 equals "3", but "3.0" does not. ``ordered`` compares the same triples as a list. ``2018`` compares
    lists in which only text is lower-cased, so that 3 is not "3".
    """
    if gold.sel != predicted.sel or gold.agg != predicted.agg:
        return False
    if equality == "head":
        return set(map(_triple, gold.conds)) == set(map(_triple, predicted.conds))
    if equality == "ordered":
        return list(map(_triple, gold.conds)) == list(map(_triple, predicted.conds))
    return list(map(_typed_triple, gold.conds)) == list(map(_typed_triple, predicted.conds))


def _triple(condition: Condition) -> tuple[Hashable, Hashable, str]:
    return condition.column, condition.operator, str(condition.value).lower()


def _typed_triple(condition: Condition) -> tuple[Hashable, Hashable, object]:
    value = condition.value
    return condition.column, condition.operator, value.lower() if isinstance(value, str) else value


class Difference(NamedTuple):
    """One part in which a predicted form is not the gold form."""

    reason: Reason
    detail: str


def differences(gold: LogicalForm, predicted: LogicalForm, table: WebTable) -> list[Difference]:
    """List the parts that differ: aggregate, column, then conditions. Empty where `equal_forms` says ``head``.

    A gold and a predicted condition are paired by column first (operator or value is wrong), then by operator and
    value (the column is wrong), then in order; what stays over is missing or too many.
    """
    found = []
    if gold.agg != predicted.agg:
        said = f"{_aggregate(predicted.agg)} is not {_aggregate(gold.agg)}"
        found.append(Difference(Reason.WRONG_AGGREGATE, f"aggregate {said}"))
    if gold.sel != predicted.sel:
        said = f"{_column(table, predicted.sel)} is not {_column(table, gold.sel)}"
        found.append(Difference(Reason.WRONG_COLUMN, f"selected column {said}"))
    return found + _condition_differences(gold, predicted, table)


def _condition_differences(gold: LogicalForm, predicted: LogicalForm, table: WebTable) -> list[Difference]:
    wanted = {_triple(cond): cond for cond in gold.conds}
    given = {_triple(cond): cond for cond in predicted.conds}
    lacking = [cond for key, cond in wanted.items() if key not in given]
    surplus = [cond for key, cond in given.items() if key not in wanted]
    found = []
    for is_pair in (_same_column, _same_test, _any_pair):
        for cond in list(lacking):
            partner = next((other for other in surplus if is_pair(cond, other)), None)
            if partner is not None:
                lacking.remove(cond)
                surplus.remove(partner)
                found.append(_pair_difference(cond, partner, table))
    found += [Difference(Reason.WRONG_CONDITION, f"condition {_said(cond, table)} is missing") for cond in lacking]
    found += [Difference(Reason.WRONG_CONDITION, f"condition {_said(cond, table)} is too many") for cond in surplus]
    return found


def _same_column(one: Condition, other: Condition) -> bool:
    return one.column == other.column


def _same_test(one: Condition, other: Condition) -> bool:
    return _triple(one)[1:] == _triple(other)[1:]


def _any_pair(one: Condition, other: Condition) -> bool:
    return True


def _pair_difference(gold: Condition, predicted: Condition, table: WebTable) -> Difference:
    if gold.column != predicted.column:
        said = f"{_said(predicted, table)}: column is not {_column(table, gold.column)}"
        return Difference(Reason.WRONG_CONDITION_COLUMN, f"condition {said}")
    if gold.operator != predicted.operator:
        said = f"{_said(predicted, table)}: operator is not {_operator(gold.operator)}"
        return Difference(Reason.WRONG_OPERATOR, f"condition {said}")
    return Difference(Reason.WRONG_VALUE, f"condition {_said(predicted, table)}: value is not {gold.value!r}")


def _said(condition: Condition, table: WebTable) -> str:
    value = repr(condition.value)
    shown = value if len(value) <= 80 else value[:80] + "…"
    return f"{_column(table, condition.column)} {_operator(condition.operator)} {shown}"


def _column(table: WebTable, column: object) -> str:
    if type(column) is int and 0 <= column < len(table.headers):
        return repr(table.headers[column])
    return f"column {column!r}"


def _aggregate(agg: object) -> str:
    if type(agg) is int and 0 <= agg < len(AGGREGATES):
        return AGGREGATES[agg] or "none"
    return repr(agg)


def _operator(operator: object) -> str:
    if type(operator) is int and 0 <= operator < len(OPERATORS):
        return OPERATORS[operator]
    return repr(operator)
