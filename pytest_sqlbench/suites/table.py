"""Reads a plain table of questions (CSV, TSV, JSONL) whose columns the manifest names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.clause_settings import read_clause_metric
from pytest_sqlbench.suites.csv_rows import read_rows
from pytest_sqlbench.suites.listed import LIST_KEYS, make_suite
from pytest_sqlbench.suites.manifest import Manifest

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "question_id", "case", "case_id"),
    "question": ("question", "nlq", "utterance", "text"),
    "gold": ("gold", "gold_sql", "query", "sql"),
    "database": ("database", "db_id", "db_name"),
    "evidence": ("evidence", "instructions", "hint"),
    "difficulty": ("difficulty", "hardness"),
    "tags": ("tags", "category", "query_category"),
}
"""What a case takes from a row, and the columns (case ignored) that are looked for where the manifest is silent."""

_ID = re.compile(r"[A-Za-z0-9_.\-]{1,60}")


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` with the columns that ``columns:`` maps, as in ``{question: NLQ, gold: "GOLD SQL"}``.

    Question and gold are needed. Without an id, cases are numbered from 0. Databases are those of the manifest, or a
    folder with one SQLite file per name in the column ``database``.

    Raises:
        CaseError: A column that is absent, an empty or malformed cell, a database that is unknown.
    """
    manifest.check_keys([*LIST_KEYS, "columns"])
    data = manifest.resolve("data", manifest.settings.get("data"))
    content = data.read_bytes()
    cases = list(_cases(manifest, data, content))
    if not cases:
        raise manifest.error("data", f"{data.name} has no row")
    if isinstance(manifest.top.get("databases"), str):
        return make_suite(manifest, data, cases, "default", [content], suffix=_suffix(manifest))
    metric, settings = read_clause_metric(manifest, "execution_accuracy", cases[0].dialect)
    digest = hashlib.sha256(manifest.path.read_bytes() + content).hexdigest()
    return manifest.make_suite(cases, metric, digest, settings=settings)


def _suffix(manifest: Manifest) -> str:
    """Return how database files of the folder end where they lie side by side; empty: each has a folder."""
    folder = manifest.resolve("databases", manifest.top["databases"])
    return next((suffix for suffix in (".sqlite", ".db") if any(folder.glob(f"*{suffix}"))), "")


def _cases(manifest: Manifest, path: Path, content: bytes) -> Iterator[Case]:
    columns: dict[str, str] = {}
    dialect = manifest.dialect or (manifest.engines[0] if manifest.engines else "sqlite")
    for position, (line, row) in enumerate(read_rows(path, content)):
        if not columns or path.suffix == ".jsonl":
            columns = _find_columns(manifest, path, line if path.suffix == ".jsonl" else 1, row)
        cells = {key: _text(path, line, column, row.get(column)) for key, column in columns.items()}
        for key in ("question", "gold"):
            if not cells[key].strip():
                raise CaseError(path, line, f"{columns[key]} is empty")
        yield Case(
            suite=manifest.name,
            id=_case_id(path, line, cells.get("id", str(position))),
            question=cells["question"],
            gold=(cells["gold"],),
            dialect=dialect,
            engine=manifest.engines[0] if manifest.engines else dialect,
            database=_database(manifest, path, line, cells.get("database", "")),
            evidence=cells.get("evidence", ""),
            tags=tuple(tag.strip() for tag in cells.get("tags", "").split(",") if tag.strip()),
            difficulty=cells.get("difficulty", ""),
            line=line,
            file=str(path),
            facts={"position": position, "source": str(path)},
        )


def _find_columns(manifest: Manifest, path: Path, line: int, row: Mapping[str, Any]) -> dict[str, str]:
    named = manifest.setting("columns", dict, {})
    for key, label in named.items():
        if key not in COLUMNS:
            raise manifest.error("columns", f"columns has {key!r}. Allowed: {', '.join(COLUMNS)}.")
        if label not in row:
            raise CaseError(path, line, f"no column {label!r} for {key}. Found: {', '.join(row)}.")
    folded = {label.casefold(): label for label in reversed(list(row))}
    found = {key: next((folded[name] for name in names if name in folded), "") for key, names in COLUMNS.items()}
    found = {key: label for key, label in {**found, **named}.items() if label}
    for key in ("question", "gold"):
        if key not in found:
            cure = f"Name it in the manifest: 'columns: {{{key}: …}}'."
            raise CaseError(path, line, f"no column for the {key}. Found: {', '.join(row)}. {cure}")
    return found


def _text(path: Path, line: int, column: str, cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (list, tuple)) and all(isinstance(item, str) for item in cell):
        return ",".join(cell)
    if not isinstance(cell, (str, int, float)) or isinstance(cell, bool):
        raise CaseError(path, line, f"{column} is {cell!r}, wanted a text")
    return str(cell)


def _case_id(path: Path, line: int, text: str) -> str:
    if not _ID.fullmatch(text.strip()):
        raise CaseError(path, line, f"id is {text!r}, wanted 1 to 60 of A-Z a-z 0-9 _ . -")
    return text.strip()


def _database(manifest: Manifest, path: Path, line: int, name: str) -> str:
    if isinstance(manifest.top.get("databases"), str):
        if not name:
            raise CaseError(path, line, "names no database, and the manifest's databases is a folder of several")
        return name
    if not name:
        return "main" if "main" in manifest.databases else next(iter(manifest.databases), "")
    if name not in manifest.databases:
        raise CaseError(path, line, f"unknown database {name!r}. Known: {', '.join(sorted(manifest.databases))}.")
    return name
