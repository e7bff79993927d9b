"""Reads the published ACME folder into a suite: one case per question and language, tables and graph as recipes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.suites.acme.graph import build_graph
from pytest_sqlbench.suites.acme.inquiries import Inquiry, read_inquiries
from pytest_sqlbench.suites.acme.patches import (
    AGREEMENT_HEADER,
    POLICY_HOLDER,
    parse_patches,
    patch_sparql,
    patch_sql,
)
from pytest_sqlbench.suites.acme.prompts import SPARQL_PROMPT, SQL_PROMPT, describe_codes
from pytest_sqlbench.suites.acme.tables import SQL_TYPES, Table, read_tables, read_types, write_script
from pytest_sqlbench.suites.manifest import Manifest

KEYS = ("data", "language", "questions", "patches", "context", "transpile_from")
SOURCES = ("snowflake", "bigquery", "databricks", "duckdb", "mysql", "oracle", "postgres", "redshift", "sqlite", "tsql")
"""Dialects that predictions may be translated from."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The published files."""

    questions: Path
    ddl: Path
    rows: Path
    mapping: Path
    ontology: Path

    def files(self) -> list[Path]:
        """Return every file that the suite is made of."""
        return [self.questions, self.ddl, self.mapping, self.ontology, *sorted(self.rows.glob("*.csv"))]


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the manifest chose."""

    language: str
    questions: str
    patches: frozenset[str]
    context: str
    engines: tuple[str, ...]


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` (the folder ``ACME_Insurance`` as published) under the keys that `KEYS` lists.

    Raises:
        CaseError: A key has another value than those allowed, a file is missing or malformed, a patch does not fit.
    """
    manifest.check_keys(KEYS)
    choices = _read_choices(manifest)
    transpile_from = manifest.choice("transpile_from", ["", *SOURCES], "")
    folder = find_folder(manifest.resolve("data", manifest.settings.get("data")))
    tables = load_tables(folder, choices.patches)
    try:
        cases = tuple(_make_cases(manifest.name, folder, tables, choices))
    except CaseError:
        raise
    except UsageError as error:
        raise manifest.error("patches", str(error)) from error
    return manifest.make_suite(
        cases,
        manifest.metric or "execution_accuracy",
        _digest(manifest.path, folder),
        databases=_make_databases(manifest, folder, tables, choices),
        policy=None if "policy" in manifest.top else find_preset("paper"),
        settings=MappingProxyType({"transpile_from": transpile_from} if transpile_from else {}),
    )


def _read_choices(manifest: Manifest) -> _Choices:
    if manifest.dialect:
        raise manifest.error("dialect", "format acme takes the dialects of its engines; name an engine instead")
    engines = manifest.engines or ("duckdb",)
    for engine in engines:
        if engine not in SQL_TYPES:
            raise manifest.error("engine", f"engine is {engine!r}. Allowed with format acme: {', '.join(SQL_TYPES)}.")
    try:
        patches = parse_patches(manifest.settings.get("patches", "all"))
    except UsageError as error:
        raise manifest.error("patches", str(error)) from error
    return _Choices(
        language=manifest.choice("language", ["sql", "sparql", "both"], "both"),
        questions=manifest.choice("questions", ["paper43", "all44"], "paper43"),
        patches=patches,
        context=manifest.choice("context", ["ddl", "ddl+values"], "ddl"),
        engines=engines,
    )


def find_folder(path: Path) -> Folder:
    """Find the published files below the folder ``ACME_Insurance``; raise `CaseError` for the first that is missing."""

    def find(pattern: str) -> Path:
        found = sorted(path.glob(pattern))
        if len(found) != 1:
            raise CaseError(path, 0, f"found {len(found)} files like {pattern}; the published folder has one")
        return found[0]

    return Folder(
        questions=find("investigation/*.ttl"),
        ddl=find("DDL/*.ddl"),
        rows=path / "data",
        mapping=find("data/*.r2rml"),
        ontology=find("ontology/*.ttl"),
    )


def load_tables(folder: Folder, patches: frozenset[str]) -> tuple[Table, ...]:
    """Read the published tables; raise `CaseError` where a file is malformed."""
    headers: Mapping[str, Mapping[int, str]] = AGREEMENT_HEADER if "agreement-header" in patches else {}
    return read_tables(folder.ddl, folder.rows, headers)


def load_graph(folder: Folder, tables: tuple[Table, ...], patches: frozenset[str]) -> str:
    """Materialise the published mapping as N-Triples; raise `CaseError` where it does not fit."""
    templates = POLICY_HOLDER if "policy-holder" in patches else {}
    return build_graph(tables, folder.mapping, templates, folder.ontology if "range-types" in patches else None)


def _make_databases(
    manifest: Manifest, folder: Folder, tables: tuple[Table, ...], choices: _Choices
) -> Mapping[str, Database]:
    databases: dict[str, Database] = {}
    if choices.language != "sparql":
        given = manifest.databases.get("main")
        if (given is not None and given.url is not None) != ("postgres" in choices.engines):
            message = "PostgreSQL, and no other engine here, takes the URL of a server (see 'pytest-sqlbench acme')"
            raise manifest.error("database", message)
        for engine in choices.engines:
            name = f"acme-{engine}"
            if given is not None and (given.url is None or engine == "postgres"):
                databases[name] = given
            else:
                databases[name] = Database(name, schema=write_script(tables, engine))
    if choices.language != "sql":
        databases["acme-graph"] = Database("acme-graph", schema=load_graph(folder, tables, choices.patches))
    return databases


def _make_cases(suite: str, folder: Folder, tables: tuple[Table, ...], choices: _Choices) -> Iterator[Case]:
    contexts = _contexts(folder, tables, choices.context)
    for inquiry in read_inquiries(folder.questions, choices.questions):
        common: dict[str, Any] = {"suite": suite, "question": inquiry.question, "difficulty": inquiry.quadrant}
        if choices.language != "sparql":
            for engine in choices.engines:
                yield Case(
                    id=f"q{inquiry.number:02}-sql" + (f"@{engine}" if len(choices.engines) > 1 else ""),
                    gold=patch_sql(inquiry, engine, choices.patches),
                    dialect=engine,
                    engine=engine,
                    database=f"acme-{engine}",
                    tags=("sql",),
                    facts=_facts(inquiry, contexts["sql"], SQL_PROMPT),
                    **common,
                )
        if choices.language != "sql":
            yield Case(
                id=f"q{inquiry.number:02}-sparql",
                gold=patch_sparql(inquiry, choices.patches),
                dialect="sparql",
                engine="sparql",
                database="acme-graph",
                tags=("sparql",),
                facts=_facts(inquiry, contexts["sparql"], SPARQL_PROMPT),
                **common,
            )


def _facts(inquiry: Inquiry, schema: str, template: str) -> Mapping[str, Any]:
    facts = {"inquiry": inquiry.id, "quadrant": inquiry.quadrant, "schema": schema, "template": template}
    return MappingProxyType(facts)


def _contexts(folder: Folder, tables: tuple[Table, ...], context: str) -> Mapping[str, str]:
    """Return language to what its prompts show: DDL and ontology, with values also the codes and the mapping."""
    sql, sparql = (path.read_text(encoding="utf-8").strip() for path in (folder.ddl, folder.ontology))
    if context == "ddl+values":
        codes = describe_codes(tables, read_types(folder.ddl))
        sql = f"{sql}\n\n-- Codes that occur:\n{codes}"
        sparql = (
            f"{sparql}\n\n# The R2RML mapping that made the data:\n{folder.mapping.read_text(encoding='utf-8').strip()}"
        )
    return {"sql": sql, "sparql": sparql}


def _digest(manifest: Path, folder: Folder) -> str:
    digest = hashlib.sha256(manifest.read_bytes())
    for path in folder.files():
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
