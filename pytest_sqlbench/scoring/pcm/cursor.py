"""A place in the tokens, and the few moves that every level of the grammar is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_sqlbench.scoring.pcm.nodes import Expression, Query
from pytest_sqlbench.scoring.pcm.tokens import NEXT_NAMES, Tokens
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

T = TypeVar("T")
Memory = dict[int, tuple[T, int] | None]

MAX_NESTING = 60
"""Levels of parentheses, calls, CASEs and sub-queries. Deeper, the official parser runs into its time limit."""
MAX_CHAIN = 450
"""Operators on one level, as in a long AND. The official reader recurses along them and fails at about this length."""
LARGEST_INTEGER = 2**63 - 1
OPENINGS = frozenset({"select", "sel", "with"})
"""Tokens that can only begin a query."""


class Cursor:
    """Reads tokens from left to right; the levels of the grammar are its subclasses.

    A rule that does not fit raises `Unreadable`; `attempt` takes that as a no and goes back to where it was.
    """

    __slots__ = ("_bodies", "_kinds", "_nesting", "_simples", "_texts", "at")

    def __init__(self, tokens: Tokens) -> None:
        self._kinds = tokens.kinds
        self._texts = tokens.texts
        self._nesting = 0
        self._simples: Memory[Expression] = {}
        self._bodies: Memory[Query] = {}
        self.at = 0

    # the levels above override these, so that the levels below can ask for them

    def simple(self) -> Expression:
        """An expression without comparison."""
        raise NotImplementedError

    def query(self) -> Query:
        """A whole query: with or without WITH, one SELECT or several."""
        raise NotImplementedError

    def disjunction(self) -> Expression:
        """Conditions joined by OR."""
        raise NotImplementedError

    def condition(self) -> Expression:
        """One condition, or a plain expression."""
        raise NotImplementedError

    # moves

    def peek(self, ahead: int = 0) -> str:
        """Return the kind of a token to come, at most `LOOKAHEAD` - 1 ahead."""
        return self._kinds[self.at + ahead]

    def text(self) -> str:
        """Return the current token as written."""
        return self._texts[self.at]

    def skip(self, *kinds: str) -> bool:
        """Step over the current token if it is one of these."""
        if self._kinds[self.at] in kinds:
            self.at += 1
            return True
        return False

    def take(self, *kinds: str) -> str:
        """Step over the current token, which must be one of these, and return it as written."""
        if self._kinds[self.at] not in kinds:
            raise self.unreadable()
        self.at += 1
        return self._texts[self.at - 1]

    def take_name(self, allowed: frozenset[str]) -> str:
        """Step over a name: an identifier, a quoted name or one of the keywords that may stand for one here."""
        if self._kinds[self.at] not in allowed:
            raise self.unreadable()
        self.at += 1
        return self._texts[self.at - 1]

    def take_dotted(self, first: frozenset[str]) -> list[str]:
        """Step over a dotted name and return its parts, empty ones for doubled dots as in ``db..table``."""
        parts = [self.take_name(first)]
        while self._kinds[self.at] == ".":
            dots = 1
            while self._kinds[self.at + dots] == ".":
                dots += 1
            if self._kinds[self.at + dots] not in NEXT_NAMES:
                break
            parts.extend([""] * (dots - 1))
            parts.append(self._texts[self.at + dots])
            self.at += dots + 1
        return parts

    def take_integer(self) -> str:
        """Step over an integer. One above 2**63 - 1 parses officially, and then cannot be handed over as JSON."""
        text = self.take("integer")
        digits = text.lstrip("0")
        if len(digits) > len(str(LARGEST_INTEGER)) or int(digits or "0") > LARGEST_INTEGER:
            raise self.unreadable()
        return text

    def unreadable(self) -> Unreadable:
        """Say that the current token does not fit."""
        return Unreadable(f"unexpected {self._texts[self.at] or 'end'!r} as token {self.at + 1}")

    # combinations

    def attempt(self, rule: Callable[[], T]) -> T | None:
        """Follow a rule if it fits, else stay."""
        start = self.at
        try:
            return rule()
        except Unreadable:
            self.at = start
            return None

    def listed(self, rule: Callable[[], T]) -> list[T]:
        """Follow a rule once and again after each comma."""
        found = [rule()]
        while self.skip(","):
            found.append(rule())
        return found

    def enclosed(self, rule: Callable[[], T]) -> T:
        """Follow a rule between parentheses."""
        self.take("(")
        self._deepen()
        try:
            found = rule()
        finally:
            self._nesting -= 1
        self.take(")")
        return found

    def remembered(self, memory: Memory[T], rule: Callable[[], T]) -> T:
        """Follow a rule, once only for each place: going back must not make the work grow exponentially.

        Args:
            memory: What this rule found so far: place to result and next place, or None where it does not fit.
            rule: The rule.
        """
        start = self.at
        if start in memory:
            known = memory[start]
            if known is None:
                raise self.unreadable()
            self.at = known[1]
            return known[0]
        memory[start] = None
        self._deepen()
        try:
            found = rule()
        finally:
            self._nesting -= 1
        memory[start] = (found, self.at)
        return found

    def _deepen(self) -> None:
        """Count one more level of nesting; raise `Unreadable` beyond `MAX_NESTING`."""
        if self._nesting >= MAX_NESTING:
            raise Unreadable(f"nested deeper than {MAX_NESTING} levels")
        self._nesting += 1

    def lengthened(self, length: int) -> int:
        """Count one more operator on a level; raise `Unreadable` beyond `MAX_CHAIN`."""
        if length >= MAX_CHAIN:
            raise Unreadable(f"more than {MAX_CHAIN} operators on one level")
        return length + 1
