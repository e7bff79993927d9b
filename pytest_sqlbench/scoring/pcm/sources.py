"""The grammar of FROM: tables, sub-queries, joins, hints, PIVOT. Much of it is stepped over, as the reader does."""

from __future__ import annotations

from pytest_sqlbench.scoring.pcm.conditions import ConditionGrammar
from pytest_sqlbench.scoring.pcm.cursor import OPENINGS
from pytest_sqlbench.scoring.pcm.nodes import Join, Source, Table
from pytest_sqlbench.scoring.pcm.tokens import ALIASES, FIRST_NAMES, IDENTIFIERS, NAMES

_JOIN_WORDS = frozenset(
    {"left", "right", "full", "inner", "natural", "cross", "outer", "join", ",", "straight_join", "apply"}
)
_SOURCE_SUFFIXES = frozenset({"unpivot", "pivot", "use", "show", "ignore", "force", "with"})


class SourceGrammar(ConditionGrammar):
    """The level above conditions."""

    __slots__ = ()

    def alias_if_any(self) -> bool:
        """An alias, with AS or without, perhaps with column names; say whether there was one."""
        kind = self._kinds[self.at]
        if kind not in ALIASES and kind != "as":
            return False
        self.skip("as")
        self.take_name(ALIASES)
        if self.peek() == "(" and self.peek(1) in NAMES:
            self.at += 1
            self.listed(self._alias_column)
            self.take(")")
        return True

    def _alias_column(self) -> None:
        self.take_name(NAMES)
        if self.peek() not in (",", ")"):
            self.column_type()

    def joins(self) -> list[Join]:
        """The further tables of a FROM; a comma joins too."""
        found: list[Join] = []
        while self.peek() in _JOIN_WORDS:
            self._join_kind()
            source = self.source()
            if self.skip("on"):
                found.append(Join(source, self.disjunction()))
                continue
            if self.skip("using"):
                self.take("(")
                self.listed(self._dotted)
                self.take(")")
            found.append(Join(source))
        return found

    def _join_kind(self) -> None:
        if self.skip("left"):
            self.skip("semi", "outer")
        elif self.skip("right", "full"):
            self.skip("outer")
        else:
            self.skip("inner", "natural", "cross", "outer")
        if self.skip(","):
            self.skip("outer")
        else:
            self.take("join", "straight_join", "apply")

    def source(self) -> Source:
        """One table of a FROM with its alias, pivots and hints. A plain table in parentheses does not fit."""
        kind = self.peek()
        found: Source = None
        if kind == "(" and self.peek(1) == "values":
            self._value_rows()
            return None
        if kind == "(":
            found = self.enclosed(self._enclosed_source)
            if self.peek() == "unpivot":
                self._unpivot()
        elif self.skip("lateral"):
            self.enclosed(self.query)
        else:
            found = self._table()
        self.alias_if_any()
        if self.peek() in _SOURCE_SUFFIXES:
            self._suffixes()
        return found

    def _suffixes(self) -> None:
        if self.peek() == "unpivot":
            self._unpivot()
        if self.peek() == "pivot":
            self._pivot()
        self._hints()

    def _table(self) -> Source:
        start = self.at
        parts = self._dotted() if self.peek() != "{" else []
        if parts and self.peek() != "(":
            return Table(".".join(parts), parts[-1])
        self.at = start
        self.function()
        self.alias_if_any()  # a table function may have two aliases
        return None

    def _dotted(self) -> list[str]:
        return self.take_dotted(FIRST_NAMES)

    def _enclosed_source(self) -> Source:
        """Joined tables, from which nothing is read, or a sub-query."""
        if self.peek() in OPENINGS:
            return self.query()
        if self.attempt(self._joined):
            return None
        if self.peek() != "(":
            raise self.unreadable()
        return self.query()

    def _joined(self) -> bool:
        self.source()
        if not self.joins():
            raise self.unreadable()
        return True

    def _value_rows(self) -> None:
        self.take("(")
        self.take("values")
        if self.peek() == "(":
            self.listed(lambda: self.enclosed(lambda: self.listed(self.simple)))
        else:
            self.listed(self.simple)
        self.take(")")
        if self.alias_if_any() and self.skip("("):
            self.listed(lambda: self.take_name(NAMES))
            self.take(")")

    def _hints(self) -> None:
        """``WITH (NOLOCK)`` and its like."""
        if self.peek() in ("use", "show", "ignore", "force") and self.peek(1) in ("index", "key"):
            self.at += 2
            self.enclosed(lambda: self.listed(lambda: self.take_name(IDENTIFIERS)))
        elif self.peek() == "with" and self.peek(1) == "(":
            self.at += 1
            self.enclosed(lambda: self.listed(self._hint))

    def _hint(self) -> None:
        if self.skip("index"):
            self.enclosed(lambda: self.take_name(NAMES))
        else:
            self.take("nolock")

    def _pivot(self) -> None:
        self.take("pivot")
        self.take("(")
        self.listed(self._pivot_function)
        self._pivot_columns()
        self.take(")")
        self.alias_if_any()

    def _pivot_function(self) -> None:
        self.function()
        self.alias_if_any()

    def _pivot_columns(self) -> None:
        """``FOR column IN (values)``."""
        self.take("for")
        if self.peek() == "(":
            self.enclosed(lambda: self.listed(self._dotted))
        else:
            self._dotted()
        self.take("in")
        self.enclosed(lambda: self.listed(self._pivot_value))

    def _pivot_value(self) -> None:
        self.simple()
        self.alias_if_any()

    def _unpivot(self) -> None:
        self.take("unpivot")
        if self.skip("include", "exclude"):
            self.take("nulls")
        self.take("(")
        self._dotted()
        self._pivot_columns()
        self.take(")")
