"""Reads BIRD's question lists: a JSON array, and one SQLite file per ``db_id``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.suites.manifest import Manifest


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` (the question list) and ``databases:`` (the folder with ``DB/DB.sqlite``).

    ``only: [db, …]`` keeps the questions of these databases; ``missing_databases: skip`` keeps those whose
    file is there. Case ids are ``question_id``; ``facts["position"]`` is the index in the published list.

    Raises:
        CaseError: A question without its database, a missing key, a value of the wrong type.
    """
    manifest.check_keys(["data", "databases", "only", "missing_databases"])
    data = manifest.resolve("data", manifest.settings.get("data"))
    folder = manifest.resolve("databases", manifest.top.get("databases"))
    content = data.read_bytes()
    entries = _parse(data, content)
    skips = manifest.choice("missing_databases", ["error", "skip"], "error") == "skip"
    only = manifest.setting("only", list)
    databases: dict[str, Database] = {}
    cases: list[Case] = []
    for case in _cases(manifest, data, entries):
        if only is not None and case.database not in only:
            continue
        if case.database not in databases:
            path = folder / case.database / f"{case.database}.sqlite"
            if path.is_file():
                databases[case.database] = Database(case.database, path=path)
            elif skips:
                continue
            else:
                raise CaseError(data, 0, f"question {case.id}: no database file {str(path)!r}")
        cases.append(case)
    if not cases:
        raise manifest.error("data", f"no question of {data.name} has its database in {folder}")
    digest = hashlib.sha256(manifest.path.read_bytes() + content).hexdigest()
    return Suite(
        name=manifest.name,
        path=manifest.path,
        cases=tuple(cases),
        databases=databases,
        threshold=1.0 if manifest.threshold is None else manifest.threshold,
        policy=manifest.policy if "policy" in manifest.top else find_preset("bird"),
        fail_under=manifest.fail_under,
        tags=manifest.tags,
        prompt=manifest.prompt,
        digest=digest,
    )


def _parse(path: Path, content: bytes) -> list[Any]:
    try:
        entries = json.loads(content)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise CaseError(path, line, f"is not JSON: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise CaseError(path, 1, "wanted a JSON list of questions with at least one entry")
    return entries


def _cases(manifest: Manifest, path: Path, entries: list[Any]) -> Iterator[Case]:
    for position, entry in enumerate(entries):
        where = f"entry {position}"
        if not isinstance(entry, dict):
            raise CaseError(path, 0, f"{where}: found {str(entry)[:40]!r}, wanted an object")
        for key in ("db_id", "question", "SQL"):
            if not isinstance(entry.get(key), str):
                raise CaseError(path, 0, f"{where}: {key} is {entry.get(key)!r}, wanted a text")
        yield Case(
            suite=manifest.name,
            id=str(entry.get("question_id", position)),
            question=entry["question"],
            gold=(entry["SQL"],),
            dialect="sqlite",
            engine="sqlite",
            database=entry["db_id"],
            evidence=str(entry.get("evidence") or ""),
            tags=(entry["db_id"],),
            difficulty=str(entry.get("difficulty") or ""),
            facts={"position": position},
        )
