"""The scanner lets reads of the graph pass unchanged in meaning, and nothing that could be another SERVICE."""

from __future__ import annotations

import pytest

from pytest_sqlbench.engines.sparql_prepare import MAX_CHARACTERS, MAX_DEPTH, prepare_query
from pytest_sqlbench.result import QueryFailure, Status

PASSES = [
    ("select_is_untouched", "SELECT ?s WHERE { ?s ?p ?o }", "SELECT ?s WHERE { ?s ?p ?o }"),
    ("relative_mapped", "SELECT * { SERVICE <mapped> { ?s ?p ?o } }", "SELECT * {  { ?s ?p ?o } }"),
    ("prefixed_mapped", "PREFIX d: <http://d/> ASK { SERVICE d:mapped{} }", "PREFIX d: <http://d/> ASK {  {} }"),
    ("absolute_mapped", "ASK { service silent <http://d/mapped> {} }", "ASK {  {} }"),
    (
        "glued_to_the_mapping",  # read as one prefixed name and broken: the engine reports the undeclared prefix
        "PREFIX : <http://d/> ASK { SERVICE:mapped {} }",
        "PREFIX : <http://d/> ASK { s-ervice:mapped {} }",
    ),
    ("several_services", "ASK { SERVICE <mapped> {} SERVICE <mapped> {} }", "ASK {  {}  {} }"),
    ("comments_are_dropped", "ASK # SERVICE <http://e> {\n {}", "ASK \n {}"),
    ("service_in_a_text", "ASK { ?s ?p 'SERVICE <http://e> {' }", "ASK { ?s ?p 'SERVICE <http://e> {' }"),
    ("service_in_an_iri", "ASK { ?s <http://e/SERVICE> ?o }", "ASK { ?s <http://e/SERVICE> ?o }"),
    ("service_in_a_variable", "ASK { ?SERVICE ?p $from }", "ASK { ?SERVICE ?p $from }"),
    (
        "service_in_a_prefix_is_renamed",
        "PREFIX Service: <http://e/> ASK { ?s Service:a ?o }",
        "PREFIX s-ervice: <http://e/> ASK { ?s s-ervice:a ?o }",
    ),
    ("escaped_quote_ends_no_text", "ASK { ?s ?p 'a\\' FROM' }", "ASK { ?s ?p 'a\\' FROM' }"),
    ("hash_in_an_iri_is_no_comment", "ASK { ?s <http://e#a> ?o }", "ASK { ?s <http://e#a> ?o }"),
]


@pytest.mark.parametrize("query, text", [row[1:] for row in PASSES], ids=[row[0] for row in PASSES])
def test_a_read_of_the_graph_passes(query: str, text: str) -> None:
    assert prepare_query(query) == text


REFUSED = [
    ("other_service", "ASK { SERVICE <http://e/sparql> {} }", "SERVICE <http://e/sparql> is refused"),
    ("silent_service", "ASK { SERVICE SILENT <http://e/sparql> {} }", "SERVICE <http://e/sparql>"),
    ("variable_service", "ASK { SERVICE ?g {} }", "SERVICE ?g"),
    ("service_without_a_group", "ASK { SERVICE <mapped> }", "no group follows"),
    ("service_at_the_end", "ASK { SERVICE", "no group follows"),
    ("service_behind_a_comment", "ASK { SERVICE #\n <http://e/sparql> {} }", "SERVICE <http://e/sparql>"),
    ("service_behind_a_carriage_return", "ASK { ?s ?p ?o #\r SERVICE <http://e/sparql> {} }", "SERVICE <http"),
    ("service_glued_to_a_number", "ASK { ?s ?p 1SERVICE<http://e/sparql> {} }", "SERVICE <http"),
    ("service_glued_to_a_word", "ASK { ?s ?p trueSERVICE<http://e/sparql> {} }", "can be read as SERVICE"),
    ("service_behind_an_empty_local_name", "ASK { ?s ?p e:.SERVICE<http://e/sparql> {} }", "SERVICE <http"),
    ("service_between_comparisons", "ASK { FILTER(?a<1)SERVICE<http://e/x>{}FILTER(?a>1) }", "SERVICE <http"),
    ("from", "SELECT * FROM <http://e> {}", "FROM is refused"),
    ("from_named", "SELECT * from named <http://e> {}", "FROM is refused"),
    ("load", "LOAD <http://e>", "LOAD is an update"),
    ("insert", "PREFIX a: <http://a/> INSERT DATA { a:a a:a a:a }", "INSERT is an update"),
    ("with", "WITH <http://e> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "WITH is an update"),
    ("too_deep", "ASK " + "{" * (MAX_DEPTH + 1), "nested more than"),
    ("too_long", "ASK { }" + " " * MAX_CHARACTERS, "characters; at most"),
]


@pytest.mark.parametrize("query, message", [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_anything_else_is_refused(query: str, message: str) -> None:
    refused = prepare_query(query)
    assert isinstance(refused, QueryFailure)
    assert refused.status is Status.DENIED
    assert message in refused.message


@pytest.mark.parametrize("query", ["", "?x", "the answer is 42", "PREFIX a: <http://a/> insert-ed: x", "a:insert"])
def test_what_is_no_query_is_left_to_the_grammar(query: str) -> None:
    assert prepare_query(query) == query


@pytest.mark.parametrize("query", ["'" * 90_001, "<" * 90_000, "?" * 90_000, "a:" * 45_000, '"""' * 30_000])
def test_odd_texts_are_scanned_in_linear_time(query: str) -> None:
    assert isinstance(prepare_query(query), str | QueryFailure)
