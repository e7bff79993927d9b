"""Questions about a query's text that need its tree. The only user of sqlglot beside `trees`; guarded, never raises.

Compiled builds of sqlglot crash on deep nesting and pure ones overflow the stack, so length and nesting are checked
first, and a text that is too big or does not parse is answered with None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.scoring.words import has_top_level_order, may_cut_rows

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["OrderPlan", "has_top_level_order", "is_too_big", "may_cut_rows", "parse", "plan_order", "translate"]

LONGEST = 100_000
"""Characters of a query that is still parsed."""
DEEPEST = 40
"""Nesting of brackets and CASE that is still parsed; the deepest of 2,114 real queries has 8."""
MOST_NODES = 5_000
BEYOND = 1_000
"""Rows fetched beyond a LIMIT to see which ones tie with the last."""

_NESTING = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/|[()\[\]{}]|\b(?:case|end)\b", re.IGNORECASE | re.DOTALL)


def is_too_big(sql: str) -> bool:
    """Say whether a text is too long or too deeply nested to be given to a parser."""
    if len(sql) > LONGEST:
        return True
    depth = 0
    for token in _NESTING.finditer(sql):
        mark = token[0].lower()
        if mark in ("(", "[", "{", "case"):
            depth += 1
            if depth > DEEPEST:
                return True
        elif mark in (")", "]", "}", "end"):
            depth -= 1
    return False


def parse(sql: str, dialect: str = "sqlite") -> exp.Expr | None:
    """Return the tree of one statement; None where the text is too big, empty, several statements or no grammar's."""
    if is_too_big(sql) or not sql.strip():
        return None
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=dialect, max_nodes=MOST_NODES) if tree is not None]
    except (SqlglotError, RecursionError, ValueError, AssertionError, TypeError, AttributeError, IndexError, KeyError):
        # the parser's own slips on odd texts surface as plain errors; for us each of them means: it does not parse
        return None
    return trees[0] if len(trees) == 1 else None


def translate(sql: str, source: str, target: str) -> str | None:
    """Write a query of one dialect in another; None where it does not parse or cannot be written.

    What the target dialect cannot say is written as it stands, and then fails when it runs.
    """
    tree = parse(sql, source)
    if tree is None:
        return None
    from sqlglot.errors import ErrorLevel, SqlglotError

    if source == "sqlite" != target:
        tree = _with_date_differences(tree)
    try:
        return str(tree.sql(dialect=target, unsupported_level=ErrorLevel.IGNORE))
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError):
        return None


def _with_date_differences(tree: exp.Expr) -> exp.Expr:
    """Write ``julianday(a) - julianday(b)``, which SQLite alone has, as the days between two dates."""
    from sqlglot import exp

    def days(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Sub):
            return node
        sides = [side for side in (node.this, node.expression) if _is_julian_day(side)]
        if len(sides) != 2:
            return node
        first, second = (exp.cast(side.expressions[0], "date") for side in sides)
        return exp.DateDiff(this=first, expression=second, unit=exp.var("DAY"))

    def _is_julian_day(node: exp.Expr) -> bool:
        return isinstance(node, exp.Anonymous) and node.name.lower() == "julianday" and len(node.expressions) == 1

    return tree.transform(days)


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """How to learn the sort keys of a query's rows."""

    positions: tuple[int | None, ...]
    """For each ORDER BY key its place (from 0) in the select list; None if the variant adds it as a column."""
    keyed_sql: str
    """The query with added key columns and without its LIMIT; empty if it needs none or cannot be written."""
    needs_query: bool
    """Whether the result alone does not tell the ties: a key is not selected, or rows were cut away."""
    offset: int = 0

    @property
    def added(self) -> int:
        """How many columns the variant has beyond the query's own."""
        return sum(position is None for position in self.positions)

    def places(self, width: int) -> list[int]:
        """Return the column of each key in a row of the variant, of which the first `width` are the query's own."""
        places: list[int] = []
        for position in self.positions:
            places.append(width + sum(place >= width for place in places) if position is None else position)
        return places


def plan_order(sql: str, dialect: str = "sqlite") -> OrderPlan | None:
    """Work out where the sort keys of a query are, and the variant that shows keys and rows which it hides.

    Returns None where the text does not parse or the keys cannot be shown, as under DISTINCT.
    """
    tree = parse(sql, dialect)
    if tree is None:
        return None
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    while isinstance(tree, (exp.Subquery, exp.Paren)):
        if tree.args.get("order") or tree.args.get("limit"):
            return None
        tree = tree.this
    if not isinstance(tree, exp.Query):
        return None
    keys = _sort_keys(tree)
    if keys is None:
        return None
    try:
        return _plan(tree, keys, dialect)
    except (SqlglotError, RecursionError):
        return None


def _sort_keys(tree: Any) -> list[Any] | None:
    order = tree.args.get("order")
    if order is None:
        return []
    return [ordered.this for ordered in order.expressions]


def _plan(tree: Any, keys: list[Any], dialect: str) -> OrderPlan | None:
    from sqlglot import exp

    items = list(tree.selects)
    has_star = any(item.is_star for item in items)
    positions: list[int | None] = []
    added: list[Any] = []
    for key in keys:
        position = None if has_star and not _is_ordinal(key) else _find(key, items)
        if position is None:
            if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
                return None
            added.append(_shown(key, items))
        positions.append(position)
    cut, offset = _cut(tree)
    if not added and cut is None:
        return OrderPlan(tuple(positions), "", needs_query=False)
    variant = tree.copy()
    if added:
        variant.set("expressions", [*variant.expressions, *added])
    if cut is not None and cut >= 0:
        for part in ("limit", "offset", "fetch"):
            variant.set(part, None)
        variant = variant.limit(cut + offset + BEYOND)
    return OrderPlan(tuple(positions), variant.sql(dialect=dialect), needs_query=True, offset=offset)


def _is_ordinal(key: Any) -> bool:
    from sqlglot import exp

    return isinstance(key, exp.Literal) and key.is_int


def _find(key: Any, items: list[Any]) -> int | None:
    """Return the place in the select list that a sort key means: by number, by alias, or as the same expression."""
    from sqlglot import exp

    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.this) - 1
        return place if 0 <= place < len(items) else None
    if isinstance(key, exp.Column) and not key.table:
        for place, item in enumerate(items):
            if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                return place
    for place, item in enumerate(items):
        if item.unalias() == key:
            return place
    if isinstance(key, exp.Column):
        named = [place for place, item in enumerate(items) if _is_same_column(item.unalias(), key)]
        if len(named) == 1:
            return named[0]
    return None


def _is_same_column(item: Any, key: Any) -> bool:
    from sqlglot import exp

    if not isinstance(item, exp.Column) or item.name.lower() != key.name.lower():
        return False
    return not item.table or not key.table or item.table.lower() == key.table.lower()


def _shown(key: Any, items: list[Any]) -> Any:
    """Return a sort key as a column to select: aliases spelled out, and case folded where the order ignores it."""
    from sqlglot import exp

    aliases = {item.alias.lower(): item.this for item in items if isinstance(item, exp.Alias)}

    def spell_out(node: Any) -> Any:
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases:
            return exp.paren(aliases[node.name.lower()].copy())
        return node

    shown = key.copy().transform(spell_out)
    if isinstance(shown, exp.Collate) and "nocase" in shown.expression.sql().lower():
        return exp.Lower(this=shown.this)
    return shown


def _cut(tree: Any) -> tuple[int | None, int]:
    """Return LIMIT and OFFSET as whole numbers; the first is None without a LIMIT and -1 if it is no plain number."""
    from sqlglot import exp

    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    if limit is None and offset is None:
        return None, 0
    count = limit.args.get("count") if isinstance(limit, exp.Fetch) else getattr(limit, "expression", None)
    skipped = offset.expression if offset is not None else None
    if skipped is None and isinstance(limit, exp.Limit) and limit.args.get("offset") is not None:
        skipped = limit.args["offset"]
    numbers = [None if part is None else _whole(part) for part in (count, skipped)]
    if numbers[0] is None or numbers[0] < 0 or numbers[1] == -1:
        return -1, 0
    return numbers[0], numbers[1] or 0


def _whole(node: Any) -> int:
    from sqlglot import exp

    return int(node.this) if isinstance(node, exp.Literal) and node.is_int else -1
