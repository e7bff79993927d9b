"""The grammar of calls: functions, windows, sort keys, and the types of CAST."""

from __future__ import annotations

from pytest_sqlbench.scoring.pcm.cursor import OPENINGS, Cursor
from pytest_sqlbench.scoring.pcm.nodes import Expression, Function, OrderKey, Window
from pytest_sqlbench.scoring.pcm.tokens import DATE_PARTS, DAY_TYPES, FIRST_NAMES, NAMES

_TYPES = frozenset({"identifier", "xml", "interval", "char", "set", "binary"} | DAY_TYPES | DATE_PARTS)


class CallGrammar(Cursor):
    """The lowest level of the grammar."""

    __slots__ = ()

    def call(self) -> Expression:
        """A function, with its OVER or WITHIN GROUP if it has one."""
        found = self.function()
        following, after = self.peek(), self.peek(1)
        if (following in ("over", "filter") and after == "(") or (following == "within" and after == "group"):
            return self._window(found)
        return found

    def function(self) -> Function:
        """A call ``name(...)`` or ``{fn name(...)}``; what KEEP or a trailing ``.name`` add is not read."""
        is_escaped = self.peek() == "{" and self.peek(1) == "fn"
        if is_escaped:
            self.at += 2
        name = ".".join(self.take_dotted(FIRST_NAMES))
        parameters, has_star = self._arguments()
        if self.skip(".") and self.attempt(self.function) is None:
            self.take_name(NAMES)
        if self.peek() == "keep" and self.peek(1) == "(":
            self._keep()
        if is_escaped:
            self.take("}")
        return Function(name, tuple(parameters), has_star)

    def _arguments(self) -> tuple[list[Expression], bool]:
        """What stands in the parentheses of a call, and whether it is or counts as ``*``."""
        self.take("(")
        parameters: list[Expression] = []
        has_star = False
        if self.peek() not in (")", "ignore"):
            has_star = not self.skip("distinct") and self.skip("all")
            if self.skip("*"):
                has_star = True
            else:
                parameters = self._parameters()
        if self.skip("ignore"):
            self.take("nulls")
        self.take(")")
        return parameters, has_star

    def _parameters(self) -> list[Expression]:
        """Parameters by comma, one sub-query, or the worded kinds (``trim(both x from y)``), which are not read."""
        if self.skip("both", "leading", "trailing"):
            self.simple()
            self.take("from", "in", "placing")
            self.simple()
            return []
        if self.peek() in OPENINGS:
            return [self.query()]
        found = self.listed(self.simple)
        if len(found) == 1 and self.skip("from", "in", "placing"):
            self.simple()
            if self.skip("for", "from"):
                self.simple()
                if self.skip("for"):
                    self.simple()
            return []
        return found

    def _keep(self) -> None:
        self.at += 2
        self.take("identifier")
        self.take("first", "last")
        self.order_keys()
        self.take(")")

    def _window(self, function: Function) -> Window:
        if self.skip("filter"):
            self.take("(")
            self.take("where")
            self.disjunction()
            self.take(")")
        is_over = self.skip("over")
        if not is_over:
            self.take("within")
            self.take("group")
        order: list[OrderKey] = []
        self.take("(")
        if self.skip("partition"):
            self.take("by")
            if self.attempt(self.conditions) is None:
                self.enclosed(self.conditions)
        if self.peek() == "order":
            order = self.order_keys()
        if self.skip("rows", "range"):
            self._frame()
        self.take(")")
        return Window(function.name, function.has_star, tuple(order) if is_over else None)

    def conditions(self) -> list[Expression]:
        return self.listed(self.disjunction)

    def _frame(self) -> None:
        if self.skip("between"):
            self._frame_end()
            self.take("and")
        self._frame_end()

    def _frame_end(self) -> None:
        if self.peek() == "current" and self.peek(1) == "row":
            self.at += 2
            return
        if not self.skip("unbounded"):
            self.simple()
        self.take("preceding", "following")

    def order_keys(self) -> list[OrderKey]:
        """``ORDER BY`` with its keys, each a condition with a direction."""
        self.take("order")
        self.skip("siblings")
        self.take("by")
        return self.listed(self._order_key)

    def _order_key(self) -> OrderKey:
        expression = self.disjunction()
        is_ascending = self.skip("asc") or not self.skip("desc")
        if self.skip("nulls"):
            self.skip("first", "last")
        return OrderKey(expression, is_ascending)

    # types: their names and arguments are stepped over, nothing of them is read

    def column_type(self) -> None:
        """A type as CAST and ``::`` take it."""
        kind = self.peek()
        self.at += 1
        if kind in ("character", "bit"):
            self.skip("varying")
        elif kind == "double":
            self.skip("precision")
        elif kind == "unsigned":
            self.take("identifier")
        elif kind == "signed":
            self.skip("identifier")
        elif kind not in _TYPES:
            self.at -= 1
            raise self.unreadable()
        elif kind in DAY_TYPES:
            self._time_zone()
        if self.peek() == "(" and self.peek(1) in ("integer", "identifier", ")"):
            self.at += 1
            while self.skip("integer", "identifier"):
                self.skip("byte", "char")
                self.skip(",")
            self.take(")")
        while self.skip("["):
            self.skip("integer")
            self.take("]")
        if self.peek() == "character" and self.peek(1) == "set":
            self.at += 2
            self.take("identifier")

    def _time_zone(self) -> None:
        """``WITH TIME ZONE``, after a precision or without."""
        ahead = 3 if (self.peek(), self.peek(1), self.peek(2)) == ("(", "integer", ")") else 0
        if self.peek(ahead) in ("with", "without") and (self.peek(ahead + 1), self.peek(ahead + 2)) == ("time", "zone"):
            self.at += ahead + 3
