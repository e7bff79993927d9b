"""The seven component lists of a query, as the official reader fills them. Its omissions are part of the metric.

An item is a string, or a tuple of items: official code nests lists, and matching treats the two differently.
Source: ``JSQLReader`` of hirupert/sede at 2bf2612.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_sqlbench.scoring.pcm.nodes import (
    NULL,
    AllColumns,
    Case,
    Column,
    Constant,
    Expression,
    Function,
    Name,
    Operation,
    OrderKey,
    Query,
    Select,
    Source,
    Table,
    Window,
)
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

Item = str | tuple["Item", ...]
Components = Mapping[str, Sequence[Item]]

NAMES = ("select", "top", "from", "group", "having", "where", "order")
"""The components, in the order in which their scores are summed."""
READING_ORDER = ("select", "top", "from", "where", "order", "group", "having")
"""The order in which a sub-query's items enter the list of the clause that it stands in."""
_ANONYMOUS = "terminal"


def read_components(query: Query, *, values: bool = True, on_clause: bool = True) -> Components:
    """Return the component lists of a query; those of several bodies (a UNION, a WITH) are joined.

    Args:
        query: The parsed query.
        values: False writes every value, and every column on a right side or in an IN list, as ``terminal``.
        on_clause: False leaves ON conditions out.

    Raises:
        Unreadable: A LIMIT that is no number stands where the reader looks.
    """
    reader = _Reader(values, on_clause)
    bodies = [reader.body(select) for select in query.bodies]
    if len(bodies) == 1:
        return bodies[0]
    return {name: [item for body in bodies for item in body[name]] for name in NAMES}


@dataclass(frozen=True, slots=True)
class _Reader:
    """The reader's rules under one setting.

    An expression is read in two ways. In full (`_full`): in a select list, GROUP BY, ORDER BY, WHEN and THEN, or as a
    parameter of a function. As an operand (`_operand`): beside an operator, or in an IN list.
    """

    keeps_values: bool
    reads_on: bool

    def body(self, select: Select) -> dict[str, list[Item]]:
        """The lists of one SELECT."""
        return {
            "select": combined(item for expression in select.items for item in self._full(expression)),
            "top": self._top(select),
            "from": self._from(select),
            "where": self._condition(select.where),
            "order": self._order(select.order),
            "group": combined(item for expression in select.group for item in self._group_key(expression)),
            "having": self._condition(select.having),
        }

    def _flattened(self, query: Query) -> list[Item]:
        """Everything in a sub-query, clause after clause."""
        found: list[Item] = []
        for select in query.bodies:
            body = self.body(select)
            for name in READING_ORDER:
                found.extend(body[name])
        return found

    # clauses

    def _top(self, select: Select) -> list[Item]:
        found: list[Item] = []
        top = select.top
        if isinstance(top, Constant) and top.text:
            found.append(top.text)
        elif isinstance(top, (Name, Function, Window)):
            found.append(top.name)
        if select.limit is not None:
            if not select.limit:
                raise Unreadable("a LIMIT without a number")
            found.append(select.limit)
        return found

    def _from(self, select: Select) -> list[Item]:
        found: list[Item] = []
        if isinstance(select.source, Table):
            found.append(select.source.full_name)
        else:
            found.extend(self._sub_query(select.source))
        for join in select.joins:
            items: list[Item] = []
            if isinstance(join.source, Table):
                items.append(join.source.name)
            else:
                items.extend(self._sub_query(join.source))
            if self.reads_on:
                items.extend(self._condition(join.condition))
                if isinstance(join.condition, Query):
                    items.extend(self._flattened(join.condition))
            found.extend(combined(items))
        return combined(found)

    def _sub_query(self, source: Source) -> list[Item]:
        return self._flattened(source) if isinstance(source, Query) else []

    def _condition(self, condition: Expression | None) -> list[Item]:
        """WHERE, HAVING or ON: operations only, and NOT before the whole condition is lost."""
        return self._operation(condition) if isinstance(condition, Operation) else []

    def _group_key(self, expression: Expression) -> list[Item]:
        found = self._full(expression)
        if isinstance(expression, Constant) and expression.text:
            found.insert(0, expression.text if self.keeps_values else (_ANONYMOUS,))
        return found

    def _order(self, keys: Iterable[OrderKey]) -> list[Item]:
        found: list[Item] = []
        for key in keys:
            if key.expression is NULL:
                continue
            items = self._full(key.expression)
            items.append("asc" if key.is_ascending else "desc")
            found.extend(items)
            if len(items) > 1:
                found.append(tuple(items))
        return combined(found)

    # expressions in full

    def _full(self, expression: Expression | AllColumns) -> list[Item]:
        if isinstance(expression, Column):
            return [expression.name]
        if isinstance(expression, Operation):
            return self._operation(expression)
        if isinstance(expression, Function):
            return self._function(expression)
        if isinstance(expression, AllColumns):
            return ["*"]
        if isinstance(expression, Query):
            return self._flattened(expression)
        if isinstance(expression, Window):
            found = _named(expression.name, expression.has_star)
            return found if expression.order is None else [*found, "OVER", *self._order(expression.order)]
        if isinstance(expression, Case):
            return self._case(expression)
        if isinstance(expression, Name):
            return [expression.name]
        return []

    def _function(self, function: Function) -> list[Item]:
        parameters = [item for parameter in function.parameters for item in self._full(parameter)]
        if not parameters:
            return _named(function.name, function.has_star)
        argument = parameters[0] if len(parameters) == 1 else tuple(parameters)
        return [*parameters, function.name, (function.name, argument)]

    def _case(self, case: Case) -> list[Item]:
        found: list[Item] = []
        for when, then in case.branches:
            found.append("case")
            found.extend(self._full(when))
            found.extend(self._full(then))
        return found

    # operands

    def _operation(self, operation: Operation) -> list[Item]:
        """The items of an operation without its own NOT.

        Walks down the left sides and comes back up, as a long AND would be too deep for recursion.
        """
        chain = [operation]
        left = operation.left
        while isinstance(left, Operation):
            chain.append(left)
            left = left.left
        found = [] if left is None else self._operand(left, is_left=True)
        while chain:
            step = chain.pop()
            left_items = tuple(found)
            right_items = [] if step.right is None else self._operand(step.right)
            found.extend(right_items)
            if step.members is not None:
                found.append("IN")
                for member in step.members:
                    found.extend(self._operand(member))
            if step.operator:
                found.append(step.operator)
                if left_items and right_items:
                    found.append((left_items, tuple(right_items), step.operator))
            if step.is_negated and chain:
                found.append("not")
        return found

    def _operand(self, expression: Expression, is_left: bool = False) -> list[Item]:
        if isinstance(expression, Column):
            return [expression.name if self.keeps_values or is_left else _ANONYMOUS]
        if isinstance(expression, Constant):
            return [] if not expression.value else [expression.value if self.keeps_values else _ANONYMOUS]
        if isinstance(expression, Operation):
            found = self._operation(expression)
            return [*found, "not"] if expression.is_negated else found
        if isinstance(expression, (Function, Window)):
            return ["*", expression.name] if expression.has_star else [expression.name]
        if isinstance(expression, Name):
            return [expression.name]
        if isinstance(expression, Query):
            return self._flattened(expression)
        return []


def _named(name: str, has_star: bool) -> list[Item]:
    return [name, "*", (name, "*")] if has_star else [name]


def combined(items: Iterable[Item]) -> list[Item]:
    """The items and, if they are several, one more item that nests them all."""
    found = list(items)
    if len(found) > 1:
        found.append(tuple(found))
    return found
