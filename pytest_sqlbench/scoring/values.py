"""When two cells are the same value: keys that compare and hash alike, and closeness of fractions."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import chain
from math import inf, isfinite
from typing import Any
from uuid import UUID

from pytest_sqlbench.result import Row

Key = Any
"""A hashable stand-in for a cell; equal keys mean the same value."""
KeyRow = tuple[Key, ...]

NAN = ("nan",)
"""Stands for NaN, which in Python is not even equal to itself. NULL stays None and equals only NULL."""

_PLAIN = frozenset({int, str, bool, type(None)})
_SELF = frozenset({int, str, bool, type(None), float})
_MIDNIGHT_TEXT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?")
_TIMESTAMP_TEXT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d.*)")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two numbers may lie apart where at least one has a fractional part; whole numbers are exact."""

    rel: float
    abs: float

    @property
    def is_zero(self) -> bool:
        """True if every number is compared exactly."""
        return self.rel == 0 and self.abs == 0

    def is_close(self, first: Key, second: Key) -> bool:
        """Say whether two keys are equal, or two numbers of which one is a fraction lie close together."""
        if first == second:
            return True
        if not (is_fraction(first) or is_fraction(second)) or not (is_number(first) and is_number(second)):
            return False
        try:
            distance = abs(first - second)
        except OverflowError:  # a whole number that no float can hold
            return False
        return bool(isfinite(distance) and distance <= max(self.rel * max(abs(first), abs(second)), self.abs))


def is_number(key: Key) -> bool:
    """Say whether a normalised key is a number (true and false are 1 and 0)."""
    return isinstance(key, (int, float))


def is_fraction(key: Key) -> bool:
    """Say whether a normalised key is a finite number with a fractional part."""
    return type(key) is float and isfinite(key) and not key.is_integer()


def normalised_key(cell: object) -> Key:
    """Return the key under which 1, 1.0, Decimal(1) and True are one value, and midnight is its date.

    A date equals its ISO text, so that engines with and without a date type can be compared. Text never equals a
    number: ``'2'`` is not 2.

    >>> normalised_key(Decimal("1.00")), normalised_key(datetime(2020, 1, 1)), normalised_key("007")
    (1, '2020-01-01', '007')
    """
    kind = type(cell)
    if kind in _PLAIN:
        return cell
    if kind is float:
        return cell if cell == cell else NAN
    return _unusual_key(cell, normalised_key)


def _unusual_key(cell: object, inner: Callable[[object], Key]) -> Key:
    if isinstance(cell, Decimal):
        if cell.is_nan():
            return NAN
        if cell.is_finite() and cell == cell.to_integral_value():
            return int(cell)
        return float(cell)
    if isinstance(cell, datetime):
        return _moment_text(cell)
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, (bytes, bytearray, memoryview)):
        return bytes(cell)
    if isinstance(cell, UUID):
        return str(cell)
    if isinstance(cell, timedelta):
        return cell
    if isinstance(cell, (list, tuple)):
        return ("list", *(inner(item) for item in cell))
    if isinstance(cell, dict):
        pairs = sorted(((str(name), inner(value)) for name, value in cell.items()), key=lambda pair: pair[0])
        return ("dict", *pairs)
    if isinstance(cell, (int, float, str)):
        return normalised_key(next(kind(cell) for kind in (int, float, str) if isinstance(cell, kind)))
    return cell if isinstance(cell, Hashable) and type(cell).__eq__ is not object.__eq__ else repr(cell)


def _moment_text(moment: datetime) -> str:
    if moment.tzinfo is not None:
        return moment.astimezone(timezone.utc).isoformat(sep=" ")
    if moment.time() == time():
        return moment.date().isoformat()
    return moment.isoformat(sep=" ")


def dated_key(cell: object) -> Key:
    """Return the normalised key, with ISO text of a moment written as `normalised_key` writes a datetime."""
    if type(cell) is str and len(cell) > 10 and cell[4:5] == "-":
        if found := _MIDNIGHT_TEXT.fullmatch(cell):
            return found[1]
        return _TIMESTAMP_TEXT.sub(r"\1 \2", cell)
    if type(cell) in _SELF:
        return normalised_key(cell)
    return _unusual_key(cell, dated_key)


def typed_key(cell: object) -> Key:
    """Return the key under which a value equals only values of its own type: 1 is not 1.0 and not True."""
    if type(cell) is float and cell != cell:
        return NAN
    if isinstance(cell, (list, tuple, dict)):
        return _unusual_key(cell, typed_key)
    if isinstance(cell, (bytearray, memoryview)):
        cell = bytes(cell)
    return (type(cell).__name__, cell if isinstance(cell, Hashable) else repr(cell))


def kinds_of(rows: Iterable[Row]) -> frozenset[type]:
    """Return the types that occur among the cells."""
    return frozenset(map(type, chain.from_iterable(rows)))


def key_rows(gold: Sequence[Row], predicted: Sequence[Row], is_typed: bool) -> tuple[list[KeyRow], list[KeyRow]]:
    """Return both results with every cell replaced by its key; plain SQLite results come back as they are."""
    if is_typed:
        return _map_rows(gold, typed_key), _map_rows(predicted, typed_key)
    kinds = kinds_of(gold) | kinds_of(predicted)
    if kinds <= _PLAIN:
        return list(gold), list(predicted)
    if kinds <= _SELF and not (_has_nan(gold) or _has_nan(predicted)):
        return list(gold), list(predicted)
    key = dated_key if any(issubclass(kind, date) for kind in kinds) else normalised_key
    return _map_rows(gold, key), _map_rows(predicted, key)


def _map_rows(rows: Sequence[Row], key: Callable[[object], Key]) -> list[KeyRow]:
    return [tuple([key(cell) for cell in row]) for row in rows]


def _has_nan(rows: Sequence[Row]) -> bool:
    return any(cell != cell for row in rows for cell in row)


def cluster_numbers(numbers: Iterable[Key], tolerance: Tolerance) -> dict[Key, Key]:
    """Map numbers to one representative per group of close ones; a number that is its own representative is left out.

    Each number is close to its representative, so equal representatives are a strong hint and no proof: whoever relies
    on them checks the pairs afterwards.
    """
    leaders: dict[Key, Key] = {}
    leader: Key = None
    border: float = -inf
    for number in sorted({number for number in numbers if type(number) is not float or isfinite(number)}):
        if number <= border and tolerance.is_close(leader, number):
            leaders[number] = leader
        else:
            leader = number
            # a little beyond the reach of `is_close`, which is asked only up to here
            border = number + 2 * max(tolerance.rel * abs(number), tolerance.abs) if abs(number) < 1e300 else inf
    return leaders
