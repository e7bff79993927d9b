"""The grammar of simple expressions: arithmetic, names, constants, calls, CASE, CAST. No comparison, no AND."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from pytest_sqlbench.scoring.pcm.calls import CallGrammar
from pytest_sqlbench.scoring.pcm.cursor import OPENINGS
from pytest_sqlbench.scoring.pcm.nodes import (
    NULL,
    OPAQUE,
    Case,
    Column,
    Constant,
    Expression,
    Function,
    Name,
    Operation,
)
from pytest_sqlbench.scoring.pcm.tokens import DATE_PARTS, FIRST_NAMES, IDENTIFIERS, NAMES, NEXT_NAMES

_STRENGTHS = {
    "||": 1,
    "|": 2, "&": 2, "<<": 2, ">>": 2,
    "+": 3, "-": 3,
    "*": 4, "/": 4, "div": 4, "%": 4,
    "^": 5,
}  # fmt: skip
_CONTINUATIONS = frozenset({".", "("})
"""Tokens after a name that make it longer, or a call."""
_PREFIXES = frozenset({"not", "!", "+", "-", "~"})
_SUFFIXES = DATE_PARTS | {"collate", "[", "::"}
ADDITIVE = 3
"""The least strength of an operator in ``TOP (...)``."""


class ExpressionGrammar(CallGrammar):
    """Operators, and the operands between them."""

    __slots__ = ()

    def simple(self) -> Expression:
        """An expression without comparison, as select items, GROUP BY and function parameters must be."""
        return self.remembered(self._simples, self.operations)

    def operations(self, weakest: int = 1) -> Expression:
        """Operators of at least this strength; those of one strength join from the left."""
        left = self._operand()
        length = 0
        while (strength := _STRENGTHS.get(self._kinds[self.at], 0)) >= weakest:
            operator = self.peek().upper()
            self.at += 1
            left = Operation(left, self.operations(strength + 1), operator)
            length = self.lengthened(length)
        return left

    def _operand(self) -> Expression:
        """A primary with what may stand before it (NOT, a sign: nothing of those is read) and after it."""
        has_prefix = self._kinds[self.at] in _PREFIXES
        if has_prefix:
            self.skip("not", "!")
            self.skip("+", "-", "~")
        found = self.primary()
        if self._kinds[self.at] in _SUFFIXES:
            found = self._extended(found)
        return OPAQUE if has_prefix else found

    def _extended(self, found: Expression) -> Expression:
        """What stands after a primary: COLLATE, a unit (which makes it an interval), an index, casts."""
        if self.skip("collate"):
            self.take("identifier")
            found = Operation(found)
        if self.peek() in DATE_PARTS:
            self.at += 1
            found = OPAQUE
        if self.skip("["):
            self.simple()
            self.take("]")
            found = OPAQUE
        length = 0
        while self.skip("::"):
            self.column_type()
            found = Operation(found)
            length = self.lengthened(length)
        return found

    def primary(self) -> Expression:
        """One operand without operators."""
        kind = self._kinds[self.at]
        if kind in IDENTIFIERS and self._kinds[self.at + 1] not in _CONTINUATIONS:
            self.at += 1
            return Column(self._texts[self.at - 1])
        special = self._SPECIAL.get(kind)
        if special is not None:
            found = special(self)
            if found is not None:
                return found
        if kind not in FIRST_NAMES:
            raise self.unreadable()
        start = self.at
        parts = self.take_dotted(FIRST_NAMES)
        if self.peek() != "(":
            return Column(parts[-1])
        self.at = start
        return self.call()

    # primaries that begin with a token of their own; None where the token is a plain name after all

    def _null(self) -> Expression:
        self.at += 1
        return NULL

    def _case(self) -> Expression:
        self.at += 1
        if self.peek() != "when":
            self.condition()
        branches = [self._branch()]
        while self.peek() == "when":
            branches.append(self._branch())
        if self.skip("else"):
            self.condition()
        self.take("end")
        return Case(tuple(branches))

    def _branch(self) -> tuple[Expression, Expression]:
        self.take("when")
        when = self.disjunction()
        self.take("then")
        return when, self.disjunction()

    def _question_mark(self) -> Expression:
        self.at += 1
        self.skip("integer")
        return OPAQUE

    def _parameter(self) -> Expression:
        self.at += 1
        return OPAQUE if self.skip("integer") else Name(self.take_name(NEXT_NAMES))

    def _variable(self) -> Expression:
        self.at += 1
        name = self.take_name(NEXT_NAMES)
        while self.skip("."):
            name += "." + self.take_name(NEXT_NAMES)
        return Name(name)

    def _extract(self) -> Expression | None:
        return self.attempt(self._extract_part) if self.peek(1) == "(" else None

    def _extract_part(self) -> Expression:
        self.at += 2
        part = Name(self.take_name(NAMES))
        self.take("from")
        self.simple()
        self.take(")")
        return part

    def _group_concat(self) -> Expression:
        self.at += 1
        self.take("(")
        self.skip("distinct")
        self.listed(self.simple)
        if self.peek() == "order":
            self.order_keys()
        if self.peek() == "separator":  # takes a string literal, and the cleaned text has none
            raise self.unreadable()
        self.take(")")
        return OPAQUE

    def _if(self) -> Expression | None:
        return self.attempt(self._if_call) if self.peek(1) == "(" else None

    def _if_call(self) -> Expression:
        name = self.text()
        self.at += 1
        return Function(name, tuple(self.enclosed(self.conditions)))

    def _interval(self) -> Expression | None:
        if self.peek(1) not in ("-", "integer", "decimal", "identifier", "quoted"):
            return None
        self.at += 1
        self.skip("-")
        self.at += 1
        if self.peek() == "identifier" or self.peek() in DATE_PARTS:
            self.at += 1
        return OPAQUE

    def _cast(self) -> Expression | None:
        return self.attempt(self._cast_as) if self.peek(1) == "(" else None

    def _cast_as(self) -> Expression:
        self.at += 2
        operand = self.simple()
        self.take("as")
        self.column_type()
        self.take(")")
        return Operation(operand)

    def _integer(self) -> Expression:
        text = self.take_integer()
        return Constant(text, text.lstrip("0"))

    def _decimal(self) -> Expression:
        value = float(self.take("decimal"))
        return Constant(value="Infinity" if value == float("inf") else str(value) if value else "")

    def _hexadecimal(self) -> Expression:
        return Constant(value=self.take("hexadecimal"))

    def _clock(self) -> Expression:
        return Constant(self.take("clock", "current"))

    def _parenthesis(self) -> Expression:
        following = self.peek(1)
        if following in OPENINGS:
            return self.enclosed(self.query)
        if following in ("(", "values", "value"):
            found = self.attempt(lambda: self.enclosed(self.query))
            if found is not None:
                return found
        self.enclosed(self.simple)
        return OPAQUE

    _SPECIAL: ClassVar[Mapping[str, Callable[[ExpressionGrammar], Expression | None]]] = {
        "null": _null,
        "case": _case,
        "?": _question_mark,
        ":": _parameter,
        "@": _variable,
        "@@": _variable,
        "extract": _extract,
        "group_concat": _group_concat,
        "if": _if,
        "iif": _if,
        "{": CallGrammar.call,
        "interval": _interval,
        "cast": _cast,
        "integer": _integer,
        "decimal": _decimal,
        "hexadecimal": _hexadecimal,
        "clock": _clock,
        "current": _clock,
        "(": _parenthesis,
    }
