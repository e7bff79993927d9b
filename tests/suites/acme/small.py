"""Writes a small folder in the published layout, of our own: two questions, three tables, a mapping, an ontology."""

from __future__ import annotations

from pathlib import Path

DDL = """CREATE TABLE Ship
(
\tShip_Identifier int  NOT NULL ,
\tShip_Name varchar(20)  NULL ,
\tFlag_Code varchar(2)  NULL ,
\tTonnage decimal(9,2)  NULL ,
\t PRIMARY KEY (Ship_Identifier ASC)
)"""

ROWS = {
    "Agreement": "Agreement_Type_Code,Name,Agreement_Type_Code\r\n1,x,",
    "Flag": "Flag_Code,Flag_Name\r\nNO,Norway\r\nDK,Denmark",
    "Ship": "Ship_Identifier,Ship_Name,Flag_Code,Tonnage\r\n1,Ask,NO,100\r\n2,Ran,DK,50.5\r\n3,Embla,,",
}

MAPPING = """@prefix rr: <http://www.w3.org/ns/r2rml#> .
<http://m/name> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "acme.db.ship" ] ;
  rr:subjectMap [ rr:template "http://e/Ship-{ship_identifier}" ; rr:class <http://e/Ship> ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/name> ; rr:objectMap [ rr:column "ship_name" ] ] .
<http://m/tonnage> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "acme.db.ship" ] ;
  rr:subjectMap [ rr:template "http://e/Ship-{ship_identifier}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/tonnage> ; rr:objectMap [ rr:column "tonnage" ] ] .
"""

ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://e/name> a owl:DatatypeProperty ; rdfs:domain <http://e/Named> .
"""

QUESTIONS = """@prefix q: <http://models.data.world/benchmarks/QandA#> . @prefix t: <https://templates.data.world/> .
@prefix d: <http://purl.org/dc/terms/> .
t:IQ_a a q:Inquiry ; q:prompt "Which ships are there?" ; q:expects t:query-1, t:query-2 .
t:query-1 q:inLanguage q:SQL ; d:title "LQLS: ships" ; q:queryText "SELECT ship_name FROM ship" .
t:query-2 q:inLanguage q:SPARQL ; d:title "LQLS: ships" ;
  q:queryText "SELECT ?n { SERVICE <mapped> { ?s a <http://e/Ship> ; <http://e/name> ?n } }" .
t:IQ_b a q:Inquiry ; q:prompt "What is the tonnage of all ships?" ; q:expects t:query-3, t:query-4 .
t:query-3 q:inLanguage q:SQL ; d:title "HQLS: tonnage" ; q:queryText "SELECT sum(tonnage) FROM ship" .
t:query-4 q:inLanguage q:SPARQL ; d:title "HQLS: tonnage" ;
  q:queryText "SELECT (SUM(?t) AS ?x) { ?s <http://e/tonnage> ?t }" .
"""


def write_folder(folder: Path) -> Path:
    """Write the folder ``published`` below another, and return it."""
    published = folder / "published"
    for name, text in {
        "DDL/small.ddl": DDL,
        "data/small.r2rml": MAPPING,
        "ontology/small.ttl": ONTOLOGY,
        "investigation/small.ttl": QUESTIONS,
        **{f"data/{table}.csv": rows for table, rows in ROWS.items()},
    }.items():
        path = published / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return published


def write_manifest(folder: Path, *lines: str, data: Path | None = None) -> Path:
    """Write a manifest with further lines, over the small folder unless another is given."""
    source = data if data is not None else write_folder(folder)
    path = folder / "acme.yaml"
    path.write_text("\n".join(["sqlbench: 1", "format: acme", f"data: {source}", *lines]) + "\n", encoding="utf-8")
    return path
