"""In which order the tables of a recipe are filled: as the schema creates them, so that no key points ahead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.build import read_rows

_CREATED = re.compile(r"\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(?:\w+\.)?[\"`\[]?(\w+)", re.IGNORECASE)

Rows = Iterable[tuple[int, Mapping[str, Any]]]


def tables_in_order(database: Database) -> Iterator[tuple[str, str, Rows]]:
    """Yield table, the place of its rows for messages, and (line, row), in the order of the CREATE TABLE statements."""
    created = {name.lower(): place for place, name in enumerate(_CREATED.findall(database.schema))}

    def place(table: str) -> int:
        return created.get(table.lower(), len(created))

    for table, source in sorted(database.rows, key=lambda item: place(item[0])):
        yield table, str(source), read_rows(source)
    for table, rows in sorted(database.inline_rows.items(), key=lambda item: place(item[0])):
        yield table, f"rows of {table}", enumerate(rows, 1)
