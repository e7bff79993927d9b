"""The grammar of whole queries, and `parse`: the top of JSqlParser 3.2's grammar as the official path sees it."""

from __future__ import annotations

from dataclasses import replace

from pytest_sqlbench.scoring.pcm.expressions import ADDITIVE
from pytest_sqlbench.scoring.pcm.nodes import (
    EMPTY_SELECT,
    OPAQUE,
    AllColumns,
    Expression,
    Name,
    OrderKey,
    Query,
    Select,
)
from pytest_sqlbench.scoring.pcm.sources import SourceGrammar
from pytest_sqlbench.scoring.pcm.tokens import END, FIRST_NAMES, NAMES, split_tokens
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

_MODIFIERS = frozenset(
    {"straight_join", "skip", "first", "limit", "distinct", "all", "unique", "sql_calc_found_rows", "sql_no_cache"}
)


def parse(text: str) -> Query:
    """Parse a cleaned query.

    Args:
        text: What `cleaning.clean` returns.

    Raises:
        Unreadable: It is not one SELECT as JSqlParser 3.2 reads it.
    """
    grammar = QueryGrammar(split_tokens(text))
    try:
        return grammar.statement()
    except RecursionError:
        # MAX_NESTING stops hostile text long before, unless the caller itself stands deep in the stack.
        raise Unreadable("nested too deeply") from None


class QueryGrammar(SourceGrammar):
    """The highest level of the grammar."""

    __slots__ = ()

    def statement(self) -> Query:
        """One query and nothing after it but a semicolon."""
        found = self.query()
        self.skip(";")
        self.take(END)
        return found

    def query(self) -> Query:
        """A query with its common table expressions, whose bodies follow the main ones."""
        tables: list[Query] = []
        if self.skip("with"):
            tables = self.listed(self._common_table)
        body = self._body()
        if not tables:
            return body
        return replace(body, bodies=sum((table.bodies for table in tables), body.bodies))

    def _common_table(self) -> Query:
        self.skip("recursive")
        self.take_name(NAMES)
        if self.skip("("):
            self.listed(self._item)
            self.take(")")
        self.take("as")
        return self.enclosed(self._body)

    def _body(self) -> Query:
        return self.remembered(self._bodies, self._set_operation)

    def _set_operation(self) -> Query:
        """One SELECT, or several joined by UNION and its like; an ORDER BY after the last one is not read."""
        parts = [self._part()]
        while self.peek() in ("union", "intersect", "minus", "except"):
            self.at += 1
            if self._kinds[self.at - 1] == "union":
                self.skip("all", "distinct")
            parts.append(self._part())
        is_ordered = self.peek() == "order"
        if is_ordered:
            self.order_keys()
        if self.peek() == "limit":
            self._limit()
        self._offset()
        self._fetch()
        if len(parts) == 1:
            return Query((parts[0],), is_set=is_ordered or parts[0] is EMPTY_SELECT)
        parts[-1] = replace(parts[-1], order=())
        return Query(tuple(parts), is_set=True)

    def _part(self) -> Select:
        """A SELECT, or a body in parentheses; a VALUES list and a set operation have no parts to read."""
        if self.peek() == "(":
            body = self.enclosed(self._body)
            return EMPTY_SELECT if body.is_set else body.bodies[0]
        if self.skip("values", "value"):
            self.enclosed(lambda: self.listed(self.simple))
            return EMPTY_SELECT
        return self._select()

    def _select(self) -> Select:
        self.take("select", "sel")
        self._modifiers()
        top = self._top() if self.peek() == "top" else None
        items = self.listed(self._item)
        if self.skip("into"):
            self.listed(lambda: self.take_dotted(FIRST_NAMES))
        source, joins = (self.source(), self.joins()) if self.skip("from") else (None, [])
        where = self.disjunction() if self.skip("where") else None
        group = self._group() if self.skip("group") else []
        having = self.disjunction() if self.skip("having") else None
        order: list[OrderKey] = []
        if self.peek() == "order" and self.peek(1) in ("by", "siblings"):
            order = self.order_keys()
        limit = self._limit() if self.peek() == "limit" else None
        self._offset()
        if limit is None and self.peek() == "limit":
            limit = self._limit()
        self._fetch()
        return Select(tuple(items), top, limit, source, tuple(joins), where, tuple(group), having, tuple(order))

    def _modifiers(self) -> None:
        """Words between SELECT and its items, none of which is read."""
        if self.peek() not in _MODIFIERS:
            return
        self.skip("straight_join")
        if self.skip("skip"):
            self.take("integer", "identifier", "?")
        if self.peek() in ("first", "limit") and self.peek(1) in ("integer", "identifier", "?"):
            self.at += 2
        if self.skip("distinct"):
            if self.peek() == "on" and self.peek(1) == "(":
                self.at += 1
                self.enclosed(lambda: self.listed(self._item))
        else:
            self.skip("all", "unique", "sql_calc_found_rows", "sql_no_cache")

    def _top(self) -> Expression | None:
        """TOP with a number, a parameter or an expression in parentheses; otherwise it is a column of that name."""
        following = self.peek(1)
        if following not in ("integer", "?", ":", "("):
            return None
        self.at += 1
        found: Expression = OPAQUE
        if following == "integer":
            found = self.primary()
        elif following == "?":
            self.at += 1
            self.skip("integer")
        elif following == ":":
            self.at += 1
            if self.peek() == "identifier":
                found = Name(self.take("identifier"))
        else:
            found = self.enclosed(lambda: self.operations(ADDITIVE))
        self.skip("percent")
        return found

    def _item(self) -> Expression | AllColumns:
        """An expression with an alias, ``*`` or ``t.*``."""
        if self.skip("*"):
            return AllColumns()
        if self.peek(1) == "." and self.peek() in FIRST_NAMES:
            start = self.at
            self.take_dotted(FIRST_NAMES)
            if self.skip(".") and self.skip("*"):
                return OPAQUE
            self.at = start
        found = self.simple()
        self.alias_if_any()
        return found

    def _group(self) -> list[Expression]:
        self.take("by")
        return self.listed(self.simple)

    def _limit(self) -> str:
        """LIMIT and the text of its count, the second of two; empty where it is not a number."""
        self.take("limit")
        if self.skip("all", "null"):
            return ""
        count = self._count()
        return self._count() if self.skip(",") else count

    def _count(self) -> str:
        if self.peek() == "integer":
            return self.take_integer()
        if self.skip("?"):
            self.skip("integer")
        else:
            self.take(":")
            self.take_name(FIRST_NAMES)
        return ""

    def _offset(self) -> None:
        if not self.skip("offset"):
            return
        if self.skip(":"):
            self.take_name(FIRST_NAMES)
        elif not self.skip("?"):
            self.take_integer()
        self.skip("rows", "row")

    def _fetch(self) -> None:
        if not self.skip("fetch"):
            return
        self.take("first", "next")
        if not self.skip("?"):
            self.take_integer()
        self.take("rows", "row")
        self.take("only")
