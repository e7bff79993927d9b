"""Reads a team's own cases: inline in the manifest, or JSONL beside it for large suites."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.policy import Policy, parse_policy
from pytest_sqlbench.suites.clause_settings import CLAUSE_KEYS, read_clause_metric
from pytest_sqlbench.suites.json_lines import read_objects
from pytest_sqlbench.suites.manifest import Manifest, check_keys
from pytest_sqlbench.suites.yaml_lines import LinedDict

CASE_KEYS = frozenset(
    """id question gold evidence tags difficulty threshold policy required_columns database dialect""".split()
)

GOLD_ENGINES = {"sqlite": "sqlite", "duckdb": "duckdb", "postgres": "postgres", "mysql": "mysql", "sparql": "sparql"}
"""The engine that answers a dialect where the manifest names none."""

_ID = re.compile(r"[A-Za-z0-9_.\-]{1,60}")


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What a case takes from its manifest."""

    suite: str
    dialect: str
    engines: tuple[str, ...]
    databases: frozenset[str]
    database: str
    policy: Policy


def read_suite(manifest: Manifest) -> Suite:
    """Read a manifest with ``cases:`` (a list) or ``data:`` (a JSONL file, or several)."""
    manifest.check_keys(["cases", "data", *CLAUSE_KEYS])
    if ("cases" in manifest.settings) == ("data" in manifest.settings):
        raise manifest.error("data", "a suite has either cases (a list) or data (a JSONL file)")
    defaults = _defaults(manifest)
    metric, settings = read_clause_metric(manifest, "execution_accuracy", defaults.dialect)
    digest = hashlib.sha256(manifest.path.read_bytes())
    if "cases" in manifest.settings:
        cases = tuple(_read_inline(manifest, defaults))
    else:
        cases = tuple(_read_files(manifest, defaults, digest))
    if not cases:
        raise manifest.error("cases" if "cases" in manifest.settings else "data", "the suite has no case")
    return manifest.make_suite(cases, metric, digest.hexdigest(), settings=settings)


def _defaults(manifest: Manifest) -> _Defaults:
    dialect = manifest.dialect or (manifest.engines[0] if manifest.engines else "sqlite")
    engines = manifest.engines or (GOLD_ENGINES.get(dialect, dialect),)
    names = frozenset(manifest.databases)
    return _Defaults(manifest.name, dialect, engines, names, "main" if "main" in names else "", manifest.policy)


def _read_inline(manifest: Manifest, defaults: _Defaults) -> Iterator[Case]:
    entries = manifest.settings["cases"]
    if not isinstance(entries, list):
        raise manifest.error("cases", f"cases is {type(entries).__name__}, wanted a list of cases")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, LinedDict):
            raise manifest.error("cases", f"case {number} is {entry!r}, wanted a mapping with id, question and gold")
        check_keys(manifest.path, entry, CASE_KEYS)
        yield from _make_cases(entry, manifest.path, entry.line_of, defaults)


def _read_files(manifest: Manifest, defaults: _Defaults, digest: Any) -> Iterator[Case]:
    names = manifest.settings["data"]
    for name in names if isinstance(names, list) else [names]:
        path = manifest.resolve("data", name)
        if path.suffix != ".jsonl":
            raise manifest.error("data", f"data is {name!r}, wanted a .jsonl file, a case a line (or give a format)")
        content = path.read_bytes()
        digest.update(content)
        yield from _parse_lines(path, content, defaults)


def _parse_lines(path: Path, content: bytes, defaults: _Defaults) -> Iterator[Case]:
    for line, entry in read_objects(path, content, "an object with id, question and gold"):
        if not entry.keys() <= CASE_KEYS:
            key = sorted(entry.keys() - CASE_KEYS)[0]
            raise CaseError(path, line, f"unknown key {key!r}. Known: {', '.join(sorted(CASE_KEYS))}.")
        yield from _make_cases(entry, path, lambda _key, line=line: line, defaults, str(path))


def _make_cases(
    entry: Mapping[str, Any], path: Path, line_of: Any, defaults: _Defaults, file: str = ""
) -> Iterator[Case]:
    case_id = entry.get("id")
    if not isinstance(case_id, str) or not _ID.fullmatch(case_id):
        found = "there is no id" if case_id is None else f"id is {case_id!r}"
        raise CaseError(path, line_of("id"), f"{found}; wanted 1 to 60 of A-Z a-z 0-9 _ . -")
    question = entry.get("question")
    if not isinstance(question, str) or not question.strip():
        raise CaseError(path, line_of("question"), f"case {case_id!r}: question is {question!r}, wanted a text")
    gold = _gold(entry.get("gold"), case_id, path, line_of)
    rest = _optional(entry, case_id, path, line_of, defaults) if len(entry) > 3 else {}
    line = line_of("id")
    single = len(defaults.engines) == 1
    for engine in defaults.engines:
        yield Case(
            suite=defaults.suite,
            id=case_id if single else f"{case_id}@{engine}",
            question=question,
            gold=gold,
            engine=engine,
            line=line,
            file=file,
            **{"dialect": defaults.dialect, "database": defaults.database, **rest},
        )


def _gold(value: object, case_id: str, path: Path, line_of: Any) -> tuple[str, ...]:
    queries = value if isinstance(value, list) else [value]
    if not queries or not all(isinstance(query, str) and query.strip() for query in queries):
        found = "there is no gold" if value is None else f"gold is {value!r}"
        raise CaseError(path, line_of("gold"), f"case {case_id!r}: {found}; wanted a query or a list of queries")
    return tuple(queries)


def _optional(entry: Mapping[str, Any], case_id: str, path: Path, line_of: Any, defaults: _Defaults) -> dict[str, Any]:
    rest: dict[str, Any] = {}

    def fault(key: str, wanted: str) -> CaseError:
        return CaseError(path, line_of(key), f"case {case_id!r}: {key} is {entry[key]!r}, wanted {wanted}")

    for key in ("evidence", "difficulty", "dialect"):
        if key in entry:
            if not isinstance(entry[key], str):
                raise fault(key, "a text")
            rest[key] = entry[key]
    if "tags" in entry:
        tags = entry["tags"] if isinstance(entry["tags"], list) else [entry["tags"]]
        if not all(isinstance(tag, str) and tag for tag in tags):
            raise fault("tags", "a text or a list of texts")
        rest["tags"] = tuple(tags)
    if "database" in entry:
        if entry["database"] not in defaults.databases:
            raise fault("database", f"one of {', '.join(sorted(defaults.databases))}")
        rest["database"] = entry["database"]
    if "threshold" in entry:
        value = entry["threshold"]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise fault("threshold", "a number from 0 to 1")
        rest["threshold"] = float(value)
    if "policy" in entry or "required_columns" in entry:
        rest["policy"] = _case_policy(entry, case_id, path, line_of, defaults)
    return rest


def _case_policy(entry: Mapping[str, Any], case_id: str, path: Path, line_of: Any, defaults: _Defaults) -> Policy:
    policy = defaults.policy
    try:
        if "policy" in entry:
            policy = parse_policy(entry["policy"])
    except UsageError as error:
        raise CaseError(path, line_of("policy"), f"case {case_id!r}: {error}") from error
    if "required_columns" not in entry:
        return policy
    columns = entry["required_columns"]
    items = columns if isinstance(columns, list) else [columns]
    if not items or not all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in items):
        where = line_of("required_columns")
        raise CaseError(path, where, f"case {case_id!r}: required_columns is {columns!r}, wanted labels or positions")
    return replace(policy, required=tuple(str(item) for item in items))
