"""What the readers of published question lists share: the list itself, one database file per question, the suite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.suites.clause_settings import CLAUSE_KEYS, read_clause_metric
from pytest_sqlbench.suites.manifest import Manifest

LIST_KEYS = ("data", "databases", "only", "without", "missing_databases", *CLAUSE_KEYS)
"""Keys that every reader of a published list knows."""


def parse_list(path: Path, content: bytes) -> list[dict[str, Any]]:
    """Parse a JSON list of objects; raise `CaseError` with the line or the entry that is not as it must be."""
    try:
        entries = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CaseError(path, getattr(error, "lineno", 0), f"is not JSON: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise CaseError(path, 1, "wanted a JSON list of questions with at least one entry")
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise CaseError(path, 0, f"entry {position}: found {str(entry)[:40]!r}, wanted an object")
    return entries


def require_texts(path: Path, where: str, entry: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Raise `CaseError` for the first of these keys that is absent or no text."""
    for key in keys:
        if not isinstance(entry.get(key), str):
            raise CaseError(path, 0, f"{where}: {key} is {entry.get(key)!r}, wanted a text")


def make_suite(
    manifest: Manifest, data: Path, cases: Sequence[Case], preset: str, contents: Iterable[bytes], suffix: str = ""
) -> Suite:
    """Give each case its database file and make the suite.

    ``only: [db, …]`` keeps the cases of these databases, ``without:`` leaves these out, and ``missing_databases: skip``
    keeps the cases whose file is there.

    Args:
        manifest: With ``databases:``, the folder of the files.
        data: The question list, for messages.
        cases: All that the list has.
        preset: The policy where the manifest names none.
        contents: What the suite was read from, for its digest.
        suffix: ``.db`` if the files are ``DB.db``; empty: ``DB/DB.sqlite``.

    Raises:
        CaseError: A database file is absent, or no case is left.
    """
    folder = manifest.resolve("databases", manifest.top.get("databases"))
    kept, databases = _attach_databases(manifest, data, cases, folder, suffix)
    if not kept:
        raise manifest.error("data", f"no question of {data.name} has its database in {folder}")
    metric, settings = read_clause_metric(manifest, "execution_accuracy", kept[0].dialect)
    digest = hashlib.sha256(manifest.path.read_bytes())
    for content in contents:
        digest.update(content)
    return manifest.make_suite(
        kept,
        metric,
        digest.hexdigest(),
        databases=databases,
        policy=None if "policy" in manifest.top else find_preset(preset),
        settings=settings,
    )


def _attach_databases(
    manifest: Manifest, data: Path, cases: Sequence[Case], folder: Path, suffix: str
) -> tuple[list[Case], dict[str, Database]]:
    """Return the cases that the manifest keeps, and the databases that they need."""
    skips = manifest.choice("missing_databases", ["error", "skip"], "error") == "skip"
    only, without = manifest.setting("only", list), manifest.setting("without", list, [])
    databases: dict[str, Database] = {}
    kept: list[Case] = []
    for case in cases:
        if (only is not None and case.database not in only) or case.database in without:
            continue
        if case.database not in databases:
            path = _database_file(folder, case.database, suffix)
            if path is None and skips:
                continue
            if path is None:
                found = f"database {case.database!r} has no file in {folder}"
                raise CaseError(data, case.line, f"question {case.id}: {found}")
            databases[case.database] = Database(case.database, path=path)
        kept.append(case)
    return kept, databases


def _database_file(folder: Path, name: str, suffix: str) -> Path | None:
    """Return the file of a database; names with a path in them have none."""
    if not name or name != Path(name).name:
        return None
    path = folder / f"{name}{suffix}" if suffix else folder / name / f"{name}.sqlite"
    return path if path.is_file() else None
