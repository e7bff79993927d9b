"""What two queries look at: the constants they compare columns with, and the columns they join.

Read off the tokens, not off a tree: it costs a tenth of parsing, and a clue too many only widens what values are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pytest_sqlbench.scoring.witness.tables import Schema

ColumnName = tuple[str, str]
"""Table and column, lower-cased."""

_TOKEN = re.compile(
    r"""
      --[^\n]*|/\*.*?\*/
    | (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>[<>=!]+|[(),.*+/%|-])
    """,
    re.VERBOSE | re.DOTALL,
)
_COMPARING = frozenset({"=", "==", "<>", "!=", "<", ">", "<=", ">=", "like", "glob", "is", "in", "between", "not"})
_KEYWORDS = frozenset(
    """select from where group order by having limit join inner left right full outer cross natural on using union
    intersect except all distinct as and or case when then else end exists with values offset asc desc""".split()
)
_SET = frozenset({"union", "intersect", "except"})


@dataclass(slots=True)
class Clues:
    """What was found in queries."""

    by_column: dict[ColumnName, list[object]] = field(default_factory=dict)
    """The constants that a column is compared with."""
    joined: list[tuple[ColumnName, ColumnName]] = field(default_factory=list)
    """Columns that are compared with each other."""
    tables: set[str] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    """Names of columns that are read, lower-cased."""
    reads_all: bool = False
    """True if a star may stand for columns."""

    def may_read(self, column: str) -> bool:
        """Say whether a column of this lower-cased name may be read; False is certain."""
        return self.reads_all or column in self.columns


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """``text``, ``number``, ``column``, ``word`` or ``sign``."""
    value: object
    columns: tuple[ColumnName, ...] = ()
    """Of a column: where it may come from."""


def find_clues(queries: Iterable[str], schema: Schema) -> Clues:
    """Read queries of SQLite's grammar, whatever they hold."""
    clues = Clues()
    raw = [[match for match in _TOKEN.finditer(sql) if match.lastgroup] for sql in queries]
    names = schema.column_names()
    for tokens in raw:
        clues.tables.update(name for name in map(_name, tokens) if name in schema.tables)
    for tokens in raw:
        read = _Reader(schema, clues, names, tokens).tokens
        _read_comparisons(read, clues)
        _read_set_operations(read, clues)
    return clues


def _name(token: re.Match[str]) -> str:
    if token["word"]:
        return token["word"].lower()
    return token["quoted"][1:-1].lower() if token["quoted"] else ""


class _Reader:
    """Turns raw tokens into constants and columns."""

    def __init__(self, schema: Schema, clues: Clues, names: frozenset[str], raw: Sequence[re.Match[str]]) -> None:
        self._schema, self._clues, self._names = schema, clues, names
        self._aliases = self._find_aliases(raw)
        self.tokens = list(self._read(raw))

    def _find_aliases(self, raw: Sequence[re.Match[str]]) -> dict[str, set[str]]:
        aliases: dict[str, set[str]] = {}
        for place, token in enumerate(raw):
            table = _name(token)
            if table not in self._schema.tables:
                continue
            aliases.setdefault(table, set()).add(table)
            following = place + 1
            if following < len(raw) and _name(raw[following]) == "as":
                following += 1
            alias = _name(raw[following]) if following < len(raw) else ""
            if alias and alias not in _KEYWORDS:
                aliases.setdefault(alias, set()).add(table)
        return aliases

    def _read(self, raw: Sequence[re.Match[str]]) -> Iterator[_Token]:
        place = 0
        while place < len(raw):
            token = raw[place]
            if token["text"]:
                yield _Token("text", token["text"][1:-1].replace("''", "'"))
            elif token["number"]:
                yield _Token("number", _number(token["number"]))
            elif token["sign"]:
                if token["sign"] == "*":
                    self._note_star(raw, place)
                yield _Token("sign", token["sign"])
            else:
                name, owner = _name(token), ""
                if place + 2 < len(raw) and raw[place + 1]["sign"] == "." and (inner := _name(raw[place + 2])):
                    name, owner, place = inner, name, place + 2
                yield self._named(name, owner, token)
            place += 1

    def _note_star(self, raw: Sequence[re.Match[str]], place: int) -> None:
        """A star counts rows in ``count(*)``, multiplies between two operands, and else stands for columns."""
        before = raw[place - 1] if place else None
        opens = before is not None and before["sign"] == "(" and place >= 2 and _name(raw[place - 2]) == "count"
        starts = before is None or before["sign"] in (",", ".") or _name(before) in ("select", "distinct", "all")
        if starts and not opens:
            self._clues.reads_all = True

    def _named(self, name: str, owner: str, token: re.Match[str]) -> _Token:
        if name == "natural" and not owner:
            self._clues.reads_all = True
        if name in self._names and (owner or name not in _KEYWORDS or token["quoted"]):
            self._clues.columns.add(name)
            tables = self._aliases.get(owner, self._clues.tables) if owner else self._clues.tables
            places = tuple(
                (table, name) for table in sorted(tables) if self._schema.tables[table].find(name) is not None
            )
            return _Token("column", name, places)
        if token["quoted"] and token["quoted"][0] == '"' and not owner:
            # SQLite reads an unknown "name" as text
            return _Token("text", token["quoted"][1:-1].replace('""', '"'))
        return _Token("word", name)


def _read_comparisons(tokens: Sequence[_Token], clues: Clues) -> None:
    """Pair what stands on both sides of each comparison, looking past brackets and functions."""
    for place, token in enumerate(tokens):
        if token.value not in _COMPARING or token.kind not in ("sign", "word"):
            continue
        left = _nearest(tokens, range(place - 1, max(-1, place - 8), -1))
        if left is None:
            continue
        reach = 40 if token.value in ("in", "between") else 8
        for right in _operands(tokens, place + 1, reach, is_list=token.value in ("in", "between")):
            _pair(left, right, clues)


def _nearest(tokens: Sequence[_Token], places: Iterable[int]) -> _Token | None:
    for place in places:
        token = tokens[place]
        if token.kind in ("column", "text", "number"):
            return token
        if token.kind == "word" and token.value in ("where", "and", "or", "on", "having", "when", "select"):
            return None
    return None


def _operands(tokens: Sequence[_Token], start: int, reach: int, is_list: bool) -> Iterator[_Token]:
    is_negative = False
    for token in tokens[start : start + reach]:
        if token.kind in ("column", "text", "number"):
            value = token.value
            if is_negative and isinstance(value, (int, float)):
                yield _Token("number", -value)
            yield token
            if not is_list or token.kind == "column":
                return
        elif token.kind == "word" and token.value in ("or", "group", "order", "limit", "having", "where", "from"):
            return
        is_negative = token.kind == "sign" and token.value == "-"


def _pair(left: _Token, right: _Token, clues: Clues) -> None:
    if left.kind == "column" and right.kind == "column":
        clues.joined.extend((one, other) for one in left.columns for other in right.columns if one != other)
    elif left.kind == "column" or right.kind == "column":
        column, constant = (left, right) if left.kind == "column" else (right, left)
        for name in column.columns:
            clues.by_column.setdefault(name, []).append(constant.value)


def _read_set_operations(tokens: Sequence[_Token], clues: Clues) -> None:
    """Pair the first columns of the two sides of UNION, INTERSECT and EXCEPT."""
    firsts: list[tuple[int, _Token | None]] = []
    for place, token in enumerate(tokens):
        if token.kind == "word" and token.value == "select":
            firsts.append((place, _nearest(tokens, range(place + 1, min(len(tokens), place + 6)))))
    for place, token in enumerate(tokens):
        if token.kind == "word" and token.value in _SET:
            before = [first for start, first in firsts if start < place]
            after = [first for start, first in firsts if start > place]
            for one in (before[-1:] + before[:1]) if after else ():
                if one is not None and after[0] is not None:
                    _pair(one, after[0], clues)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def vary(constant: object) -> Iterator[object]:
    """Yield values around a constant: itself, near numbers, other cases, texts that a pattern fits or just misses."""
    yield constant
    if isinstance(constant, bool) or constant is None:
        return
    if isinstance(constant, int):
        yield from (constant + 1, constant - 1, constant + 2)
    elif isinstance(constant, float):
        yield from (constant + 1, constant - 1, constant + 0.25)
    elif isinstance(constant, str):
        yield from _vary_text(constant)


def _vary_text(text: str) -> Iterator[object]:
    if "%" in text or "_" in text:
        bare = text.replace("%", "").replace("_", "q")
        yield from (bare, text.replace("%", "zz").replace("_", "q"), f"{bare}z", f"z{bare}")
        return
    yield from (text.swapcase(), f"{text}z", f"z{text}")
    try:
        number = float(text)
    except ValueError:
        if text and text[-1].isdigit():  # a date or a code: its neighbour
            yield text[:-1] + str((int(text[-1]) + 1) % 10)
        return
    if number.is_integer() and abs(number) < 1e15:
        yield from (str(int(number) + 1), str(int(number) - 1))
