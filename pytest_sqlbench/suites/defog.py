"""Reads defog's question tables: several golds in one cell, braces for columns of which any will do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.csv_rows import read_rows
from pytest_sqlbench.suites.listed import LIST_KEYS, make_suite
from pytest_sqlbench.suites.manifest import Manifest

MOST_GOLDS = 64
"""Golds that the braces of one cell may stand for."""

_PART = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|;|[^;'"/-]+|.""", re.DOTALL)
_GROUPED = re.compile(r"(group\s+by\s+)\{\s*\}", re.IGNORECASE)
_BRACES = re.compile(r"""('(?:[^']|'')*')|\{([^{}]*)\}""")


def read_suite(manifest: Manifest) -> Suite:
    """Read ``data:`` (a CSV with db_name, query, question) and ``databases:`` (the folder with ``DB.db``).

    Instructions become the evidence and the category a tag. Case ids are places in the table, from 0.

    Raises:
        CaseError: A column that is absent, an empty cell, a database without its file.
    """
    manifest.check_keys(LIST_KEYS)
    data = manifest.resolve("data", manifest.settings.get("data"))
    content = data.read_bytes()
    cases = list(_cases(manifest, data, content))
    return make_suite(manifest, data, cases, "defog", [content], suffix=".db")


def _cases(manifest: Manifest, path: Path, content: bytes) -> Iterator[Case]:
    for position, (line, row) in enumerate(read_rows(path, content)):
        for column in ("db_name", "query", "question"):
            if column not in row:
                raise CaseError(path, 1, f"no column {column!r}. Found: {', '.join(row)}.")
            if not row[column].strip():
                raise CaseError(path, line, f"{column} is empty")
        golds = tuple(gold for query in split_statements(row["query"]) for gold in expand_braces(query))
        if not 0 < len(golds) <= MOST_GOLDS:
            raise CaseError(path, line, f"query stands for {len(golds)} golds, wanted 1 to {MOST_GOLDS}")
        hints = [row[key].strip() for key in ("instructions", "full_instructions") if row.get(key)]
        category = row.get("query_category", "")
        yield Case(
            suite=manifest.name,
            id=str(position),
            question=row["question"],
            gold=golds,
            database=row["db_name"],
            evidence=hints[0] if hints else "",
            tags=tuple(tag for tag in (row["db_name"], category) if tag),
            line=line,
            file=str(path),
            facts={"position": position},
        )


def split_statements(text: str) -> list[str]:
    """Split golds at semicolons that stand outside of literals and comments.

    >>> split_statements("SELECT ';' ; SELECT 2;")
    ["SELECT ';'", 'SELECT 2']
    """
    statements = [""]
    for part in _PART.findall(text):
        if part == ";":
            statements.append("")
        else:
            statements[-1] += part
    return [statement.strip() for statement in statements if statement.strip()]


def expand_braces(query: str) -> list[str]:
    """Spell out ``{a, b}``: one query per choice of some of its columns; ``GROUP BY {}`` takes the same ones.

    >>> expand_braces("SELECT {a, b} FROM t")
    ['SELECT a FROM t', 'SELECT b FROM t', 'SELECT a, b FROM t']
    """
    found = next((match for match in _BRACES.finditer(query) if match[2] and match[2].strip()), None)
    if found is None:
        return [query]
    columns = [column.strip() for column in found[2].split(",") if column.strip()]
    queries: list[str] = []
    for n in range(1, len(columns) + 1):
        for chosen in combinations(columns, n):
            text = ", ".join(chosen)
            rest = _GROUPED.sub(rf"\g<1>{text.replace(chr(92), chr(92) * 2)}", query[found.end() :])
            queries += expand_braces(query[: found.start()] + text + rest)
            if len(queries) > MOST_GOLDS:
                return queries
    return queries
