"""Loads ACME's published DDL and CSV files as typed tables, and writes them as a script for one engine.

The DDL cannot be run as published: it has no statement ends, its foreign keys lead to tables that it does not define,
and its own data break its NOT NULL columns and primary keys. So only names and types are taken from it, and an empty
cell is NULL.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_sqlbench.errors import CaseError

Cells = tuple[str | None, ...]

SQL_TYPES: Mapping[str, Mapping[str, str]] = {
    "duckdb": {"datetime": "timestamp"},
    # without REAL, SQLite divides the integral amounts as integers: 13600/20000 = 0
    "sqlite": {"decimal": "real"},
    "postgres": {"datetime": "timestamp"},
}
"""Engine to the types that it calls otherwise than the DDL does."""

_CELLS: Mapping[str, re.Pattern[str]] = {
    "int": re.compile(r"-?\d+"),
    "bigint": re.compile(r"-?\d+"),
    "decimal": re.compile(r"-?(?:\d+\.?\d*|\.\d+)"),
    "datetime": re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d)?"),
}
"""What a cell of a type must look like; any text fits the other types."""


@dataclass(frozen=True, slots=True)
class Column:
    """Name and type as the DDL writes them, such as ``decimal(15,2)``."""

    name: str
    type: str

    @property
    def kind(self) -> str:
        """The type without its size, such as ``decimal``."""
        return self.type.partition("(")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its rows as text; None is NULL."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Cells, ...]


def read_tables(ddl: Path, folder: Path, headers: Mapping[str, Mapping[int, str]]) -> tuple[Table, ...]:
    """Read every CSV file of the folder, typed from the DDL, or from its cells where the DDL does not know it.

    Args:
        ddl: The published DDL.
        folder: The folder with one CSV file per table.
        headers: Table to column place (from 0) to the name that stands there instead of the published one.

    Raises:
        CaseError: A file is missing or malformed; with file and line.
    """
    types = read_types(ddl)
    paths = sorted(folder.glob("*.csv"))
    if missing := sorted(types.keys() - {path.stem.lower() for path in paths}):
        raise CaseError(folder, 0, f"no CSV file for these tables of {ddl.name}: {', '.join(missing)}")
    return tuple(_read_table(path, types.get(path.stem.lower(), {}), headers.get(path.stem, {})) for path in paths)


def read_types(ddl: Path) -> dict[str, dict[str, str]]:
    """Return table to column to type, names in lower case; keys and constraints are left aside."""
    try:
        text = ddl.read_text(encoding="utf-8")
    except OSError as error:
        raise CaseError(ddl, 0, f"cannot be read: {error.strerror}") from error
    found: dict[str, dict[str, str]] = {}
    for part in re.split(r"(?=CREATE TABLE)", text):
        if head := re.match(r"CREATE TABLE (\w+)", part):
            columns = re.findall(r"^\s*(\w+)\s+(\w+(?:\(\d+(?:,\d+)?\))?)\s+(?:NOT )?NULL\b", part, flags=re.MULTILINE)
            found[head[1].lower()] = {name.lower(): type for name, type in columns}
    if not found:
        raise CaseError(ddl, 0, "no CREATE TABLE in this file")
    return found


def _read_table(path: Path, types: Mapping[str, str], header: Mapping[int, str]) -> Table:
    lines = _read_lines(path)
    names = _distinct(header.get(place, name) for place, name in enumerate(lines[0]))
    rows = [tuple(cell if cell != "" else None for cell in cells) for cells in lines[1:]]
    columns = tuple(
        Column(name, types.get(name.lower()) or _infer_type([row[place] for row in rows]))
        for place, name in enumerate(names)
    )
    for number, row in enumerate(rows, start=2):
        _check_row(path, number, columns, row)
    return Table(path.stem, columns, tuple(rows))


def _read_lines(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file))
    if not lines:
        raise CaseError(path, 1, "no header line")
    for number, cells in enumerate(lines, start=1):
        if len(cells) != len(lines[0]):
            raise CaseError(path, number, f"{len(cells)} cells where the header has {len(lines[0])}")
    return lines


def _distinct(names: Iterable[str]) -> list[str]:
    """Number the second use of a name, as DuckDB does: ``Type`` and ``Type_1``."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        count = seen.get(name.lower(), 0)
        seen[name.lower()] = count + 1
        found.append(f"{name}_{count}" if count else name)
    return found


def _infer_type(cells: list[str | None]) -> str:
    given = [cell for cell in cells if cell is not None]
    for kind, type in (("bigint", "bigint"), ("decimal", "decimal(18,6)"), ("datetime", "datetime")):
        if given and all(_CELLS[kind].fullmatch(cell) for cell in given):
            return type
    return "varchar(5000)"


def _check_row(path: Path, number: int, columns: tuple[Column, ...], row: Cells) -> None:
    for column, cell in zip(columns, row, strict=True):
        pattern = _CELLS.get(column.kind)
        if cell is not None and pattern and not pattern.fullmatch(cell):
            raise CaseError(path, number, f"{column.name} is {cell!r}, which is no {column.type}")


def write_script(tables: Iterable[Table], engine: str) -> str:
    """Write the tables as CREATE TABLE and INSERT statements for one engine; names stay unquoted where they can.

    Raises:
        KeyError: The engine is not one of `SQL_TYPES`.
    """
    return "".join(_write_table(table, SQL_TYPES[engine]) for table in tables)


def _write_table(table: Table, types: Mapping[str, str]) -> str:
    columns = ",\n".join(f"    {_name(column.name)} {types.get(column.kind, column.type)}" for column in table.columns)
    script = f"CREATE TABLE {_name(table.name)} (\n{columns}\n);\n"
    if table.rows:
        rows = ",\n".join(f"({', '.join(_literals(table.columns, row))})" for row in table.rows)
        script += f"INSERT INTO {_name(table.name)} VALUES\n{rows};\n"
    return script


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else '"' + name.replace('"', '""') + '"'


def _literals(columns: tuple[Column, ...], row: Cells) -> Iterator[str]:
    for column, cell in zip(columns, row, strict=True):
        if cell is None:
            yield "NULL"
        elif column.kind in ("int", "bigint", "decimal"):
            yield cell
        else:
            yield "'" + cell.replace("'", "''") + "'"
