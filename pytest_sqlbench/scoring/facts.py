"""What a query does, clause by clause, as comparable facts: tables, joins, filters, aggregates and the rest.

One of the few users of sqlglot. Texts that are too big or do not parse have no facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.scoring.sqltext import parse

if TYPE_CHECKING:
    from sqlglot import exp


KEPT = 512
"""Queries whose facts are kept."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition of a WHERE or HAVING, or one of an ON that does not compare two columns."""

    subject: str
    operator: str
    value: str
    is_between_columns: bool = False


@dataclass(slots=True)
class Facts:
    """Everything that two queries are told apart by. Names are lower case, aliases are resolved to tables."""

    tables: Counter[str] = field(default_factory=Counter)
    joins: Counter[str] = field(default_factory=Counter)
    """Kinds: inner, left, right, full, cross."""
    keys: Counter[str] = field(default_factory=Counter)
    """Comparisons of two columns in ON or USING, and equalities in WHERE where a join has no condition of its own."""
    filters: Counter[Filter] = field(default_factory=Counter)
    having: Counter[Filter] = field(default_factory=Counter)
    selected: Counter[str] = field(default_factory=Counter)
    """Columns that stand in a select list outside of any aggregate."""
    aggregates: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Function (``count distinct`` apart from ``count``) and the columns in it, in select lists and ORDER BY."""
    groups: Counter[str] = field(default_factory=Counter)
    order: tuple[str, ...] = ()
    """Keys of the outermost ORDER BY and of those in windows and subqueries, with ``desc``."""
    limits: tuple[str, ...] = ()
    distinct: int = 0
    """How many SELECT DISTINCT there are."""
    set_operations: Counter[str] = field(default_factory=Counter)
    subqueries: int = 0
    correlations: int = 0
    """Columns in subqueries that belong to a table of an outer query."""
    functions: Counter[str] = field(default_factory=Counter)
    """Functions that are no aggregates, with their literal arguments; arithmetic and CASE; windows."""
    outputs: tuple[str, ...] = ()
    """Every expression of every select list, as text."""
    columns: frozenset[str] = frozenset()
    """Every column that is named, without its table."""


@lru_cache(maxsize=KEPT)
def describe_query(sql: str, dialect: str = "sqlite") -> Facts | None:
    """Return the facts of a query; None where its text is too big, no statement, or no grammar's.

    The facts of the last queries are kept, for a gold is read once for every sample: they are not to be changed.
    """
    tree = parse(sql, dialect)
    if tree is None:
        return None
    try:
        return _Reader(tree).read()
    except (RecursionError, AttributeError, TypeError, KeyError):
        # a tree of a shape that nobody thought of: the mechanical reason has to do
        return None


class _Reader:
    def __init__(self, tree: exp.Expression | Any) -> None:
        from sqlglot import exp

        self._exp = exp
        self._nodes = list(tree.walk())
        self._facts = Facts()
        self._ctes = {cte.alias_or_name.lower() for cte in self._all(exp.CTE)}
        self._aliases: dict[str, str] = {}
        self._has_bare_joins = any(
            not join.args.get("on") and not join.args.get("using") for join in self._all(exp.Join)
        )
        seen: Counter[str] = Counter()
        for table in self._all(exp.Table):
            name, alias = table.name.lower(), table.alias_or_name.lower()
            if alias not in self._aliases:
                seen[name] += 1
                # the second of a table that is joined to itself is another one
                self._aliases[alias] = name if seen[name] == 1 else f"{name}_{seen[name]}"

    def _all(self, kind: type) -> list[Any]:
        return [node for node in self._nodes if isinstance(node, kind)]

    def read(self) -> Facts:
        exp, facts = self._exp, self._facts
        for table in self._all(exp.Table):
            if table.name.lower() not in self._ctes:
                facts.tables[table.name.lower()] += 1
        for node in self._nodes:
            self._visit(node)
        facts.columns = frozenset(column.name.lower() for column in self._all(exp.Column))
        facts.order = tuple(self._ordered())
        return facts

    def _visit(self, node: Any) -> None:
        exp, facts = self._exp, self._facts
        if isinstance(node, exp.Select):
            self._visit_select(node)
        elif isinstance(node, exp.SetOperation):
            kind = type(node).__name__.lower()
            facts.set_operations[kind if node.args.get("distinct", True) else f"{kind} all"] += 1
        elif isinstance(node, exp.Join):
            self._visit_join(node)
        elif isinstance(node, (exp.Limit, exp.Offset, exp.Fetch)):
            facts.limits = (*facts.limits, self._say(node))
        elif isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window):
            clause = self._clause(node)
            if clause != "having":
                facts.aggregates[self._aggregate(node)] += 1
        elif isinstance(node, exp.Window):
            bare = node.copy()
            bare.set("order", None)
            facts.functions[f"window {self._say(bare)}"] += 1
        elif isinstance(node, (exp.Case, exp.If, exp.Cast, exp.Func, exp.Binary, exp.Neg)) and self._is_reckoning(node):
            facts.functions[self._function(node)] += 1

    def _visit_select(self, node: Any) -> None:
        exp, facts = self._exp, self._facts
        if node.args.get("distinct"):
            facts.distinct += 1
        if self._is_nested(node):
            facts.subqueries += 1
            facts.correlations += self._count_outer(node)
        facts.outputs = (*facts.outputs, *(self._say(item.unalias()) for item in node.expressions))
        for item in node.expressions:
            for column in _outside(item, exp.Column, (exp.AggFunc, exp.Subquery, exp.Select, exp.Window)):
                facts.selected[self._column(column)] += 1
            for star in _outside(item, exp.Star, (exp.AggFunc, exp.Subquery, exp.Select)):
                if not isinstance(star.parent, exp.Column):
                    facts.selected["*"] += 1
        for name, target in (("where", facts.filters), ("having", facts.having)):
            clause = node.args.get(name)
            if clause is not None:
                self._read_conditions(clause.this, target, takes_keys=name == "where" and self._has_bare_joins)
        group = node.args.get("group")
        if group is not None:
            for key in group.expressions:
                facts.groups[self._group_key(key, node)] += 1

    def _group_key(self, key: Any, select: Any) -> str:
        """A group key that is an alias or a position of the select list is the expression that it stands for."""
        exp = self._exp
        if isinstance(key, exp.Literal) and key.is_int:
            place = int(key.this) - 1
            if 0 <= place < len(select.expressions):
                return self._say(select.expressions[place].unalias())
        if isinstance(key, exp.Column) and not key.table:
            for item in select.expressions:
                if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                    return self._say(item.this)
        return self._say(key)

    def _visit_join(self, node: Any) -> None:
        side, kind = str(node.side or "").lower(), str(node.kind or "").lower()
        name = side or ("cross" if kind == "cross" else "inner")
        on = node.args.get("on")
        self._facts.joins[name] += 1
        if on is not None:
            self._read_conditions(on, self._facts.filters, takes_keys=True)
        for column in node.args.get("using") or ():
            self._facts.keys[f"{column.name.lower()} = {column.name.lower()}"] += 1

    # --- conditions

    def _read_conditions(self, condition: Any, target: Counter[Filter], takes_keys: bool) -> None:
        exp = self._exp
        for atom, negated in self._atoms(condition, False):
            left, right = atom.args.get("this"), atom.args.get("expression")
            if takes_keys and isinstance(left, exp.Column) and isinstance(right, exp.Column):
                sides, operator = [self._column(left), self._column(right)], type(atom).__name__.lower()
                if sides[0] > sides[1]:
                    sides.reverse()
                    operator = _FLIPPED.get(operator, operator)
                self._facts.keys[f" {'=' if operator == 'eq' else operator} ".join(sides)] += 1
                continue
            target[self._filter(atom, negated)] += 1

    def _atoms(self, condition: Any, negated: bool) -> Iterator[tuple[Any, bool]]:
        exp = self._exp
        if isinstance(condition, exp.Paren):
            yield from self._atoms(condition.this, negated)
        elif isinstance(condition, exp.Not):
            yield from self._atoms(condition.this, not negated)
        elif isinstance(condition, (exp.And, exp.Or)):
            if isinstance(condition, exp.Or):
                self._facts.functions["or"] += 1
            yield from self._atoms(condition.left, negated)
            yield from self._atoms(condition.right, negated)
        elif condition is not None:
            yield condition, negated

    def _filter(self, atom: Any, negated: bool) -> Filter:
        exp = self._exp
        operator = type(atom).__name__.lower()
        left, right = atom.args.get("this"), atom.args.get("expression")
        negated = negated != bool(atom.args.get("negate"))
        if isinstance(atom, exp.Between):
            value = f"{self._say(atom.args['low'])} and {self._say(atom.args['high'])}"
            return Filter(self._say(left), ("not " if negated else "") + operator, value)
        if isinstance(atom, exp.In):
            items = atom.args.get("query")
            value = "(subquery)" if items is not None else ", ".join(sorted(map(self._say, atom.expressions)))
            return Filter(self._say(left), ("not " if negated else "") + operator, value)
        if isinstance(atom, exp.Exists):
            return Filter("", ("not " if negated else "") + "exists", "(subquery)")
        if isinstance(left, exp.Literal) and right is not None and not isinstance(right, exp.Literal):
            left, right = right, left
            operator = _FLIPPED.get(operator, operator)
        if negated:
            operator = _NEGATED.get(operator, f"not {operator}")
        is_pair = isinstance(left, exp.Column) and isinstance(right, exp.Column)
        subject = self._say(left) if left is not None else ""
        return Filter(subject, operator, self._say(right) if right is not None else "", is_pair)

    # --- words

    def _say(self, node: Any) -> str:
        """Write an expression with aliases resolved and names in lower case; a subquery is only named as one."""
        exp = self._exp

        def change(part: Any) -> Any:
            if isinstance(part, exp.Column):
                return exp.Var(this=self._column(part))
            if isinstance(part, (exp.Subquery, exp.Select, exp.SetOperation)):
                return exp.Var(this="(subquery)")
            return part

        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Literal):
            return f"'{node.this.replace(chr(39), chr(39) * 2)}'" if node.is_string else str(node.this).lower()
        return _lower(str(node.transform(change).sql(copy=False)))

    def _column(self, column: Any) -> str:
        name = column.name.lower() or "*"
        table = column.table.lower()
        if not table:
            return name
        return f"{self._aliases.get(table, table)}.{name}"

    def _aggregate(self, node: Any) -> tuple[str, str]:
        exp = self._exp
        name = type(node).__name__.lower()
        if isinstance(node.this, exp.Distinct):
            name = f"{name} distinct"
        columns = sorted({self._column(column) for column in node.find_all(exp.Column)})
        return name, ", ".join(columns) or (self._say(node.this) if node.this is not None else "")

    def _function(self, node: Any) -> str:
        exp = self._exp
        if isinstance(node, (exp.Case, exp.If)):
            return self._say(node)
        name = type(node).__name__.lower() if not isinstance(node, exp.Anonymous) else str(node.this).lower()
        literals = [str(part.this).lower() for part in node.args.values() if isinstance(part, exp.Literal)]
        listed = [str(part.this).lower() for part in node.expressions if isinstance(part, exp.Literal)]
        kind = node.args.get("to")
        return " ".join([name, *literals, *listed, str(kind).lower() if kind is not None else ""]).strip()

    def _is_reckoning(self, node: Any) -> bool:
        exp = self._exp
        if isinstance(node, (exp.AggFunc, exp.Connector, exp.Predicate, exp.Window, exp.Exists, exp.In, exp.Between)):
            return False
        if isinstance(node, exp.Func) and isinstance(node.parent, exp.Window):
            return False
        return not isinstance(node, (exp.SetOperation, exp.Dot, exp.Distinct))

    # --- nesting and order

    def _clause(self, node: Any) -> str:
        exp = self._exp
        parent = node.parent
        while parent is not None and not isinstance(parent, exp.Select):
            if isinstance(parent, exp.Having):
                return "having"
            if isinstance(parent, exp.Order):
                return "order"
            parent = parent.parent
        return "select"

    def _is_nested(self, select: Any) -> bool:
        exp = self._exp
        parent = select.parent
        while isinstance(parent, (exp.SetOperation, exp.Paren)):
            parent = parent.parent
        return parent is not None

    def _count_outer(self, select: Any) -> int:
        exp = self._exp
        own = {table.alias_or_name.lower() for table in select.find_all(exp.Table)}
        own |= {sub.alias_or_name.lower() for sub in select.find_all(exp.Subquery) if sub.alias_or_name}
        named = [column.table.lower() for column in select.find_all(exp.Column) if column.table]
        return sum(table not in own for table in named)

    def _ordered(self) -> Iterator[str]:
        exp = self._exp
        for order in self._all(exp.Order):
            for key in order.expressions:
                if isinstance(key, exp.Ordered):
                    yield self._say(key.this) + (" desc" if key.args.get("desc") else "")
                else:
                    yield self._say(key)


_FLIPPED = {"lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte"}
_NEGATED = {"eq": "neq", "neq": "eq", "lt": "gte", "gte": "lt", "gt": "lte", "lte": "gt"}


def _lower(text: str) -> str:
    """Names and keywords in lower case; what is quoted as a value stays as it is."""
    return re.sub(r"'(?:[^']|'')*'|[^']+", lambda part: part[0] if part[0][0] == "'" else part[0].lower(), text)


def _outside(node: Any, wanted: type, barriers: tuple[type, ...]) -> Iterator[Any]:
    """Yield the nodes of a type below (or at) a node that no barrier stands above of."""
    if isinstance(node, barriers):
        return
    if isinstance(node, wanted):
        yield node
        return
    for child in node.iter_expressions():
        yield from _outside(child, wanted, barriers)
