"""Turns rows into triples by an R2RML mapping, with typed literals: the part of R2RML that ACME's mapping uses.

Known: a logical table by ``rr:tableName`` or ``rr:sqlQuery``; a subject map with ``rr:class``; predicates by
``rr:predicate``; terms by ``rr:template``, ``rr:column`` or ``rr:constant``. Any other R2RML term is an error, never
ignored. Literals follow the natural mapping of the standard, chapter 10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.triples import RDF_TYPE, Triples, read_turtle

RR = "http://www.w3.org/ns/r2rml#"
XSD = "http://www.w3.org/2001/XMLSchema#"

Record = Mapping[str, object]
"""One row: column in lower case to its value; None is NULL."""

Triple = tuple[str, str, str]
"""Subject, predicate and object in N-Triples notation."""

_KNOWN = frozenset(
    RR + name
    for name in (
        *("logicalTable", "tableName", "sqlQuery", "subjectMap", "predicateObjectMap", "predicate", "objectMap"),
        *("class", "template", "column", "constant"),
    )
)


@dataclass(frozen=True, slots=True)
class TermMap:
    """How a cell or a row becomes a term; exactly one field is not empty."""

    template: str = ""
    column: str = ""
    constant: str = ""
    """An IRI."""


@dataclass(frozen=True, slots=True)
class TriplesMap:
    """What one query over the tables gives to the graph."""

    name: str
    query: str
    """SQL; for ``rr:tableName`` all of that table."""
    subject: TermMap
    classes: tuple[str, ...]
    objects: tuple[tuple[str, TermMap], ...]
    """Predicate and the map of its object."""


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """What a query of a mapping selects, with the declared SQL types of its columns, both by name in lower case."""

    types: Mapping[str, str]
    """Empty for a computed column."""
    rows: tuple[Record, ...]


def read_mapping(path: Path, templates: Mapping[str, str] = MappingProxyType({})) -> tuple[TriplesMap, ...]:
    """Read a mapping in Turtle, sorted by the names of its triples maps.

    Args:
        path: The mapping.
        templates: Part of an IRI template to what stands there instead.

    Raises:
        CaseError: It is not Turtle, or uses a term of R2RML outside the part that is known here.
    """
    triples = read_turtle(path)
    maps = tuple(_read_map(triples, name, templates) for name in triples.instances(f"{RR}TriplesMap"))
    if not maps:
        raise CaseError(path, 0, "no rr:TriplesMap in this file")
    return maps


def _read_map(triples: Triples, name: str, templates: Mapping[str, str]) -> TriplesMap:
    _check_terms(triples, name, name)
    table = _only(triples, name, name, "logicalTable")
    subject = _only(triples, name, name, "subjectMap")
    objects: list[tuple[str, TermMap]] = []
    for node in triples.values(name, f"{RR}predicateObjectMap"):
        _check_terms(triples, name, node)
        target = _read_term(triples, name, _only(triples, name, node, "objectMap"), templates)
        objects.extend((predicate, target) for predicate in triples.values(node, f"{RR}predicate"))
    return TriplesMap(
        name=re.split(r"[/#]", name)[-1],
        query=_read_query(triples, name, table),
        subject=_read_term(triples, name, subject, templates),
        classes=tuple(triples.values(subject, f"{RR}class")),
        objects=tuple(objects),
    )


def _read_query(triples: Triples, name: str, table: str) -> str:
    _check_terms(triples, name, table)
    if query := triples.value(table, f"{RR}sqlQuery"):
        return query
    # the published names carry the vendor's catalog: myinsurancecompany.omg-pc-database.claim
    return f"select * from {_only(triples, name, table, 'tableName').rsplit('.', 1)[-1]}"


def _read_term(triples: Triples, name: str, node: str, templates: Mapping[str, str]) -> TermMap:
    _check_terms(triples, name, node)
    found = {key: triples.value(node, RR + key) or "" for key in ("template", "column", "constant")}
    if sum(map(bool, found.values())) != 1:
        raise CaseError(triples.path, 0, f"{name}: a term map has exactly one of rr:template, rr:column, rr:constant")
    for published, corrected in templates.items():
        found["template"] = found["template"].replace(published, corrected)
    return TermMap(**found)


def _only(triples: Triples, name: str, node: str, key: str) -> str:
    value = triples.value(node, RR + key)
    if value is None:
        raise CaseError(triples.path, 0, f"{name}: no rr:{key}")
    return value


def _check_terms(triples: Triples, name: str, node: str) -> None:
    used = {predicate for predicate in triples.predicates(node) if predicate.startswith(RR)}
    if unknown := sorted(used - _KNOWN):
        known = ", ".join(sorted(term.removeprefix(RR) for term in _KNOWN))
        raise CaseError(triples.path, 0, f"{name}: rr:{unknown[0].removeprefix(RR)} is not supported. Known: {known}.")


def materialise(maps: tuple[TriplesMap, ...], select: Callable[[str], SelectedRows]) -> set[Triple]:
    """Apply a mapping; ``select`` answers its queries. A NULL anywhere in a term gives no triple.

    Raises:
        ValueError: A term names a column that its query does not give.
    """
    found: set[Triple] = set()
    answers = {query: select(query) for query in sorted({each.query for each in maps})}
    for each in maps:
        answer = answers[each.query]
        for row in answer.rows:
            found.update(_row_triples(each, answer.types, row))
    return found


def _row_triples(each: TriplesMap, types: Mapping[str, str], row: Record) -> Iterator[Triple]:
    subject = _term(each, each.subject, types, row)
    if subject is None:
        return
    for kind in each.classes:
        yield subject, f"<{RDF_TYPE}>", f"<{kind}>"
    for predicate, target in each.objects:
        value = _term(each, target, types, row)
        if value is not None:
            yield subject, f"<{predicate}>", value


def _term(each: TriplesMap, term: TermMap, types: Mapping[str, str], row: Record) -> str | None:
    if term.constant:
        return f"<{term.constant}>"
    if term.column:
        value = _cell(each, row, term.column)
        return None if value is None else write_literal(value, types.get(term.column.lower(), ""))
    parts = re.split(r"\{([^}]+)\}", term.template)
    for place in range(1, len(parts), 2):
        value = _cell(each, row, parts[place])
        if value is None:
            return None
        parts[place] = quote(str(value), safe="")
    return f"<{''.join(parts)}>"


def _cell(each: TriplesMap, row: Record, name: str) -> object:
    try:
        # the mapping writes one column in several cases: {Claim_Identifier}, {claim_identifier}
        return row[name.lower()]
    except KeyError:
        raise ValueError(f"{each.name}: no column {name!r} in {' '.join(each.query.split())}") from None


def write_literal(value: object, sql_type: str) -> str:
    """Write a cell as an N-Triples literal, typed as the column was declared; a computed one as its value is."""
    kind = sql_type.partition("(")[0].strip().lower()
    if kind == "datetime":
        return _typed(str(value).replace(" ", "T") if ":" in str(value) else f"{value}T00:00:00", "dateTime")
    if kind in ("decimal", "real"):
        return _typed(f"{Decimal(str(value)).normalize():f}", "decimal")
    if isinstance(value, int):
        return _typed(str(value), "integer")
    if isinstance(value, float):
        return _typed(repr(value), "double")
    return _quoted(str(value))


def _typed(text: str, type: str) -> str:
    return f'"{text}"^^<{XSD}{type}>'


def _quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
