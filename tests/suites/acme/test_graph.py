"""The published mapping gives its 228 triples, and 8 types more with the ontology."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.graph import build_graph, infer_types
from pytest_sqlbench.suites.acme.patches import AGREEMENT_HEADER, POLICY_HOLDER
from pytest_sqlbench.suites.acme.tables import Column, Table, read_tables
from tests.suites.acme import published

CLAIM = Table("Claim", (Column("Id", "int"),), (("1",),))


def _mapping(tmp_path: Path, query: str) -> Path:
    path = tmp_path / "m.r2rml"
    path.write_text(
        f"""@prefix rr: <http://www.w3.org/ns/r2rml#> .
        <http://m/A> a rr:TriplesMap ; rr:logicalTable [ rr:sqlQuery "{query}" ] ;
          rr:subjectMap [ rr:template "http://e/{{id}}" ; rr:class <http://e/Claim> ] .""",
        encoding="utf-8",
    )
    return path


def test_a_mapping_over_tables_gives_n_triples(tmp_path: Path) -> None:
    graph = build_graph([CLAIM], _mapping(tmp_path, "select ID from claim"), {}, None)
    assert graph == "<http://e/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Claim> .\n"


@pytest.mark.parametrize(
    "query", ["select id from policy", "select 1 as other", "not sql", "select 1; drop table claim"]
)
def test_a_mapping_that_does_not_fit_is_an_error(tmp_path: Path, query: str) -> None:
    with pytest.raises(CaseError, match=r"m\.r2rml: does not fit the tables"):
        build_graph([CLAIM], _mapping(tmp_path, query), {}, None)


def test_domain_and_range_give_types(tmp_path: Path) -> None:
    ontology = tmp_path / "o.ttl"
    ontology.write_text(
        """@prefix r: <http://www.w3.org/2000/01/rdf-schema#> . @prefix o: <http://www.w3.org/2002/07/owl#> .
        <http://e/has> a o:ObjectProperty ; r:domain <http://e/A> ; r:range <http://e/B> .
        <http://e/name> a o:DatatypeProperty ; r:range <http://www.w3.org/2001/XMLSchema#string> .""",
        encoding="utf-8",
    )
    triples = {("<http://e/1>", "<http://e/has>", "<http://e/2>"), ("<http://e/1>", "<http://e/name>", '"x"')}
    assert {(subject, kind) for subject, _, kind in infer_types(triples, ontology)} == {
        ("<http://e/1>", "<http://e/A>"),
        ("<http://e/2>", "<http://e/B>"),
    }


def test_the_published_graph() -> None:
    tables = read_tables(published.ddl(), published.folder() / "data", AGREEMENT_HEADER)
    plain = build_graph(tables, published.mapping(), POLICY_HOLDER, None)
    typed = build_graph(tables, published.mapping(), POLICY_HOLDER, published.ontology())
    assert (plain.count("\n"), typed.count("\n")) == (228, 236)
    assert "None" not in plain
