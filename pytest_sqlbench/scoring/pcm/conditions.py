"""The grammar of conditions: comparison, IN, BETWEEN, LIKE, IS NULL, EXISTS, NOT, AND, OR.

An ordered choice as JavaCC makes it, with the odd rejections that follow. ESCAPE never fits: it takes a string literal,
and the cleaned text has none.
"""

from __future__ import annotations

from pytest_sqlbench.scoring.pcm.cursor import OPENINGS
from pytest_sqlbench.scoring.pcm.expressions import ExpressionGrammar
from pytest_sqlbench.scoring.pcm.nodes import OPAQUE, Expression, Operation

_SPACED = frozenset({">=", "<=", "<>", "!="})
"""Operators that count as written, with the white space that may stand between their signs."""
_COMPARISONS = _SPACED | {
    ">", "<", "=", "@@", "~", "regexp", "rlike", "~*", "!~", "!~*", "@>", "<@", "?", "?|", "?&", "||", "-", "-#",
}  # fmt: skip
_QUANTIFIERS = frozenset({"all", "any", "some"})
_RETRIED = _QUANTIFIERS | {"(", "prior"}
"""Tokens that mean something else at the start of a comparison than at the start of an expression."""


class ConditionGrammar(ExpressionGrammar):
    """The level above simple expressions."""

    __slots__ = ()

    def conditions(self) -> list[Expression]:
        """Whole conditions by comma."""
        return self.listed(self.disjunction)

    def disjunction(self) -> Expression:
        """Conditions joined by OR."""
        found = self._conjunction()
        length = 0
        while self.skip("or"):
            found = Operation(found, self._conjunction(), "OR")
            length = self.lengthened(length)
        return found

    def _conjunction(self) -> Expression:
        found = self._term()
        length = 0
        while self.peek() in ("and", "&&"):
            operator = self.peek().upper()
            self.at += 1
            found = Operation(found, self._term(), operator)
            length = self.lengthened(length)
        return found

    def _term(self) -> Expression:
        """A condition, or a whole disjunction in parentheses, from which nothing is read."""
        found = self.attempt(self.condition)
        if found is None:
            self.skip("not", "!")
            self.enclosed(self.disjunction)
            return OPAQUE
        return found

    def condition(self) -> Expression:
        """One condition, or a plain expression. From one that begins with NOT nothing is read."""
        is_negated = self.skip("not", "!")
        found = self._test()
        return OPAQUE if is_negated else found

    def _test(self) -> Expression:
        if self.skip("exists"):
            return Operation(None, self.simple(), "EXISTS")
        start = self.at
        takes_in = True
        if self.peek() == "(" and self.peek(1) not in OPENINGS:
            # A left side in parentheses is a list to IN, and lost; what follows a list cannot be another left side.
            found = self.attempt(self._list)
            if found is not None and self._is_next("in"):
                return self._membership(None)
            self.at = start
            takes_in = found is None and self.peek(1) == "("
        left = self.attempt(self.simple)
        if left is not None:
            test = self._suffixed(left, takes_in)
            if test is not None:
                return test
        return self._comparison(start, left)

    def _list(self) -> list[Expression]:
        return self.enclosed(self._members)

    def _members(self) -> list[Expression]:
        return self.listed(self.simple)

    def _is_next(self, keyword: str) -> bool:
        return self.peek() == keyword or (self.peek() == "not" and self.peek(1) == keyword)

    def _suffixed(self, left: Expression, takes_in: bool) -> Expression | None:
        """What may follow the left side of a condition other than a comparison; None if nothing of it does."""
        kind = self.peek()
        if kind == "isnull":
            self.at += 1
            return Operation(left)
        if kind == "is":
            self.at += 1
            is_negated = self.skip("not")
            self.take("null", "true", "false")
            return Operation(left, is_negated=is_negated)
        keyword = self.peek(1) if kind == "not" else kind
        if keyword == "in" and takes_in:
            return self._membership(left)
        if keyword not in ("between", "like", "ilike", "similar"):
            return None
        is_negated = self.skip("not")
        self.at += 1
        if keyword == "between":
            self.simple()
            self.take("and")
            self.simple()
            return Operation(left, is_negated=is_negated)
        if keyword == "similar":
            self.take("to")
        operator = "SIMILAR TO" if keyword == "similar" else keyword.upper()
        return Operation(left, self.simple(), operator, is_negated)

    def _membership(self, left: Expression | None) -> Operation:
        """``[NOT] IN`` and its right side: values, a sub-query, rows of values (not read) or a function."""
        is_negated = self.skip("not")
        self.take("in")
        if self.peek() != "(":
            return Operation(left, self.function(), is_negated=is_negated)
        if self.peek(1) == "(" and self.peek(2) not in OPENINGS and self.peek(2) != "(":
            self.enclosed(lambda: self.listed(self._list))
            return Operation(left, is_negated=is_negated)
        return Operation(left, is_negated=is_negated, members=self.enclosed(self._values))

    def _values(self) -> tuple[Expression, ...]:
        """The values of an IN; none for a sub-query, which is not read."""
        if self.peek() in OPENINGS:
            self.query()
            return ()
        if self.peek() == "(" and self.attempt(self.query) is not None:
            return ()
        return tuple(self._members())

    def _comparison(self, start: int, left: Expression | None) -> Expression:
        """A comparison, else the plain expression `left` that began at `start`."""
        if left is not None and self._kinds[start] not in _RETRIED:
            return self._compared_with(left) if self.peek() in _COMPARISONS else left
        end = self.at
        self.at = start
        found = self.attempt(self._compared)
        if found is not None:
            return found
        if left is None:
            raise self.unreadable()
        self.at = end
        return left

    def _compared(self) -> Expression:
        if self.peek() == "prior" and self.peek(1) not in _COMPARISONS:
            self.at += 1
        return self._compared_with(self._comparable())

    def _compared_with(self, left: Expression) -> Expression:
        kind = self.peek()
        if kind not in _COMPARISONS:
            raise self.unreadable()
        operator = self.text() if kind in _SPACED else kind.upper()
        self.at += 1
        if kind in ("regexp", "rlike"):
            self.skip("binary")
        return Operation(left, self._comparable(), operator)

    def _comparable(self) -> Expression:
        """One side of a comparison: an expression, a list of values, or ALL, ANY or SOME of a sub-query."""
        kind = self.peek()
        if kind == "all" or (kind in _QUANTIFIERS and self.peek(1) == "(" and self.peek(2) in OPENINGS | {"("}):
            self.at += 1
            self.enclosed(self.query)
            return OPAQUE
        if kind == "(":
            start = self.at
            found = self.attempt(self._list)
            if found is not None and len(found) > 1:
                return OPAQUE
            self.at = start
        return self.simple()
