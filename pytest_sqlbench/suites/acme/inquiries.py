"""Reads the questions of the ACME benchmark and their published queries out of its Turtle file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.triples import Triples, read_turtle

QANDA = "http://models.data.world/benchmarks/QandA#"
TITLE = "http://purl.org/dc/terms/title"

QUADRANTS = ("LQLS", "HQLS", "LQHS", "HQHS")
"""Low or high complexity of the question (Q) and of the schema (S), in the order of the paper's table."""

NOT_IN_PAPER = frozenset({"IQ_d51d706e4b7ef001706289b940f09b24"})
"""The one published question that the paper's 43 leave out: only then do its averages come out (12/11/10/10)."""


@dataclass(frozen=True, slots=True)
class PublishedQuery:
    """One query of the Turtle file, word for word."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question with its published queries in both languages."""

    number: int
    """Place among all published questions in the order of their ids, from 0: never moves with the question set."""
    id: str
    question: str
    quadrant: str
    sql: tuple[PublishedQuery, ...]
    sparql: tuple[PublishedQuery, ...]


def read_inquiries(path: Path, questions: str = "all44") -> tuple[Inquiry, ...]:
    """Read the questions, sorted by id; ``paper43`` leaves out what the paper did not ask.

    Raises:
        CaseError: The file cannot be read, or a question lacks a text, a query or a quadrant.
    """
    triples = read_turtle(path)
    ids = triples.instances(f"{QANDA}Inquiry")
    if not ids:
        raise CaseError(path, 0, "no QandA:Inquiry in this file")
    read = (_read_inquiry(triples, number, iri) for number, iri in enumerate(ids))
    return tuple(inquiry for inquiry in read if questions == "all44" or inquiry.id not in NOT_IN_PAPER)


def _read_inquiry(triples: Triples, number: int, iri: str) -> Inquiry:
    id = _local(iri)
    # some prompts stand twice, with differing white space
    prompts = sorted({" ".join(text.split()) for text in triples.values(iri, f"{QANDA}prompt")})
    if len(prompts) != 1:
        raise CaseError(triples.path, 0, f"{id} has {len(prompts)} prompts; one is wanted")
    queries = triples.values(iri, f"{QANDA}expects")
    quadrants = {_quadrant(triples, query) for query in queries}
    if len(quadrants) != 1:
        raise CaseError(
            triples.path, 0, f"{id} has {len(quadrants)} quadrants in the titles of its queries; one is wanted"
        )
    sql, sparql = (_read_queries(triples, queries, language) for language in ("SQL", "SPARQL"))
    if not sql or not sparql:
        raise CaseError(triples.path, 0, f"{id} has {len(sql)} SQL and {len(sparql)} SPARQL queries; both are wanted")
    return Inquiry(number, id, prompts[0], quadrants.pop(), sql, sparql)


def _read_queries(triples: Triples, queries: list[str], language: str) -> tuple[PublishedQuery, ...]:
    found = []
    for query in queries:
        text = triples.value(query, f"{QANDA}queryText")
        if triples.value(query, f"{QANDA}inLanguage") == f"{QANDA}{language}" and text:
            found.append(PublishedQuery(_local(query), text))
    return tuple(found)


def _quadrant(triples: Triples, query: str) -> str:
    title = triples.value(query, TITLE) or ""
    found = re.match(r"\s*([LH]Q[LH]S)\b", title)
    if not found:
        raise CaseError(
            triples.path, 0, f"{_local(query)}: title {title[:40]!r} begins with none of {', '.join(QUADRANTS)}"
        )
    return found[1]


def _local(iri: str) -> str:
    return re.split(r"[/#]", iri)[-1]
