"""Reads SEDE as published: ``val.jsonl``, ``test.jsonl`` and their like. Real questions, T-SQL, and no database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.clause_settings import CLAUSE_KEYS, CLAUSE_METRICS, read_clause_metric
from pytest_sqlbench.suites.json_lines import read_objects
from pytest_sqlbench.suites.manifest import Manifest


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:``, one of the published ``.jsonl`` files, or a folder of them with ``split:``.

    The question is the title alone: descriptions were never part of the task. ``tables:`` names the published
    ``tables_so.json``, whose tables and columns the prompt then shows. A case is named by its split and its
    ``QuerySetId``: ``val-1233``.

    Raises:
        CaseError: A missing file or key, a value of the wrong type, a metric that needs a database.
    """
    manifest.check_keys(["data", "split", "tables", *CLAUSE_KEYS])
    metric, settings = read_clause_metric(manifest, "pcm_f1", "tsql")
    if not settings:
        known = ", ".join(CLAUSE_METRICS)
        raise manifest.error("metric", f"metric {metric!r} needs a database, and SEDE has none. Possible: {known}.")
    data = _find_data(manifest)
    content = data.read_bytes()
    digest = hashlib.sha256(manifest.path.read_bytes() + content)
    facts: Mapping[str, Any] = {}
    if "tables" in manifest.settings:
        tables = manifest.resolve("tables", manifest.settings["tables"])
        described = tables.read_bytes()
        digest.update(described)
        facts = {"schema": _describe_tables(tables, described)}
    cases = tuple(_read_cases(manifest, data, content, facts))
    if not cases:
        raise CaseError(data, 0, "holds no question")
    return manifest.make_suite(cases, metric, digest.hexdigest(), databases={}, settings=settings)


def _find_data(manifest: Manifest) -> Path:
    data = manifest.resolve("data", manifest.settings.get("data"))
    if data.is_file():
        if "split" in manifest.settings:
            raise manifest.error("split", "split is for a folder of files, and data is a file")
        return data
    split = manifest.setting("split", str)
    path = data / f"{split}.jsonl"
    if not split or not path.is_file():
        found = ", ".join(sorted(file.stem for file in data.glob("*.jsonl"))) or "none"
        raise manifest.error("split", f"split {split!r} names no .jsonl file of {data.name}. Found: {found}.")
    return path


def _read_cases(manifest: Manifest, path: Path, content: bytes, facts: Mapping[str, Any]) -> Iterator[Case]:
    for line, entry in read_objects(path, content, "an object with QuerySetId, Title and QueryBody"):
        yield Case(
            suite=manifest.name,
            id=f"{path.stem}-{_required(path, line, entry, 'QuerySetId', int)}",
            question=_required(path, line, entry, "Title", str),
            gold=(_required(path, line, entry, "QueryBody", str),),
            dialect="tsql",
            engine="",
            line=line,
            file=str(path),
            facts=facts,
        )


def _required(path: Path, line: int, entry: Mapping[str, Any], key: str, kind: type) -> Any:
    value = entry.get(key)
    if type(value) is not kind or (isinstance(value, str) and not value.strip()):
        wanted = "a whole number" if kind is int else "a text"
        raise CaseError(path, line, f"{key} is {value!r}, wanted {wanted}")
    return value


def _describe_tables(path: Path, content: bytes) -> str:
    """Write the published description as one line a table: ``Badges(Id number, Name text)``."""
    try:
        (database,) = json.loads(content)
        lines = [f"{table}(" for table in database["table_names_original"]]
        columns: list[list[str]] = [[] for _ in lines]
        for (table, name), kind in zip(database["column_names_original"], database["column_types"], strict=True):
            if table >= 0:
                columns[table].append(f"{name} {kind}")
        return "\n".join(f"{line}{', '.join(names)})" for line, names in zip(lines, columns, strict=True))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        wanted = "wanted a list of one database with table_names_original, column_names_original and column_types"
        raise CaseError(path, 0, f"{wanted}; {type(error).__name__}: {error}") from error
