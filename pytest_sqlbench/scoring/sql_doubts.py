"""What a gold's tree shows: aggregates that count everything, comparisons with NULL, and what is sorted by what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_sqlbench.scoring.sqltext import parse


@dataclass(frozen=True, slots=True)
class SortedColumn:
    """A column by which a query sorts, or of which it takes the least or greatest."""

    tables: tuple[str, ...]
    """Tables that may have it, lower-cased."""
    column: str
    """Lower-cased."""


def find_doubts(sql: str, dialect: str) -> list[tuple[str, str]]:
    """Return rule and detail of what is doubtful in a query; a text that does not parse is one finding."""
    if dialect == "sparql":
        return []
    tree = parse(sql, dialect)
    if tree is None:
        return [("unparsed", "")]
    try:
        return list(_doubts(tree, dialect))
    except RecursionError:
        return [("unparsed", "")]


def _doubts(tree: Any, dialect: str) -> Iterator[tuple[str, str]]:
    from sqlglot import exp

    for node in tree.find_all(exp.Count, exp.EQ, exp.NEQ):
        if isinstance(node, exp.Count):
            if _is_never_null(node.this):
                yield "constant_aggregate", node.sql(dialect=dialect)[:100]
        elif any(isinstance(side, exp.Null) for side in (node.left, node.right)):
            parent = node.parent
            is_assignment = isinstance(parent, (exp.Set, exp.SetItem))
            if not is_assignment:
                yield "compares_with_null", node.sql(dialect=dialect)[:100]


def _is_never_null(counted: Any) -> bool:
    """Say whether an expression under COUNT is a condition or a CASE of which every branch has a value."""
    from sqlglot import exp

    while isinstance(counted, exp.Paren):
        counted = counted.this
    if isinstance(counted, exp.If) and not isinstance(counted.parent, exp.Case):
        branches = [counted.args.get("true"), counted.args.get("false")]
        return all(_is_value(branch) for branch in branches)
    if not isinstance(counted, exp.Case):
        return isinstance(counted, (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.In, exp.Between))
    branches = [branch.args.get("true") for branch in counted.args.get("ifs", ())]
    otherwise = counted.args.get("default")
    # the other branch decides: where it has a value, the rows that were to be left out count too
    return _is_value(otherwise) and all(branch is not None and not isinstance(branch, exp.Null) for branch in branches)


def _is_value(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, (exp.Literal, exp.Boolean))


def find_sorted_columns(sql: str, dialect: str) -> list[SortedColumn]:
    """Return the columns by which a query, or any part of it, sorts or takes the least or greatest."""
    if not any(word in sql.lower() for word in ("order", "max", "min")):
        return []
    tree = parse(sql, dialect)
    if tree is None:
        return []
    try:
        return list(dict.fromkeys(_sorted_columns(tree)))
    except RecursionError:
        return []


def _sorted_columns(tree: Any) -> Iterator[SortedColumn]:
    from sqlglot import exp

    for node in tree.find_all(exp.Ordered, exp.Max, exp.Min):
        column = node.this
        select = node.find_ancestor(exp.Select)
        if select is None or not isinstance(column, exp.Column):
            continue
        if not column.table:
            aliased = next((item for item in select.selects if item.alias.lower() == column.name.lower()), None)
            if aliased is not None and isinstance(aliased, exp.Alias):
                if not isinstance(aliased.this, exp.Column):
                    continue
                column = aliased.this
        tables = {table.alias_or_name.lower(): table.name.lower() for table in select.find_all(exp.Table)}
        named = tables.get(column.table.lower()) if column.table else None
        yield SortedColumn((named,) if named else tuple(sorted(set(tables.values()))), column.name.lower())
