"""Telling the three shapes of a prediction apart: a record, SQL, or the mirrors' pseudo-SQL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pytest_sqlbench.logical_form import LogicalForm, WebTable
from pytest_sqlbench.scoring.wikisql.equality import equal_forms
from pytest_sqlbench.scoring.wikisql.pseudo import read_pseudo
from pytest_sqlbench.scoring.wikisql.reader import read_sql
from pytest_sqlbench.scoring.wikisql.record import NoForm, is_record, read_record, read_record_text

Shape = Literal["record", "sql", "pseudo"]

_QUOTES = re.compile(r"['\"`\[]")
_ODD_NUMBER = re.compile(r"(?<![\w.])(?:0[0-9]+|[0-9]*\.[0-9]*0|[0-9]+\.)(?![\w.])")
"""A number that SQL would respell: 007, 8.670."""
_QUOTED = re.compile(r"\s*'.*'\s*;?\s*", re.DOTALL)
"""The mirrors quote nothing: a value in quotes belongs to SQL, if to broken SQL."""
_SQL_IN_VALUE = re.compile(
    r"^\s*['\"`(]|\b(?:or|order|group|limit|between|like|glob|in|is|not|union|select|having|intersect|except|collate)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a prediction says."""

    shape: Shape
    form: LogicalForm | None
    trouble: NoForm | None = None
    """Why there is no form; None exactly where there is one."""
    other: LogicalForm | None = None
    """The form that the text has if it turns out to be no SQL."""


def read_answer(facts: object, text: str, table: WebTable) -> Answer:
    """Read a prediction: its structured part if it has one, else its text.

    A text that is SQL and pseudo-SQL at once counts as SQL, except where nothing in it is quoted and the two readings
    differ (``WHERE Average = 8.670``: SQL would respell the value).
    """
    if isinstance(facts, LogicalForm):
        return Answer("record", facts)
    if is_record(facts):
        return _answer("record", read_record(facts))
    recorded = read_record_text(text)
    if recorded is not None:
        return _answer("record", recorded)
    read = read_sql(text, table)
    if isinstance(read, LogicalForm):
        if _ODD_NUMBER.search(text) and not _QUOTES.search(text):
            pseudo = read_pseudo(text, table)
            if pseudo is not None and not equal_forms(pseudo, read):
                return Answer("pseudo", pseudo)
        return Answer("sql", read)
    pseudo = read_pseudo(text, table) if read.is_query else None
    if pseudo is None or any(_QUOTED.fullmatch(str(condition.value)) for condition in pseudo.conds):
        return Answer("sql", None, read)
    if _has_sql(pseudo):
        return Answer("sql", None, read, other=pseudo)
    return Answer("pseudo", pseudo)


def read_whole_reply(reply: str, table: WebTable) -> Answer | None:
    """Read a reply as pseudo-SQL from end to end, for values that look like its end: ``= Contested; served``."""
    pseudo = read_pseudo(reply.strip(), table)
    return None if pseudo is None or _has_sql(pseudo) else Answer("pseudo", pseudo)


def _has_sql(pseudo: LogicalForm) -> bool:
    return any(_SQL_IN_VALUE.search(str(condition.value)) for condition in pseudo.conds)


def _answer(shape: Shape, read: LogicalForm | NoForm) -> Answer:
    return Answer(shape, None, read) if isinstance(read, NoForm) else Answer(shape, read)
