"""What a model is told: the paper's two prompts, and the context that stands in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pytest_sqlbench.suites.acme.tables import Table

SQL_PROMPT = """\
Given the database described by the following DDL: {schema}
Write a SQL query that answers the following question. Use the dialect of {language}. Do not explain the query. return \
just the query, so it can be run verbatim from your response.
Here's the question: {question}
"""
"""Sequeda, Allemang and Jacob 2023, arXiv 2311.07509; the sentence that states the dialect is ours."""

SPARQL_PROMPT = """\
Given the OWL model described in the following TTL file: {schema}
Write a SPARQL query that answers the question. The data for your query is available in a SERVICE identified by \
<mapped>. Do not explain the query. return just the query, so it can be run verbatim from your response.
Here's the question: {question}
"""
"""From the same paper."""

MOST_VALUES = 20
"""A code column with more distinct values is no list of codes."""


def describe_codes(tables: Iterable[Table], shown: Iterable[str]) -> str:
    """List the values of code columns, which a DDL never shows, one SQL comment per column.

    Args:
        tables: All tables; one with ``X_Code`` and ``X_Name`` says what the codes of ``X`` mean.
        shown: The tables that the DDL defines, in lower case: only their columns are listed.
    """
    tables = tuple(tables)
    names = _code_names(tables)
    wanted = frozenset(shown)
    lines = [line for table in tables if table.name.lower() in wanted for line in _describe_table(table, names)]
    return "\n".join(lines)


def _code_names(tables: Iterable[Table]) -> Mapping[str, Mapping[str, str]]:
    """Return code column (lower case) to code to its name."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for table in tables:
        places = {column.name.lower(): place for place, column in enumerate(table.columns)}
        code = f"{table.name.lower()}_code"
        name = places.get(f"{table.name.lower()}_name")
        if code in places and name is not None:
            for row in table.rows:
                found[code][row[places[code]] or ""] = row[name] or ""
    return found


def _describe_table(table: Table, names: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for place, column in enumerate(table.columns):
        values = sorted({cell for row in table.rows if (cell := row[place]) is not None})
        if column.name.lower().endswith("_code") and 0 < len(values) <= MOST_VALUES:
            meanings = names.get(column.name.lower(), {})
            shown = (f"'{value}'" + (f" ({meanings[value]})" if meanings.get(value) else "") for value in values)
            yield f"-- {table.name}.{column.name}: {', '.join(shown)}"
