"""What a prompt shows of a database: its DDL or ontology, sample rows, and what columns mean."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.result import Cell, Engine, ResultSet
from pytest_sqlbench.settings import Settings

CELL_LENGTH = 60

_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY rowid",
}
_TABLES_ELSEWHERE = (
    "SELECT table_name FROM information_schema.tables"
    " WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY table_name"
)


def describe_schema(suite: Suite, case: Case, options: ModelOptions) -> str:
    """Describe the database of a case; an empty text where the case names none.

    Raises:
        UsageError: The recipe of the database is faulty.
        EngineError: The database cannot be opened.
    """
    database = suite.databases.get(case.database)
    if database is None or not case.engine:
        return ""
    with tempfile.TemporaryDirectory(prefix="sqlbench-") as folder:
        engine = open_engine(case.engine, database, Settings(cache_dir=options.cache_dir or Path(folder)))
        try:
            parts = [engine.describe().strip()]
            if options.prompt_rows and case.dialect != "sparql":
                parts.append(_sample_rows(engine, case.engine, options.prompt_rows))
        finally:
            engine.close()
    parts.append(_describe_names(options.descriptions))
    return "\n\n".join(part for part in parts if part)


def _describe_names(descriptions: Mapping[str, str]) -> str:
    return "\n".join(f"-- {name}: {' '.join(str(text).split())}" for name, text in descriptions.items())


def _sample_rows(engine: Engine, name: str, n: int) -> str:
    tables = engine.run_gold(_TABLES.get(name, _TABLES_ELSEWHERE))
    if not isinstance(tables, ResultSet):
        return ""
    blocks = []
    for (table,) in tables.rows:
        quoted = '"' + str(table).replace('"', '""') + '"'
        rows = engine.run_gold(f"SELECT * FROM {quoted} LIMIT {n}")
        if isinstance(rows, ResultSet) and rows.rows:
            lines = [" | ".join(rows.columns), *(" | ".join(map(_show, row)) for row in rows.rows)]
            blocks.append(f"-- first rows of {table}:\n" + "\n".join(f"-- {line}" for line in lines))
    return "\n\n".join(blocks)


def _show(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    text = " ".join(str(cell).split())
    return text if len(text) <= CELL_LENGTH else f"{text[:CELL_LENGTH]}…"
