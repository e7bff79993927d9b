"""The words of WikiSQL: a logical form and the web table that it asks. Records and their spelling as SQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

AGGREGATES = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
OPERATORS = ("=", ">", "<", "OP")
"""The published list; the fourth was never used and is no SQL."""


class Condition(NamedTuple):
    """One comparison of a WHERE clause; all of them are joined by AND."""

    column: int
    operator: int
    """Index into `OPERATORS`."""
    value: object
    """str, int or float in gold; whatever JSON can say in a prediction."""


@dataclass(frozen=True, slots=True)
class LogicalForm:
    """``SELECT agg(sel) FROM the table WHERE conditions``.

    A gold form has indices in range. A predicted form may hold anything that JSON can say, because the published
    evaluator takes it as it comes; whoever executes it checks.
    """

    sel: int
    agg: int = 0
    """Index into `AGGREGATES`."""
    conds: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class WebTable:
    """One table: its columns as the page named them. Equal only to itself, so that it can key a cache."""

    id: str
    """As published: ``1-10015132-11``."""
    headers: tuple[str, ...]
    types: tuple[str, ...]
    """``text`` or ``real``, one for each header."""
    title: str = ""
    """Page, section or caption, where the file tells."""
    offset: int = -1
    """Where its line begins in the tables file, in bytes; -1 where there is none."""
    rows: int = -1
    """How many rows the tables file gives it; -1 where it gives none."""

    name: str = field(init=False, default="")
    """Its name in the published databases: ``table_1_10015132_11``."""

    def __post_init__(self) -> None:
        """Spell the name once: every statement needs it."""
        object.__setattr__(self, "name", sql_name(self.id))


def sql_name(table_id: str) -> str:
    """Spell a table's id as the published databases do."""
    return table_id if table_id.startswith("table") else "table_" + table_id.replace("-", "_")


def quote(name: str) -> str:
    """Quote an SQL identifier.

    >>> quote('Kickoff [a ]')
    '"Kickoff [a ]"'
    """
    return '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=256)
def column_names(table: WebTable) -> tuple[str, ...]:
    """Spell every column for SQL by its header; by ``colN`` where an earlier column has the same header."""
    names = []
    seen = {""}
    for column, header in enumerate(table.headers):
        folded = header.casefold()
        names.append(f"col{column}" if folded in seen else quote(header))
        seen.add(folded)
    return tuple(names)


def literal(value: object) -> str:
    """Spell a condition's value as an SQL literal; numbers keep their type.

    >>> literal("O'Brien"), literal(3), literal(2.0)
    ("'O''Brien'", '3', '2.0')
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def render_sql(form: LogicalForm, table: WebTable) -> str:
    """Spell a form with valid indices as SQL over the table's real headers.

    >>> table = WebTable("1-7-2", ("Player", "No."), ("text", "real"))
    >>> render_sql(LogicalForm(0, 3, (Condition(1, 1, 21),)), table)
    'SELECT COUNT("Player") FROM "table_1_7_2" WHERE "No." > 21'
    """
    names = column_names(table)
    column = names[form.sel]
    selected = f"{AGGREGATES[form.agg]}({column})" if form.agg else column
    text = f'SELECT {selected} FROM "{table.name}"'
    if form.conds:
        text += " WHERE " + " AND ".join(
            f"{names[column]} {OPERATORS[operator]} {literal(value)}" for column, operator, value in form.conds
        )
    return text


def describe_table(table: WebTable) -> str:
    """Write the table's DDL with its real headers, as a prompt may show it."""
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(column_names(table), table.types, strict=True))
    title = f"-- {' '.join(table.title.split())}\n" if table.title else ""
    return f'{title}CREATE TABLE "{table.name}" ({columns});'
