"""PostgreSQL's values as plain and exact Python values; what Python cannot hold stays as the server writes it."""

from __future__ import annotations

import datetime
import re
from typing import Any

_TEXTS = ("inet", "cidr", "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange")
_MULTIRANGES = ("int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange")
_CLOCK = re.compile(r"([+-]?)(\d+):(\d+):(\d+)(?:\.(\d{1,6}))?")
_DAYS = re.compile(r"([+-]?\d+) days?")


def read_interval(text: str) -> object:
    """Without months and years an interval is a time; with them it stays as it is written: '1 mon 2 days'."""
    if "mon" in text or "year" in text:
        return text
    days = _DAYS.search(text)
    clock = _CLOCK.search(text)
    rest = datetime.timedelta()
    if clock is not None:
        sign, hours, minutes, seconds, fraction = clock.groups()
        rest = datetime.timedelta(
            hours=int(hours),
            minutes=int(minutes),
            seconds=int(seconds),
            microseconds=int((fraction or "0").ljust(6, "0")),
        )
        rest = -rest if sign == "-" else rest
    return datetime.timedelta(days=int(days.group(1)) if days else 0) + rest


def make_transformer(connection: Any) -> Any:
    """Return the reader of this connection's results."""
    from psycopg import DataError
    from psycopg.adapt import Loader, Transformer
    from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader
    from psycopg.types.numeric import NumericLoader
    from psycopg.types.string import TextLoader

    class IntervalReader(Loader):
        def load(self, data: Any) -> object:
            return read_interval(bytes(data).decode())

    class NumericReader(NumericLoader):
        def load(self, data: Any) -> Any:
            value = super().load(data)
            return value if value.is_finite() else float(value)  # NaN and the infinities

    def with_text(reader: Any) -> Any:
        class Reader(reader):  # type: ignore[misc]
            def load(self, data: Any) -> object:
                try:
                    value = super().load(data)
                except (DataError, ValueError, OverflowError):  # BC, infinity, the year 10000
                    return bytes(data).decode()
                is_zoned = isinstance(value, datetime.datetime) and value.tzinfo is not None
                return value.astimezone(datetime.timezone.utc) if is_zoned else value

        return Reader

    adapters = connection.adapters
    adapters.register_loader("interval", IntervalReader)
    adapters.register_loader("numeric", NumericReader)
    readers = {"date": DateLoader, "timestamp": TimestampLoader, "timestamptz": TimestamptzLoader}
    for name, reader in readers.items():
        adapters.register_loader(name, with_text(reader))
    for name in (*_TEXTS, *_MULTIRANGES):
        adapters.register_loader(name, TextLoader)
    return Transformer(connection)
