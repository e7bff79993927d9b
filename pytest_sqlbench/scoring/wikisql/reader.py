"""Reading SQL text back into a logical form: a hand-made reader of exactly the queries that a logical form can say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pytest_sqlbench.logical_form import AGGREGATES, Condition, LogicalForm, WebTable
from pytest_sqlbench.scoring.wikisql.lexer import MAX_TEXT, Token, tokenize
from pytest_sqlbench.scoring.wikisql.record import NoForm
from pytest_sqlbench.verdict import Reason

_OPERATOR_OF = {"=": 0, "==": 0, ">": 1, "<": 2}
_END = Token("end", "", "", -1)
_RESERVED = frozenset(
    "all and as between by case check collate create cross default delete distinct drop else escape except exists from "
    "full group having in inner insert intersect into is isnull join left limit natural not notnull null on or order "
    "outer right select set table then to transaction union unique update using values when where".split()
)
"""Words that SQLite does not take as a name without quotes."""


class UnreadableError(Exception):
    """The text is not the SQL of a logical form."""

    def __init__(self, detail: str, reason: Reason = Reason.SYNTAX) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason


def read_sql(text: str, table: WebTable) -> LogicalForm | NoForm:
    """Read ``SELECT [AGG(]column[)] FROM table [WHERE column op value AND ...]`` over real headers or ``col0``...

    Names may be bare, in double quotes, back ticks or brackets, and qualified by the table or its alias; case does not
    matter. Conditions may stand in parentheses. An unknown name in double quotes where a value belongs is a text,
    as SQLite has it; where a column belongs it is no such column.

    Returns:
        The form; or `NoForm` that is marked as a query, since what has no logical form may still be SQL.
    """
    if len(text) > MAX_TEXT:
        return NoForm(Reason.SYNTAX, f"the statement has {len(text)} characters; at most {MAX_TEXT} are read")
    try:
        return _Reader(tokenize(text), table).read()
    except UnreadableError as error:
        return NoForm(error.reason, error.detail, is_query=True)


@lru_cache(maxsize=256)
def column_index(table: WebTable) -> Mapping[str, int]:
    """Map every spelling of a column to its index: ``col0``..., headers in lower case, headers as they are."""
    index = {f"col{number}": number for number in range(len(table.headers))}
    for number in reversed(range(len(table.headers))):
        index[table.headers[number].casefold()] = number
    return index


@lru_cache(maxsize=256)
def table_names(table: WebTable) -> tuple[str, ...]:
    """List the names by which a query may call the table, in lower case.

    The published files themselves spell it in three ways: ``1-10015132-11``, ``table_1_10015132_11`` and, as its
    ``name``, ``table_10015132_11`` without the phase.
    """
    without_phase = "table_" + table.id.partition("-")[2].replace("-", "_")
    return ("table", table.id.lower(), table.name.lower(), without_phase.lower())


class _Reader:
    """Walks the tokens once; each method reads one part of the query and moves on."""

    def __init__(self, tokens: list[Token], table: WebTable) -> None:
        self._tokens = tokens
        self._table = table
        self._columns = column_index(table)
        self._at = 0
        self._tables = table_names(table)
        self._names = set(self._tables)

    def read(self) -> LogicalForm:
        self._expect("select")
        self._find_alias()
        sel, agg = self._selection()
        self._table_part()
        conds = self._where() if self._take("where") else []
        self._take(";")
        if self._peek().kind != "end":
            raise UnreadableError(f"a logical form ends before {self._peek().text!r}")
        return LogicalForm(sel, agg, tuple(conds))

    def _find_alias(self) -> None:
        """Learn the table's alias before the select list uses it."""
        for number, token in enumerate(self._tokens):
            if token.kind == "word" and token.text.lower() == "from":
                after = self._tokens[number + 2 : number + 4]
                if after and after[0].text.lower() == "as":
                    after = after[1:]
                if after and after[0].kind in ("word", "quoted") and after[0].text.lower() not in _RESERVED:
                    self._names.add(after[0].value.lower())
                return

    def _peek(self, ahead: int = 0) -> Token:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else _END

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _take(self, text: str) -> bool:
        token = self._peek()
        if token.kind in ("word", "sign") and token.text.lower() == text:
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise UnreadableError(f"expected {text.upper()}, found {self._peek().text[:40]!r}")

    def _selection(self) -> tuple[int, int]:
        agg = 0
        word = self._peek().text.upper()
        if self._peek().kind == "word" and word in AGGREGATES and self._peek(1).text == "(":
            agg = AGGREGATES.index(word)
            self._at += 2
        sel = self._column()
        last = self._tokens[self._at - 1]
        if agg:
            self._expect(")")
        has_as = self._take("as")
        if has_as or (self._peek().kind in ("word", "quoted") and self._peek().text.lower() not in _RESERVED):
            label = self._next()
            if label.kind not in ("word", "quoted", "string"):
                raise UnreadableError(f"expected a label, found {label.text[:40]!r}")
            if not has_as and f"{last.value} {label.value}".casefold() in self._columns:
                raise UnreadableError(f"the header {last.value} {label.value} needs quotes")
        return sel, agg

    def _table_part(self) -> None:
        self._expect("from")
        token = self._peek()
        if token.kind not in ("word", "quoted") or token.value.lower() not in self._tables:
            raise UnreadableError(f"no such table: {token.value[:80]}", Reason.NO_SUCH_TABLE)
        self._at += 1
        if self._take("as") or (self._peek().kind in ("word", "quoted") and self._peek().text.lower() not in _RESERVED):
            self._at += 1

    def _column(self) -> int:
        token = self._next()
        if self._peek().text == "." and token.kind in ("word", "quoted") and token.value.lower() in self._names:
            self._at += 1
            token = self._next()
        if token.kind not in ("word", "quoted") or (token.kind == "word" and token.text.lower() in _RESERVED):
            raise UnreadableError(f"a logical form has a column where {token.text[:40]!r} stands")
        if token.kind == "word" and self._peek().text == "(":
            raise UnreadableError(f"a logical form has no function {token.text[:40]!r}")
        found = self._columns.get(token.value.casefold())
        if found is None:
            raise UnreadableError(f"no such column: {token.value[:80]}", Reason.NO_SUCH_COLUMN)
        return found

    def _where(self) -> list[Condition]:
        """Read conditions joined by AND; parentheses around any of them change nothing and only have to balance."""
        conds = []
        depth = 0
        while True:
            while self._take("("):
                depth += 1
            conds.append(self._condition())
            while depth and self._take(")"):
                depth -= 1
            if not self._take("and"):
                break
        if depth:
            raise UnreadableError(f"a logical form has AND or ) where {self._peek().text[:40]!r} stands")
        return conds

    def _condition(self) -> Condition:
        column = self._column()
        operator = _OPERATOR_OF.get(self._peek().text)
        if operator is None:
            raise UnreadableError(f"a logical form has =, > or < where {self._peek().text[:40]!r} stands")
        self._at += 1
        return Condition(column, operator, self._value())

    def _value(self) -> object:
        sign = ""
        while self._peek().text in ("-", "+"):
            sign = self._peek().text if not sign else "?"
            self._at += 1
        token = self._next()
        if token.kind == "number" and sign != "?":
            return _number(sign.replace("+", "") + token.text)
        if token.kind == "string" and not sign:
            return token.value
        is_name = token.kind == "quoted" and token.text[0] == '"' and not sign
        if is_name and token.value.casefold() not in self._columns:
            return token.value
        raise UnreadableError(f"a logical form has a value where {token.text[:40]!r} stands")


def _number(text: str) -> int | float:
    """Read a number as SQLite does: an integer that does not fit into 64 bits is a float."""
    digits = text.removeprefix("-")
    if digits.isdigit() and len(digits) < 20 and -(2**63) <= int(text) < 2**63:
        return int(text)
    return float(text)
