"""Reads BIRD's question lists (dev, mini-dev): a JSON array, and one SQLite file per ``db_id``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.suites.listed import LIST_KEYS, make_suite, parse_list, require_texts
from pytest_sqlbench.suites.manifest import Manifest


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` (the question list) and ``databases:`` (the folder with ``DB/DB.sqlite``).

    ``only: [db, …]`` keeps the questions of these databases, ``without:`` leaves these out; ``missing_databases: skip``
    keeps those whose file is there; ``evidence: no`` leaves the hints out, for models that get none. Case ids are
    ``question_id``; ``facts["position"]`` is the index in the published list. The difficulty is BIRD's own.

    Raises:
        CaseError: A question without its database, a missing key, a value of the wrong type.
    """
    manifest.check_keys([*LIST_KEYS, "evidence"])
    data = manifest.resolve("data", manifest.settings.get("data"))
    content = data.read_bytes()
    cases = list(_cases(manifest, data, parse_list(data, content)))
    return make_suite(manifest, data, cases, "bird", [content])


def _cases(manifest: Manifest, path: Path, entries: list[dict[str, Any]]) -> Iterator[Case]:
    has_evidence = manifest.setting("evidence", bool, True)
    for position, entry in enumerate(entries):
        # the mini-dev of other dialects and some copies of the training set name the query in other ways
        query = next((key for key in ("SQL", "query", "sql") if isinstance(entry.get(key), str)), "SQL")
        require_texts(path, f"entry {position}", entry, ["db_id", "question", query])
        yield Case(
            suite=manifest.name,
            id=str(entry.get("question_id", position)),
            question=entry["question"],
            gold=(entry[query],),
            dialect="sqlite",
            engine="sqlite",
            database=entry["db_id"],
            evidence=str(entry.get("evidence") or "") if has_evidence else "",
            tags=(entry["db_id"],),
            difficulty=str(entry.get("difficulty") or ""),
            facts={"position": position},
        )
