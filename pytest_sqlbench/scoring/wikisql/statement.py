"""From a logical form to one statement with bound values, officially (quirks and all) and strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from pytest_sqlbench.logical_form import AGGREGATES, OPERATORS, LogicalForm, WebTable
from pytest_sqlbench.result import QueryFailure, Status

Mode = Literal["official", "strict", "seed"]
"""Which rules execute and compare. ``seed``: rendered text, rows as a set, form equality by exact text."""

MODES: tuple[str, ...] = get_args(Mode)


class Statement(NamedTuple):
    """SQL over the columns ``col0``, ``col1``... of the table's published name, and the values to bind."""

    sql: str
    values: Sequence[object]


_FIRST_NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")
_PLAIN_NUMBER = re.compile(r"\s*[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d{1,3})?\s*", re.ASCII)


def official_number(text: str) -> float:
    """Read a number as the published evaluator does in the locale en_US.

    Commas are dropped wherever they stand; where the rest is no number, the first digits found count, without a sign.

    >>> official_number("1,200"), official_number("1,2"), official_number("-5 km"), official_number("1,200 km")
    (1200.0, 12.0, 5.0, 1.0)

    Raises:
        ValueError: There is no digit in it.
    """
    try:
        return float(Decimal(text.replace(",", "")))
    except InvalidOperation:
        found = _FIRST_NUMBER.search(text)
        if found is None:
            raise ValueError(f"no number in {text[:80]!r}") from None
        return float(found.group())


def strict_number(text: str) -> float | None:
    """Read a number with or without thousands separators; None where the whole text is no number.

    >>> strict_number("19,952.5"), strict_number("1,2"), strict_number("5 km")
    (19952.5, None, None)
    """
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def compile_form(form: LogicalForm, table: WebTable, mode: Mode) -> Statement | QueryFailure:
    """Turn a form into a statement, or say why it cannot run.

    Column and operator names come from closed lists, never from the form's text, so nothing can be injected.
    """
    columns = _column_types(table)
    selected = f"col{form.sel}"
    if selected not in columns:
        return QueryFailure(Status.NO_SUCH_COLUMN, f"no column {form.sel!r}: the table has {len(columns)}")
    aggregate = _pick(AGGREGATES, form.agg)
    if aggregate is None:
        return QueryFailure(Status.ERROR, f"no aggregate {form.agg!r}: the list has {len(AGGREGATES)}")
    if mode == "strict":
        return _strict(form, table, columns, selected, aggregate)
    tests, values = [], []
    last: dict[str, object] = {}
    for column, operator, value in form.conds:
        test = _test(columns, column, operator)
        if isinstance(test, QueryFailure):
            return test
        try:
            value = _official_value(value, columns[f"col{column}"] == "real")
        except (ValueError, AttributeError) as error:
            return QueryFailure(Status.ERROR, f"value {str(value)[:80]!r} for a number column: {error}")
        last[f"col{column}"] = value
        tests.append(test)
        values.append(value)
    if mode == "official" and len(last) < len(values):
        # two conditions on one column share one named bind in the published statement: the last value wins
        values = [last[f"col{column}"] for column, _, _ in form.conds]
    return Statement(_select(table, f"{aggregate}({selected})" if aggregate else selected, tests), values)


@lru_cache(maxsize=256)
def _column_types(table: WebTable) -> Mapping[str, str]:
    return {f"col{index}": kind for index, kind in enumerate(table.types)}


def same_statement(gold: LogicalForm, predicted: LogicalForm, table: WebTable) -> bool:
    """Decide whether two forms give the same text once their values are normalised: the rule of mode ``seed``."""
    one, other = compile_form(gold, table, "seed"), compile_form(predicted, table, "seed")
    if isinstance(one, QueryFailure) or isinstance(other, QueryFailure):
        return False
    return one.sql == other.sql and list(map(repr, one.values)) == list(map(repr, other.values))


def _official_value(value: object, is_real: bool) -> object:
    if isinstance(value, str):
        value = value.lower()
    if is_real and not isinstance(value, (int, float)):
        if not isinstance(value, str):
            raise ValueError("it is neither a number nor a text")
        return official_number(value)
    return value


def _strict(
    form: LogicalForm, table: WebTable, columns: Mapping[str, str], selected: str, aggregate: str
) -> Statement | QueryFailure:
    tests, values = [], []
    for column, operator, value in form.conds:
        test = _test(columns, column, operator)
        if isinstance(test, QueryFailure):
            return test
        is_real = columns[f"col{column}"] == "real"
        if isinstance(value, str):
            number = strict_number(value) if is_real else None
            value = value.lower() if number is None else number
        if is_real and OPERATORS[operator] != "=":
            # SQLite sorts every text above every number: without this "n/a" would be greater than 5
            test += f" AND typeof(col{column}) <> 'text'"
        tests.append(test)
        values.append(value)
    if columns[selected] == "real" and aggregate in ("MAX", "MIN", "SUM", "AVG"):
        selected = f"CASE WHEN typeof({selected}) <> 'text' THEN {selected} END"
    return Statement(_select(table, f"{aggregate}({selected})" if aggregate else selected, tests), values)


def _test(columns: Mapping[str, str], column: object, operator: object) -> str | QueryFailure:
    name = f"col{column}"
    if name not in columns:
        return QueryFailure(Status.NO_SUCH_COLUMN, f"no column {column!r}: the table has {len(columns)}")
    sign = _pick(OPERATORS, operator)
    if sign is None or sign == "OP":
        return QueryFailure(Status.SYNTAX, f"no operator {operator!r}. Known: 0 (=), 1 (>), 2 (<).")
    return f"{name} {sign} ?"


def _select(table: WebTable, selected: str, tests: list[str]) -> str:
    where = " WHERE " + " AND ".join(tests) if tests else ""
    return f'SELECT {selected} FROM "{table.name}"{where}'


def _pick(names: tuple[str, ...], index: object) -> str | None:
    """Index as Python does, so that -1 is the last: the published evaluator does."""
    if isinstance(index, int) and -len(names) <= index < len(names):
        return names[index]
    return None
