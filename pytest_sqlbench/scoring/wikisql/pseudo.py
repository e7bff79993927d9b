"""Reading the unquoted pseudo-SQL of the common mirrors: ``SELECT COUNT School/Club Team FROM table WHERE No. = 3``."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_sqlbench.logical_form import AGGREGATES, OPERATORS, Condition, LogicalForm, WebTable
from pytest_sqlbench.scoring.wikisql.lexer import MAX_TEXT
from pytest_sqlbench.scoring.wikisql.reader import table_names


def read_pseudo(text: str, table: WebTable) -> LogicalForm | None:
    """Read pseudo-SQL by looking for the table's own headers; None where it does not fit them.

    Nothing is quoted, so a value may hold `` AND Year = ``: the reading with the most conditions is taken. Values are
    texts, as written.
    """
    if len(text) > MAX_TEXT:
        return None
    for flags in (0, re.IGNORECASE):
        head, condition = _patterns(table, flags)
        found = head.fullmatch(text)
        if found is None:
            continue
        conds = _conditions(found["conds"], condition, table) if found["conds"] is not None else ()
        if conds is not None:
            agg = AGGREGATES.index(found["agg"].upper()) if found["agg"] else 0
            return LogicalForm(_column(table, found["header"]), agg, conds)
    return None


@lru_cache(maxsize=256)
def _patterns(table: WebTable, flags: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Build the patterns of the whole query and of the beginning of one condition; long headers are tried first."""
    folded = {_folded(header) for header in table.headers if header.strip()}
    headers = sorted(folded, key=lambda text: (-len(text), text))
    either = "|".join(r"\s+".join(re.escape(word) for word in header.split()) for header in headers) or "(?!)"
    names = "|".join(re.escape(name) for name in table_names(table))
    aggregates = "|".join(AGGREGATES[1:])
    head = re.compile(
        rf"\s*(?i:select)\s+(?:(?P<agg>{aggregates})\s+)?(?P<header>{either})\s+(?i:from)\s+(?i:{names})"
        rf"(?:\s+(?i:where)\s+(?P<conds>.*)|\s*;?\s*)",
        flags | re.DOTALL,
    )
    return head, re.compile(rf"(?P<header>{either})\s+(?P<operator>[=<>])\s", flags)


_AND = re.compile(r"\s(?i:and)\s+")


def _conditions(text: str, condition: re.Pattern[str], table: WebTable) -> tuple[Condition, ...] | None:
    first = condition.match(text)
    if first is None:
        return None
    heads = [(0, first)]
    place = first.end()
    while found := _AND.search(text, max(place - 1, 0)):
        head = condition.match(text, found.end())
        if head is not None:
            heads.append((found.start(), head))
        place = head.end() if head is not None else found.start() + 2
    ends = [start for start, _ in heads[1:]] + [len(text)]
    return tuple(
        Condition(_column(table, head["header"]), OPERATORS.index(head["operator"]), text[head.end() : end])
        for (_, head), end in zip(heads, ends, strict=True)
    )


def _folded(header: str) -> str:
    return " ".join(header.split())


def _column(table: WebTable, text: str) -> int:
    """Find the column of a header that was matched, the one of the same case first."""
    wanted = _folded(text)
    folded = [_folded(header) for header in table.headers]
    if wanted in folded:
        return folded.index(wanted)
    return [header.casefold() for header in folded].index(wanted.casefold())
