"""Builds ACME's knowledge graph: tables in memory, the R2RML mapping over them, N-Triples out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.r2rml import SelectedRows, Triple, materialise, read_mapping
from pytest_sqlbench.suites.acme.tables import Table, write_script
from pytest_sqlbench.suites.acme.triples import RDF_TYPE, read_turtle

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OBJECT_PROPERTY = "http://www.w3.org/2002/07/owl#ObjectProperty"


def build_graph(tables: Iterable[Table], mapping: Path, templates: Mapping[str, str], ontology: Path | None) -> str:
    """Materialise the mapping over the tables and return the graph as N-Triples, one sorted line per triple.

    Args:
        tables: The loaded tables.
        mapping: The R2RML file.
        templates: Part of an IRI template to what stands there instead.
        ontology: If given, subjects and objects of its properties get the classes of domain and range as types.

    Raises:
        CaseError: The mapping or the ontology cannot be read, or the mapping does not fit the tables.
    """
    maps = read_mapping(mapping, templates)
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(write_script(tables, "sqlite"))
        triples = materialise(maps, lambda query: _select(connection, query))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:  # 3.10 warns of a second statement
        raise CaseError(mapping, 0, f"does not fit the tables: {error}") from error
    finally:
        connection.close()
    if ontology is not None:
        triples |= infer_types(triples, ontology)
    return "".join(f"{' '.join(triple)} .\n" for triple in sorted(triples))


def infer_types(triples: Iterable[Triple], ontology: Path) -> set[Triple]:
    """Return the types that ``rdfs:domain`` and, for object properties, ``rdfs:range`` give to what they connect."""
    terms = read_turtle(ontology)
    domains = {(f"<{name}>", f"<{kind}>") for name, kind in terms.pairs(f"{RDFS}domain")}
    objects = set(terms.instances(OBJECT_PROPERTY))
    ranges = {(f"<{name}>", f"<{kind}>") for name, kind in terms.pairs(f"{RDFS}range") if name in objects}
    found: set[Triple] = set()
    for subject, predicate, value in triples:
        found |= {(subject, f"<{RDF_TYPE}>", kind) for name, kind in domains if name == predicate}
        found |= {(value, f"<{RDF_TYPE}>", kind) for name, kind in ranges if name == predicate}
    return found


def _select(connection: sqlite3.Connection, query: str) -> SelectedRows:
    """Run a query of the mapping; a view tells the declared types of its columns, which a cursor does not."""
    connection.execute("DROP VIEW IF EXISTS mapped")
    connection.execute(f"CREATE TEMP VIEW mapped AS {query}")
    types = {row[1].lower(): row[2] for row in connection.execute("PRAGMA table_info(mapped)")}
    cursor = connection.execute("SELECT * FROM mapped")
    names = [column[0].lower() for column in cursor.description]
    return SelectedRows(types, tuple(dict(zip(names, row, strict=True)) for row in cursor))
