"""Reads from a SQLite file what a generated database has to keep, and values to draw from."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from pytest_sqlbench.engines.sqlite_memory import quote_name
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.scoring.witness.constants import ColumnName, find_clues
from pytest_sqlbench.scoring.witness.tables import Column, Reference, Schema, Table

SAMPLED_ROWS = 100
LOOKED_ROWS = 10_000
"""Rows that are looked at for NULLs."""
SAMPLES = 8
"""Different values of a column that are kept."""
LONGEST_SAMPLE = 100
LOOKED_S = 0.2
"""Seconds that one look at the real data may take."""

_CHECK = re.compile(r"\bCHECK\s*\(", re.IGNORECASE)


class RealDatabase:
    """A SQLite file that is looked at and never written.

    Args:
        path: The file.
        references: Foreign keys that are known from elsewhere, by lower-cased table.

    Raises:
        EngineError: The file cannot be read.
    """

    def __init__(self, path: Path, references: Mapping[str, tuple[Reference, ...]]) -> None:
        try:
            uri = f"file:{quote(str(path.absolute()))}?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            self._connection.text_factory = lambda text: text.decode("utf-8", "replace")
            self.ddl: list[str] = [
                row[0]
                for row in self._connection.execute(
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view')"
                    " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'view', type = 'index', rowid"
                )
            ]
            self.schema = Schema(self._tables(references))
        except sqlite3.Error as error:
            raise EngineError(f"{path}: cannot be read: {error}") from error
        self._kept: dict[tuple[ColumnName, ColumnName], bool] = {}
        self._deadline = 0.0
        self._connection.set_progress_handler(lambda: time.monotonic() > self._deadline, 1000)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def with_kept_references(self, joined: Iterable[tuple[ColumnName, ColumnName]]) -> Schema:
        """Return the schema with a foreign key for each join to a unique column that the real data obeys.

        Few real schemas declare all their foreign keys; a row that refers to nothing would expose right queries.
        """
        tables = dict(self.schema.tables)
        for pair in joined:
            for (table, column), (other, target) in (pair, pair[::-1]):
                owner, parent = tables.get(table), tables.get(other)
                if owner is None or parent is None or table == other:
                    continue
                known = any(column in reference.columns for reference in owner.references)
                found = parent.find(target)
                if known or found is None or not found.is_unique or not self._is_kept((table, column), (other, target)):
                    continue
                new = Reference((column,), other, (target,))
                tables[table] = replace(owner, references=(*owner.references, new))
        return Schema(tables)

    def _is_kept(self, column: ColumnName, target: ColumnName) -> bool:
        key = (column, target)
        if key not in self._kept:
            own, other = quote_name(column[1]), quote_name(target[1])
            query = (
                f"SELECT COUNT(*), SUM({own} NOT IN (SELECT {other} FROM {quote_name(target[0])} "
                f"WHERE {other} IS NOT NULL)) FROM {quote_name(column[0])} WHERE {own} IS NOT NULL"
            )
            self._deadline = time.monotonic() + LOOKED_S
            try:
                n, dangling = self._connection.execute(query).fetchone()
                self._kept[key] = bool(n) and not dangling
            except sqlite3.Error:  # too large to look at: taken for a foreign key, to accuse nobody wrongly
                self._kept[key] = True
        return self._kept[key]

    def _tables(self, references: Mapping[str, tuple[Reference, ...]]) -> dict[str, Table]:
        tables: dict[str, Table] = {}
        listed = self._connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%'"
            " ESCAPE '\\'"
        ).fetchall()
        for title, sql in listed:
            name = title.lower()
            declared = self._references(title)
            known = {reference.columns for reference in declared}
            extra = tuple(one for one in references.get(name, ()) if one.columns not in known)
            tables[name] = Table(name, title, self._columns(title), (*declared, *extra))
            tables[name] = _with_checks(tables[name], sql)
        return tables

    def _columns(self, table: str) -> tuple[Column, ...]:
        quoted = quote_name(table)
        rows = [row for row in self._connection.execute(f"PRAGMA table_xinfo({quoted})") if not row[6]]
        keys = [row for row in rows if row[5]]
        unique = {keys[0][1].lower()} if len(keys) == 1 else set()
        for index in self._connection.execute(f"PRAGMA index_list({quoted})").fetchall():
            members = self._connection.execute(f"PRAGMA index_info({quote_name(index[1])})").fetchall()
            if index[2] and not index[4] and len(members) == 1 and members[0][2] is not None:
                unique.add(members[0][2].lower())
        names = [row[1] for row in rows]
        samples, with_nulls = self._samples(table, names), self._with_nulls(table, names)
        return tuple(
            Column(
                name=row[1],
                affinity=find_affinity(row[2]),
                is_nullable=not row[3] and not row[5],
                has_nulls=row[1] in with_nulls,
                is_unique=row[1].lower() in unique,
                is_row_number=len(keys) == 1 and bool(row[5]) and row[2].upper() == "INTEGER",
                samples=samples[row[1]],
            )
            for row in rows
        )

    def _samples(self, table: str, names: list[str]) -> dict[str, tuple[object, ...]]:
        listed = ", ".join(map(quote_name, names))
        rows = self._connection.execute(f"SELECT {listed} FROM {quote_name(table)} LIMIT {SAMPLED_ROWS}").fetchall()
        samples: dict[str, tuple[object, ...]] = {}
        for place, name in enumerate(names):
            values = dict.fromkeys(row[place] for row in rows if row[place] is not None)
            short = [value for value in values if not isinstance(value, (str, bytes)) or len(value) <= LONGEST_SAMPLE]
            samples[name] = tuple(short[:SAMPLES])
        return samples

    def _with_nulls(self, table: str, names: list[str]) -> frozenset[str]:
        listed = ", ".join(f"MAX({quote_name(name)} IS NULL)" for name in names)
        query = f"SELECT {listed} FROM (SELECT * FROM {quote_name(table)} LIMIT {LOOKED_ROWS})"
        found = self._connection.execute(query).fetchone()
        return frozenset(name for name, is_null in zip(names, found, strict=True) if is_null)

    def _references(self, table: str) -> tuple[Reference, ...]:
        rows = self._connection.execute(f"PRAGMA foreign_key_list({quote_name(table)})").fetchall()
        references: list[Reference] = []
        for number in sorted({row[0] for row in rows}):
            members = sorted((row for row in rows if row[0] == number), key=lambda row: row[1])
            parent = members[0][2]
            targets = tuple(row[4].lower() for row in members if row[4] is not None) or self._key_of(parent)
            references.append(Reference(tuple(row[3].lower() for row in members), parent.lower(), targets))
        return tuple(references)

    def _key_of(self, table: str) -> tuple[str, ...]:
        rows = self._connection.execute(f"PRAGMA table_info({quote_name(table)})").fetchall()
        return tuple(row[1].lower() for row in sorted(rows, key=lambda row: row[5]) if row[5])


def find_affinity(declared: str) -> str:
    """Return what SQLite makes of a declared type, by its own rules."""
    kind = declared.upper()
    for words, affinity in (
        (("INT",), "integer"),
        (("CHAR", "CLOB", "TEXT"), "text"),
        (("BLOB",), "blob"),
        (("REAL", "FLOA", "DOUB"), "real"),
    ):
        if any(word in kind for word in words):
            return affinity
    return "numeric" if kind else "blob"


def _with_checks(table: Table, ddl: str) -> Table:
    """Add the constants of CHECK constraints to the columns they speak of."""
    if not _CHECK.search(ddl):
        return table
    conditions = [_bracket(ddl, match.end() - 1) for match in _CHECK.finditer(ddl)]
    schema = Schema({table.name: table})
    name = quote_name(table.title)
    clues = find_clues([f"SELECT 1 FROM {name} WHERE {condition}" for condition in conditions], schema)
    columns = [
        replace(column, checked=tuple(dict.fromkeys(clues.by_column.get((table.name, column.name.lower()), ()))))
        for column in table.columns
    ]
    return replace(table, columns=tuple(columns))


def _bracket(text: str, start: int) -> str:
    """Return what stands in the brackets that open at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return text[start + 1 : place]
    return "1"
