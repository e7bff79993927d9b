"""Reads Spider's question lists: ``dev.json`` or ``dev_gold.sql``, ``tables.json``, one SQLite file per ``db_id``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.json_lines import decode_text
from pytest_sqlbench.suites.listed import LIST_KEYS, make_suite, parse_list, require_texts
from pytest_sqlbench.suites.manifest import Manifest
from pytest_sqlbench.suites.spider_hardness import find_hardness


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` (a JSON list, or lines of query, tab, database) and ``databases:`` (``DB/DB.sqlite``).

    ``only``, ``without`` and ``missing_databases`` work as for BIRD. ``tables:`` names ``tables.json``, with which the
    databases of the questions are checked, and which knows their foreign keys. Case ids are places in the list, from
    0; ``facts["position"]`` is the same as a number. The difficulty is Spider's hardness, where the list has parsed
    queries. The policy is ``spider``.

    Raises:
        CaseError: A question without its database, a missing key, a value of the wrong type.
    """
    manifest.check_keys([*LIST_KEYS, "tables"])
    data = manifest.resolve("data", manifest.settings.get("data"))
    content = data.read_bytes()
    tables = _read_tables(manifest)
    read = _lines if data.suffix.lower() in (".sql", ".txt", ".tsv") else _entries
    cases = list(read(manifest, data, content))
    for case in cases:
        if tables is not None and case.database not in tables:
            found = f"database {case.database!r} is not in {manifest.settings['tables']}"
            raise CaseError(data, case.line, f"question {case.id}: {found}")
    suite = make_suite(manifest, data, cases, "spider", [content])
    keys = {name: tables[name] for name in suite.databases} if tables is not None else {}
    return replace(suite, settings={**suite.settings, "foreign_keys": keys})


_Keys = dict[str, tuple[tuple[tuple[str], str, tuple[str]], ...]]
"""Table to its foreign keys: own columns, the other table, its columns; all lower-cased."""


def _read_tables(manifest: Manifest) -> dict[str, _Keys] | None:
    """Return the foreign keys of each database in ``tables.json``: the files themselves declare few."""
    if "tables" not in manifest.settings:
        return None
    path = manifest.resolve("tables", manifest.settings["tables"])
    databases: dict[str, _Keys] = {}
    for position, entry in enumerate(parse_list(path, path.read_bytes())):
        require_texts(path, f"entry {position}", entry, ["db_id"])
        try:
            databases[entry["db_id"]] = _foreign_keys(entry)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
            raise CaseError(path, 0, f"entry {position}: is not a description of tables: {error!r}") from error
    return databases


def _foreign_keys(entry: dict[str, Any]) -> _Keys:
    tables = [name.lower() for name in entry["table_names_original"]]
    columns = [
        (tables[table], name.lower()) if table >= 0 else ("", "*") for table, name in entry["column_names_original"]
    ]
    keys: _Keys = {}
    for own, other in entry["foreign_keys"]:
        (table, column), (target, key) = columns[own], columns[other]
        keys[table] = (*keys.get(table, ()), ((column,), target, (key,)))
    return keys


def _entries(manifest: Manifest, path: Path, content: bytes) -> Iterator[Case]:
    for position, entry in enumerate(parse_list(path, content)):
        require_texts(path, f"entry {position}", entry, ["db_id", "question", "query"])
        yield _case(manifest, position, entry["question"], entry["query"], entry["db_id"], _hardness(entry))


def _hardness(entry: dict[str, Any]) -> str:
    try:
        return find_hardness(entry["sql"])
    except (KeyError, TypeError, IndexError):
        return ""  # lists made by others leave the parsed query out, or keep another shape of it


def _lines(manifest: Manifest, path: Path, content: bytes) -> Iterator[Case]:
    position = 0
    for number, line in enumerate(decode_text(path, content).split("\n"), start=1):
        if not line.strip():
            continue
        query, tab, database = line.rpartition("\t")
        if not tab or not query.strip() or not database.strip():
            raise CaseError(path, number, f"found {line[:40]!r}, wanted a query, a tab and a database")
        case = _case(manifest, position, "", query.strip(), database.strip(), "")
        yield replace(case, line=number, file=str(path))
        position += 1


def _case(manifest: Manifest, position: int, question: str, query: str, database: str, difficulty: str) -> Case:
    return Case(
        suite=manifest.name,
        id=str(position),
        question=question,
        gold=(query,),
        dialect="sqlite",
        engine="sqlite",
        database=database,
        tags=(database,),
        difficulty=difficulty,
        facts={"position": position},
    )
