"""Giving SQL without a logical form the table under its real headers, which the databases call ``col0``..."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_sqlbench.logical_form import WebTable, quote
from pytest_sqlbench.scoring.wikisql.lexer import MAX_TEXT, Token, tokenize
from pytest_sqlbench.scoring.wikisql.reader import column_index, table_names
from pytest_sqlbench.scoring.wikisql.statement import Mode

_COLUMN = re.compile(r"col[0-9]+", re.IGNORECASE)
_BEFORE_VALUE = frozenset({"=", "==", "<>", "!=", "<", ">", "<=", ">=", "like", "glob", "between"})


def wrap_query(text: str, table: WebTable, mode: Mode, comma_columns: Collection[int] = ()) -> str:
    """Put a common table expression before a SELECT, so that it finds the table by any of its names.

    Texts are lower-cased, since the published databases hold lower-cased cells. In ``strict`` mode an unknown name in
    double quotes is a text only where a value stands, and the columns in ``comma_columns`` (numbers written with
    commas) are read as numbers. Anything that does not begin with SELECT or WITH comes back as it is.
    """
    tokens = tokenize(text[:MAX_TEXT])
    first = tokens[0].text.lower() if tokens else ""
    if first not in ("select", "with", "values") or len(text) > MAX_TEXT:
        return text
    names = _names_used(tokens, table)
    body = _spelled(tokens, table, mode)
    source = _source(tokens, table, comma_columns if mode == "strict" else ())
    tables = ", ".join(f"{quote(name)} AS ({source})" for name in names)
    if not tables:
        return " ".join(body)
    if first != "with":
        return f"WITH {tables} {' '.join(body)}"
    start = 2 if len(tokens) > 1 and tokens[1].text.lower() == "recursive" else 1
    return f"{' '.join(body[:start])} {tables}, {' '.join(body[start:])}"


def _names_used(tokens: list[Token], table: WebTable) -> list[str]:
    known = table_names(table)
    used = {token.value.lower() for token in tokens if token.kind in ("word", "quoted")}
    return [name for name in dict.fromkeys(known) if name in used]


def _source(tokens: list[Token], table: WebTable, comma_columns: Collection[int]) -> str:
    index = column_index(table)
    is_numbered = any(
        token.kind in ("word", "quoted") and _COLUMN.fullmatch(token.value) and token.value.lower() in index
        for token in tokens
    )
    columns = []
    for number, header in enumerate(table.headers):
        name = f"col{number}"
        source = name
        if number in comma_columns:
            plain = f"ltrim({name}, '-')"
            source = (
                f"CASE WHEN typeof({name}) = 'text' AND {plain} GLOB '[0-9]*' AND NOT {plain} GLOB '*[^0-9,.]*'"
                f" THEN CAST(replace({name}, ',', '') AS REAL) ELSE {name} END"
            )
        columns.append(f"{source} AS {name if is_numbered or not header else quote(header)}")
    # the schema's name keeps the expression from meaning itself
    return f'SELECT {", ".join(columns)} FROM main."{table.name}"'


def _spelled(tokens: list[Token], table: WebTable, mode: Mode) -> list[str]:
    known = {*column_index(table), *table_names(table), *_declared(tokens)}
    spelled = []
    for place, token in enumerate(tokens):
        text = token.text
        if token.kind == "string":
            text = token.text.lower()
        elif token.kind == "quoted" and token.text[0] == '"' and token.value.casefold() not in known:
            is_value = mode != "strict" or _before_value(tokens, place)
            # back ticks always mean a name; SQLite would take "Nope" for a text where no column is called so
            text = _text(token.value.lower()) if is_value else f"`{token.value.replace('`', '``')}`"
        elif token.kind == "word" and token.text.lower() == "table":
            text = '"table"'
        spelled.append(text)
    return spelled


def _declared(tokens: list[Token]) -> set[str]:
    """Collect the names that the query itself makes or qualifies: aliases, its own table expressions."""
    names = set()
    for place, token in enumerate(tokens):
        before = tokens[place - 1].text.lower() if place else ""
        after = tokens[place + 1].text.lower() if place + 1 < len(tokens) else ""
        # "x" AS (...) makes a name; "x" AS y does not
        opens = tokens[place + 2].text if place + 2 < len(tokens) else ""
        if token.kind == "quoted" and (before in ("as", ".") or after == "." or (after == "as" and opens == "(")):
            names.add(token.value.casefold())
    return names


def _before_value(tokens: list[Token], place: int) -> bool:
    """Say whether a value may stand here: after a comparison, or inside the list of an IN."""
    while place > 1 and tokens[place - 1].text in (",", "("):
        if tokens[place - 1].text == "(":
            return tokens[place - 2].text.lower() == "in"
        place -= 2
    if place > 2 and tokens[place - 1].text.lower() == "and":
        return tokens[place - 3].text.lower() == "between"
    return place > 0 and tokens[place - 1].text.lower() in _BEFORE_VALUE


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
