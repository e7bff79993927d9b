"""Writes a small WikiSQL split in the published layout; three tables, made up."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_sqlbench.evaluation.wikisql_tables import create_table, lowered
from pytest_sqlbench.logical_form import WebTable

TABLES: list[dict[str, Any]] = [
    {
        "id": "1-77-2",
        "page_title": "Toronto",
        "header": ["Player", "No.", "School/Club Team", "Points"],
        "types": ["text", "real", "text", "real"],
        "rows": [
            ["Art Long", "42", "Duke", "3"],
            ["Bo Short", "7", "Duke", "1,200"],
            ["Cy Wide", "9", "Ohio State", "n/a"],
        ],
    },
    {"id": "2-5-1", "header": ["Year", "Year "], "types": ["real", "text"], "rows": [["1990", "a"], ["1991", "b"]]},
]

QUESTIONS: list[dict[str, Any]] = [
    {"phase": 1, "table_id": "1-77-2", "question": "Who wears 42?", "sql": {"sel": 0, "conds": [[1, 0, 42]], "agg": 0}},
    {
        "phase": 1,
        "table_id": "1-77-2",
        "question": "How many went to Duke?",
        "sql": {"sel": 0, "conds": [[2, 0, "Duke"]], "agg": 3},
    },
    {
        "phase": 1,
        "table_id": "1-77-2",
        "question": "All points of Duke?",
        "sql": {"sel": 3, "conds": [[2, 0, "Duke"]], "agg": 4},
    },
    {"phase": 2, "table_id": "2-5-1", "question": "When a?", "sql": {"sel": 0, "conds": [[1, 0, "a"]], "agg": 0}},
    {"phase": 2, "table_id": "2-5-1", "question": "Last z?", "sql": {"sel": 0, "conds": [[1, 0, "z"]], "agg": 1}},
]


def write_lines(path: Path, entries: list[dict[str, Any]]) -> None:
    """Write JSONL."""
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def write_database(path: Path, tables: list[dict[str, Any]]) -> None:
    """Write the tables as the published databases have them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for entry in tables:
            table = WebTable(entry["id"], tuple(entry["header"]), tuple(entry["types"]))
            create_table(connection, table, lowered(entry["rows"]))


def write_split(
    folder: Path,
    *,
    questions: list[dict[str, Any]] | None = None,
    tables: list[dict[str, Any]] | None = TABLES,
    database: list[dict[str, Any]] | None = None,
    **keys: object,
) -> Path:
    """Write ``dev`` below ``folder`` and a manifest with further keys; return the manifest."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    write_lines(data / "dev.jsonl", QUESTIONS if questions is None else questions)
    if tables is not None:
        write_lines(data / "dev.tables.jsonl", tables)
    if database is not None:
        write_database(data / "dev.db", database)
    lines = ["sqlbench: 1", "name: web", "format: wikisql", "data: data", *(f"{k}: {v}" for k, v in keys.items())]
    if "split" not in keys:
        lines.append("split: dev")
    path = folder / "web.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
