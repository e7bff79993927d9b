"""The known part of R2RML gives typed triples; anything outside it is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.r2rml import SelectedRows, TermMap, materialise, read_mapping, write_literal

MAPPING = """\
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix m: <http://m/> .
m:Claim rr:logicalTable [ rr:tableName "acme.db.claim" ] ;
  a rr:TriplesMap ;
  rr:subjectMap [ rr:template "http://e/Claim-{ID}" ; rr:class <http://e/Claim> ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/number> ; rr:objectMap [ rr:column "Number" ] ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/of> ; rr:objectMap [ rr:template "http://e/Policy-{policy}" ] ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/in> ; rr:objectMap [ rr:constant <http://e/graph> ] ] .
"""


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "m.r2rml"
    path.write_text(text, encoding="utf-8")
    return path


def _select(query: str) -> SelectedRows:
    assert query == "select * from claim"
    rows = ({"id": 1, "number": 7, "policy": "a/b c"}, {"id": 2, "number": None, "policy": None}, {"id": None})
    return SelectedRows({"id": "int", "number": "int", "policy": "varchar(5)"}, rows)


def test_rows_become_triples_and_null_becomes_none(tmp_path: Path) -> None:
    found = materialise(read_mapping(_write(tmp_path, MAPPING)), _select)
    type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert found == {
        ("<http://e/Claim-1>", type, "<http://e/Claim>"),
        ("<http://e/Claim-1>", "<http://e/number>", '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("<http://e/Claim-1>", "<http://e/of>", "<http://e/Policy-a%2Fb%20c>"),
        ("<http://e/Claim-1>", "<http://e/in>", "<http://e/graph>"),
        ("<http://e/Claim-2>", type, "<http://e/Claim>"),
        ("<http://e/Claim-2>", "<http://e/in>", "<http://e/graph>"),
    }


def test_a_template_can_be_corrected(tmp_path: Path) -> None:
    (each,) = read_mapping(_write(tmp_path, MAPPING), {"/Policy-{": "/Contract-{"})
    assert ("http://e/of", TermMap(template="http://e/Contract-{policy}")) in each.objects


@pytest.mark.parametrize(
    "value, sql_type, literal",
    [
        (7, "bigint", '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        (15000.0, "decimal(15,2)", '"15000"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        (0.5, "real", '"0.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        (0.5, "", '"0.5"^^<http://www.w3.org/2001/XMLSchema#double>'),
        ("2019-01-31", "datetime", '"2019-01-31T00:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>'),
        ("2019-01-31 10:00:00", "datetime", '"2019-01-31T10:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>'),
        ("007", "varchar(20)", '"007"'),
        ('a "b"\\\n', "", '"a \\"b\\"\\\\\\n"'),
    ],
    ids=["integer", "decimal", "real", "computed", "date", "date_and_time", "digits_in_text", "escapes"],
)
def test_literals_are_typed_as_the_column_was_declared(value: object, sql_type: str, literal: str) -> None:
    assert write_literal(value, sql_type) == literal


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("rr:column", "rr:parentTriplesMap", r"Claim: rr:parentTriplesMap is not supported\. Known: class, column"),
        ('rr:column "Number"', "rr:class <http://e/x>", "exactly one of rr:template, rr:column, rr:constant"),
        ("rr:subjectMap", "m:nothing", "Claim: no rr:subjectMap"),
        ("a rr:TriplesMap", "a m:nothing", "no rr:TriplesMap"),
        ('rr:tableName "acme.db.claim"', "", "Claim: no rr:tableName"),
    ],
    ids=["join", "empty_term", "no_subject", "no_map", "no_table"],
)
def test_what_is_not_known_is_an_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        read_mapping(_write(tmp_path, MAPPING.replace(old, new)))


def test_a_column_that_the_query_lacks_is_an_error(tmp_path: Path) -> None:
    maps = read_mapping(_write(tmp_path, MAPPING.replace('"Number"', '"Numbre"')))
    with pytest.raises(ValueError, match="Claim: no column 'Numbre' in select \\* from claim"):
        materialise(maps, _select)
