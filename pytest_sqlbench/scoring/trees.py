"""The component lists of a query in any dialect, from sqlglot's tree: SEDE's rules without the official reader's bugs.

Kept from the rules: the seven lists, the nested and combined items, aliases and table prefixes that do not count, the
bodies of a UNION or a WITH that are joined. Put right: NOT, BETWEEN, sub-queries of IN, parentheses, zero and signed
numbers, arguments of functions and windows, ELSE, ``t.*``, and the ORDER BY and LIMIT of a set operation all count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pytest_sqlbench.scoring.pcm.components import NAMES, READING_ORDER, Components, Item, combined
from pytest_sqlbench.scoring.pcm.cursor import MAX_CHAIN
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable
from pytest_sqlbench.scoring.sqltext import parse

_SYMBOLS = {
    "eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "dpipe": "||", "safedpipe": "||",
}  # fmt: skip
_ANONYMOUS = "terminal"


def tree_components(text: str, dialect: str, *, values: bool = True, on_clause: bool = True) -> Components:
    """Return the component lists of a query.

    Args:
        text: One query, in any case; it is lower-cased, as the metric's rules have it.
        dialect: A grammar that sqlglot knows.
        values: False writes every literal, and every column on a right side or in an IN list, as ``terminal``.
        on_clause: False leaves ON and USING out.

    Raises:
        Unreadable: It is not one query in this dialect, or too big to be parsed.
    """
    from sqlglot import exp

    tree: Any = parse(text.lower(), dialect)
    while isinstance(tree, (exp.Subquery, exp.Paren)) and not tree.args.get("order") and not tree.args.get("limit"):
        tree = tree.this
    if not isinstance(tree, exp.Query) or (isinstance(tree, exp.Select) and not tree.expressions):
        raise Unreadable(f"not one query that the grammar of {dialect} reads")
    reader = _TreeReader(values, on_clause)
    bodies = reader.bodies(tree)
    return {name: [item for body in bodies for item in body[name]] for name in NAMES}


@dataclass(frozen=True, slots=True)
class _TreeReader:
    keeps_values: bool
    reads_on: bool

    # queries

    def bodies(self, query: Any) -> list[dict[str, list[Item]]]:
        """The lists of each SELECT, those of the common table expressions last."""
        from sqlglot import exp

        found: list[dict[str, list[Item]]] = []
        common: list[Any] = []
        waiting: list[Any] = [query]
        while waiting:
            part = waiting.pop()
            tables = part.args.get("with_") or part.args.get("with")  # sqlglot has renamed it
            common += [] if tables is None else tables.expressions
            if isinstance(part, exp.SetOperation):
                waiting += [part.expression, part.this]
                found += self._tail(part)
            elif isinstance(part, exp.Subquery):
                waiting.append(part.this)
                found += self._tail(part)
            elif isinstance(part, exp.Select):
                found.append(self._select(part))
            else:
                found.append({name: self._source(part) if name == "from" else [] for name in NAMES})
        for table in common:
            found += self.bodies(table.this)
        return found

    def _tail(self, query: Any) -> list[dict[str, list[Item]]]:
        """ORDER BY and LIMIT of a whole set operation, as one more body; none if it has neither."""
        order, top = self._order(query), self._top(query)
        if not order and not top:
            return []
        return [{name: order if name == "order" else top if name == "top" else [] for name in NAMES}]

    def _select(self, select: Any) -> dict[str, list[Item]]:
        group = select.args.get("group")
        return {
            "select": combined(item for expression in select.expressions for item in self.items(expression)),
            "top": self._top(select),
            "from": self._from(select),
            "where": self._inside(select, "where"),
            "order": self._order(select),
            "group": combined(self._of_children(group)) if group is not None else [],
            "having": self._inside(select, "having"),
        }

    def _inside(self, select: Any, clause: str) -> list[Item]:
        found = select.args.get(clause)
        return [] if found is None else self.items(found.this)

    def _top(self, query: Any) -> list[Item]:
        limit = query.args.get("limit")
        if limit is None:
            return []
        count = limit.args.get("expression") or limit.args.get("count") or limit.args.get("this")
        return [] if count is None else [count.sql()]

    def _order(self, query: Any) -> list[Item]:
        order = query.args.get("order")
        found: list[Item] = []
        for key in order.expressions if order is not None else ():
            items = [*self.items(key.this), "desc" if key.args.get("desc") else "asc"]
            found += items
            if len(items) > 1:
                found.append(tuple(items))
        return combined(found)

    def _from(self, select: Any) -> list[Item]:
        first = select.args.get("from_") or select.args.get("from")
        found: list[Item] = [] if first is None else self._source(first.this)
        for join in select.args.get("joins") or ():
            items = self._source(join.this)
            if self.reads_on:
                condition = join.args.get("on")
                items += [] if condition is None else self.items(condition)
                for column in join.args.get("using") or ():
                    name = column.name
                    items += [name, name, "=", ((name,), (name,), "=")]
            found += combined(items)
        return combined(found)

    def _source(self, source: Any) -> list[Item]:
        """A table by the last part of its name, a sub-query flattened, anything else by its parts."""
        from sqlglot import exp

        named: list[Item] = [source.name] if isinstance(source, exp.Table) else []
        found = named if named and named[0] else self.items(source)
        for join in source.args.get("joins") or ():
            found += self._source(join.this)
            condition = join.args.get("on")
            found += [] if condition is None or not self.reads_on else self.items(condition)
        return found

    # expressions

    def items(self, node: Any) -> list[Item]:
        """The items of an expression, wherever it stands. An unknown kind counts as its parts."""
        from sqlglot import exp

        while isinstance(node, (exp.Paren, exp.Alias, exp.Cast, exp.Ordered)):
            node = node.this
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            return ["*"]
        if isinstance(node, exp.Column):
            return [node.name]
        if isinstance(node, (exp.Literal, exp.Null, exp.Boolean)) or _is_signed(node):
            return [node.sql()] if self.keeps_values or isinstance(node, exp.Null) else [_ANONYMOUS]
        if isinstance(node, exp.Query):
            return [item for body in self.bodies(node) for name in READING_ORDER for item in body[name]]
        if _is_operation(node):
            return self._operation(node)
        if isinstance(node, exp.Between):
            return self._between(node)
        if isinstance(node, exp.Not):
            return [*self.items(node.this), "not"]
        if isinstance(node, exp.Exists):
            return [*self.items(node.this), "EXISTS"]
        if isinstance(node, exp.In):
            return self._membership(node)
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, exp.Func):
            return self._function(node)
        if isinstance(node, (exp.Identifier, exp.Var, exp.Parameter, exp.Placeholder)):
            return [node.name or node.sql()]
        if isinstance(node, (exp.TableAlias, exp.DataType)):
            return []
        return self._of_children(node)

    def _of_children(self, node: Any) -> list[Item]:
        return [item for child in node.iter_expressions() for item in self.items(child)]

    def _operation(self, node: Any) -> list[Item]:
        """Both sides, the operator, and all three nested. Walks down the left sides, as a long AND is too deep."""
        chain: list[Any] = []
        while _is_operation(node):
            chain.append(node)
            node = _without_parentheses(node.this)
        if len(chain) > MAX_CHAIN:
            raise Unreadable(f"more than {MAX_CHAIN} operators on one level")
        found = self.items(node)
        while chain:
            step = chain.pop()
            found = _joined(found, self._right(step.expression), _SYMBOLS.get(step.key, step.key.upper()))
            found += _negation(step)
        return found

    def _right(self, node: Any) -> list[Item]:
        """The items of a right side, where a column counts as a value: double quotes may mean either."""
        from sqlglot import exp

        return self.items(node) if self.keeps_values or not isinstance(node, exp.Column) else [_ANONYMOUS]

    def _between(self, node: Any) -> list[Item]:
        """The two comparisons that it stands for."""
        left = self.items(node.this)
        low = _joined(left, self.items(node.args["low"]), ">=")
        high = _joined(left, self.items(node.args["high"]), "<=")
        return _joined(low, high, "AND") + _negation(node)

    def _membership(self, node: Any) -> list[Item]:
        found = [*self.items(node.this), "IN"]
        query = node.args.get("query")
        if query is not None:
            found += self.items(query)
        for member in node.expressions:
            found += self._right(member)
        return found + _negation(node)

    def _window(self, node: Any) -> list[Item]:
        found = [*self.items(node.this), "OVER"]
        for key in node.args.get("partition_by") or ():
            found += self.items(key)
        return found + self._order(node)

    def _case(self, node: Any) -> list[Item]:
        found = [] if node.this is None else self.items(node.this)
        for branch in node.args["ifs"]:
            found += ["case", *self.items(branch.this), *self.items(branch.args["true"])]
        default = node.args.get("default")
        return found if default is None else [*found, *self.items(default)]

    def _function(self, node: Any) -> list[Item]:
        from sqlglot import exp

        is_plain = isinstance(node, exp.Anonymous)
        name = (node.name if is_plain else node.sql_name()).lower()
        parts: Iterable[Any] = node.expressions if is_plain else node.iter_expressions()
        parameters = [item for part in parts for item in self.items(part)]
        if not parameters:
            return [name]
        return [*parameters, name, (name, parameters[0] if len(parameters) == 1 else tuple(parameters))]


def _joined(left: list[Item], right: list[Item], operator: str) -> list[Item]:
    nested: list[Item] = [(tuple(left), tuple(right), operator)] if left and right else []
    return [*left, *right, operator, *nested]


def _negation(node: Any) -> list[Item]:
    """NOT LIKE and its kin, which sqlglot writes as a mark on the node, or else as a NOT around it."""
    return ["not"] if node.args.get("negate") else []


def _is_operation(node: Any) -> bool:
    """Say whether a node is an operator between two sides; some functions are such to sqlglot, AND and OR are too."""
    from sqlglot import exp

    return isinstance(node, exp.Connector) or (isinstance(node, exp.Binary) and not isinstance(node, exp.Func))


def _is_signed(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)


def _without_parentheses(node: Any) -> Any:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    return node
