"""Reads WikiSQL as published: ``SPLIT.jsonl`` with ``SPLIT.tables.jsonl`` or ``SPLIT.db`` beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.logical_form import AGGREGATES, Condition, LogicalForm, WebTable, describe_table, render_sql
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.suites.json_lines import decode_text
from pytest_sqlbench.suites.manifest import Manifest
from pytest_sqlbench.suites.wikisql_tables import check_database, read_database_tables, read_tables_file

MODES = ("official", "strict", "seed")
EQUALITIES = ("head", "ordered", "2018")


@dataclass(frozen=True, slots=True)
class _Files:
    """What one split is made of."""

    split: str
    questions: Path
    tables: Path | None
    database: Path | None


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` (the folder, with ``split:``, or one ``.jsonl`` file), ``tables:`` and ``database:``.

    ``mode`` is ``official``, ``strict`` or ``seed``; ``lf_equality`` is ``head``, ``ordered`` or ``2018``. A case is
    named by its split and line: ``dev-00017``. ``facts`` hold the gold's logical form (``gold_facts``), its ``table``
    and the ``schema`` that a prompt may show.

    Raises:
        CaseError: A missing file or table, headers, types, rows and columns that do not fit, a form out of range.
    """
    manifest.check_keys(["data", "split", "tables", "mode", "lf_equality"])
    files = _find_files(manifest)
    content = files.questions.read_bytes()
    digest = hashlib.sha256(manifest.path.read_bytes() + content)
    tables = _read_tables(files, digest)
    cases = tuple(_read_cases(manifest.name, files, content, tables))
    if not cases:
        raise CaseError(files.questions, 0, "holds no question")
    named = manifest.policy.name if manifest.policy.name in MODES else "official"
    mode = manifest.choice("mode", MODES, named)
    equality = manifest.choice("lf_equality", EQUALITIES, "head")
    return manifest.make_suite(
        cases,
        manifest.metric or "acc_ex",
        digest.hexdigest(),
        databases={"main": Database("main", path=files.database)} if files.database else {},
        policy=Policy(name=f"wikisql-{mode}", columns="exact", vacuous=manifest.policy.vacuous, rule="wikisql"),
        settings={"mode": mode, "lf_equality": equality, "tables": files.tables},
    )


def _find_files(manifest: Manifest) -> _Files:
    data = manifest.resolve("data", manifest.settings.get("data"))
    if data.is_dir():
        split = manifest.setting("split", str)
        if not split:
            known = sorted(path.stem for path in data.glob("*.jsonl") if not path.name.endswith(".tables.jsonl"))
            raise manifest.error("split", f"split names no file of {data.name}. Found: {', '.join(known) or 'none'}.")
        questions = data / f"{split}.jsonl"
        if not questions.is_file():
            raise manifest.error("split", f"split {split!r}: no such file: {str(questions)!r}")
    else:
        questions, split = data, data.stem
    beside = questions.with_name(f"{split}.tables.jsonl"), questions.with_name(f"{split}.db")
    given = manifest.settings.get("tables")
    tables = manifest.resolve("tables", given) if given is not None else beside[0] if beside[0].is_file() else None
    main = manifest.databases.get("main")
    if main is not None and main.path is None:
        raise manifest.error("database", "database of a wikisql suite is a SQLite file")
    database = main.path if main is not None else beside[1] if beside[1].is_file() else None
    if tables is None and database is None:
        raise manifest.error("data", f"no tables for split {split!r}: neither {beside[0].name} nor {beside[1].name}")
    return _Files(split, questions, tables, database)


def _read_tables(files: _Files, digest: Any) -> Mapping[str, WebTable]:
    if files.tables is None:
        assert files.database is not None
        return read_database_tables(files.database)
    tables = read_tables_file(files.tables, digest, needs_rows=files.database is None)
    if files.database is not None:
        check_database(files.database, files.tables, tables)
    return {table.name: table for table in tables.values()}


def _read_cases(suite: str, files: _Files, content: bytes, tables: Mapping[str, WebTable]) -> Iterator[Case]:
    decode = json.JSONDecoder().decode
    reader = _CaseReader(suite, files, tables)
    for line, raw in enumerate(decode_text(files.questions, content).split("\n"), 1):
        if not raw or raw.isspace():
            continue
        try:
            entry = decode(raw)
        except (ValueError, RecursionError) as error:
            raise CaseError(files.questions, line, f"is not JSON: {error}") from error
        yield reader.read(entry, line)


class _CaseReader:
    """Makes cases that share what they have in common: names, tags, tables and their descriptions."""

    def __init__(self, suite: str, files: _Files, tables: Mapping[str, WebTable]) -> None:
        self._suite = suite
        self._files = files
        self._tables = tables
        self._database = "main" if files.database else ""
        self._schemas: dict[str, str] = {}
        self._tags: dict[tuple[int, int], tuple[str, ...]] = {}

    def read(self, entry: Any, line: int) -> Case:
        path = self._files.questions
        if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
            raise CaseError(path, line, "wanted an object with table_id, question and sql")
        table = self._table(entry.get("table_id"), line)
        form = _read_form(entry.get("sql"), table, path, line)
        return Case(
            suite=self._suite,
            id=f"{self._files.split}-{line:05d}",
            question=entry["question"],
            gold=(render_sql(form, table),),
            database=self._database,
            tags=self._tags_of(form),
            line=line,
            file=str(path),
            facts={"gold_facts": form, "table": table, "schema": self._schema(table)},
        )

    def _table(self, table_id: object, line: int) -> WebTable:
        name = table_id if isinstance(table_id, str) else ""
        table = self._tables.get(name if name.startswith("table") else "table_" + name.replace("-", "_"))
        if table is None:
            where = self._files.tables or self._files.database
            raise CaseError(self._files.questions, line, f"table {table_id!r} is not in {where}")
        return table

    def _schema(self, table: WebTable) -> str:
        schema = self._schemas.get(table.id)
        if schema is None:
            schema = self._schemas[table.id] = describe_table(table)
        return schema

    def _tags_of(self, form: LogicalForm) -> tuple[str, ...]:
        key = (form.agg, len(form.conds))
        tags = self._tags.get(key)
        if tags is None:
            aggregate = AGGREGATES[form.agg].lower() or "none"
            tags = self._tags[key] = (f"agg-{aggregate}", f"conds-{len(form.conds)}")
        return tags


def _read_form(value: Any, table: WebTable, path: Path, line: int) -> LogicalForm:
    """Check a gold form: all indices in range, all values text or number."""
    if not isinstance(value, dict) or not isinstance(value.get("conds"), list):
        raise CaseError(path, line, f"sql is {str(value)[:80]!r}, wanted an object with sel, agg and conds")
    width = len(table.headers)
    sel, agg = value.get("sel"), value.get("agg")
    if type(sel) is not int or not 0 <= sel < width:
        raise CaseError(path, line, f"sel is {sel!r}; table {table.id} has columns 0 to {width - 1}")
    if type(agg) is not int or not 0 <= agg < len(AGGREGATES):
        raise CaseError(path, line, f"agg is {agg!r}, wanted 0 to {len(AGGREGATES) - 1}")
    conds = []
    for number, item in enumerate(value["conds"], 1):
        if not isinstance(item, list) or len(item) != 3:
            raise CaseError(path, line, f"condition {number} is {str(item)[:80]!r}, wanted [column, operator, value]")
        column, operator, wanted = item
        if type(column) is not int or not 0 <= column < width:
            raise CaseError(path, line, f"condition {number}: column is {column!r}; table {table.id} has {width}")
        if type(operator) is not int or not 0 <= operator < 3:
            raise CaseError(path, line, f"condition {number}: operator is {operator!r}, wanted 0 (=), 1 (>) or 2 (<)")
        if type(wanted) not in (str, int, float):
            raise CaseError(path, line, f"condition {number}: value is {wanted!r}, wanted a text or a number")
        conds.append(Condition(column, operator, wanted))
    return LogicalForm(sel, agg, tuple(conds))
