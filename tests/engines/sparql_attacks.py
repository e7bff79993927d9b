"""Hostile SPARQL of our own, and how it has to end. ``@URL@`` is a server that must not be called."""

from __future__ import annotations

from dataclasses import dataclass

GRAPH = "@prefix e: <http://e/> .\n" + "".join(
    f"e:n{number} e:to e:n{(number + 1) % 400}, e:n{number * 7 % 400}, e:n{number * 31 % 400} ; e:size {number} .\n"
    for number in range(400)
)
"""400 nodes in a ring with chords: 1,600 triples in which paths multiply."""


@dataclass(frozen=True)
class Attack:
    """A query and the ways in which it may end: statuses, or ``rows`` for a harmless answer."""

    id: str
    query: str
    ends: str


def _nest(opening: str, inner: str, closing: str, depth: int) -> str:
    return opening * depth + inner + closing * depth


_BIG = " ".join(str(number) for number in range(16_000))
_SERVICE = "SERVICE <@URL@> { ?s ?p ?o }"

ATTACKS = [
    # remote services, in every spelling that the engine itself understands
    Attack("service", "SELECT * { SERVICE <@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_silent", "SELECT * { SERVICE SILENT <@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_lower_case", "select * { service <@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_glued", "SELECT*{SERVICE<@URL@>{?s ?p ?o}}", "denied"),
    Attack("service_prefixed", "PREFIX x: <@URL@> SELECT * { SERVICE x:a { ?s ?p ?o } }", "denied"),
    Attack("service_default_prefix", "PREFIX : <@URL@> SELECT * { SERVICE : { ?s ?p ?o } }", "denied"),
    Attack("service_glued_to_its_prefix", "PREFIX x: <@URL@> SELECT * { SERVICEx:a { ?s ?p ?o } }", "syntax"),
    Attack("silent_glued_to_its_prefix", "PREFIX x: <@URL@> SELECT * { SERVICESILENTx:a { ?s ?p ?o } }", "syntax"),
    Attack(
        "service_as_a_prefix",
        "PREFIX SERVICE: <http://e/> PREFIX : <@URL@> SELECT * { SERVICE:a { ?s ?p ?o } }",
        "syntax",
    ),
    Attack("service_after_a_number", "SELECT * { ?s ?p 1SERVICE<@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_after_a_double", "SELECT * { ?s ?p 1e0SERVICE<@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_after_true", "SELECT * { ?s ?p trueSERVICE<@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_after_a_name", "PREFIX x: <http://e/> SELECT * { ?s ?p x:.SERVICE<@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_after_an_iri", "SELECT * { ?s ?p <http://e/#a>SERVICE<@URL@>{ ?s ?p ?o } }", "denied"),
    Attack("service_after_an_escaped_iri", "ASK { ?s ?p <http://e/\\u0041#>SERVICE<@URL@>{ ?s ?p ?o } }", "denied"),
    Attack("service_after_a_comment", "SELECT * { ?s ?p ?o # {\n SERVICE<@URL@>{ ?s ?p ?o } }", "denied"),
    Attack("service_after_a_carriage_return", "SELECT * { ?s ?p ?o # {\r SERVICE<@URL@>{ ?s ?p ?o } }", "denied"),
    Attack("service_behind_a_comment", "SELECT * { SERVICE # <mapped>\n <@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_after_a_quote", "SELECT * { ?s ?p 'a\\'' . SERVICE <@URL@> { ?s ?p ?o } }", "denied"),
    Attack("service_after_a_long_text", 'ASK { ?s ?p """a"\\"""" . SERVICE <@URL@> { ?s ?p ?o } }', "denied"),
    Attack("service_between_comparisons", f"ASK {{ ?s ?p ?o FILTER(?o<1){_SERVICE}FILTER(?o>1) }}", "denied"),
    Attack("service_of_a_variable", "SELECT * { VALUES ?g { <@URL@> } SERVICE ?g { ?s ?p ?o } }", "denied"),
    Attack("service_in_exists", f"SELECT * {{ FILTER EXISTS {{ {_SERVICE} }} }}", "denied"),
    Attack("service_in_optional", f"SELECT * {{ OPTIONAL {{ {_SERVICE} }} }}", "denied"),
    Attack("service_in_a_subquery", f"SELECT * {{ {{ SELECT * {{ {_SERVICE} }} }} }}", "denied"),
    Attack("service_in_the_mapping", f"SELECT * {{ SERVICE <mapped> {{ {_SERVICE} }} }}", "denied"),
    Attack("service_called_mapped", "SELECT * { SERVICE <@URL@/mapped> { <http://e/n0> <http://e/size> ?o } }", "rows"),
    Attack("service_of_a_file", "SELECT * { SERVICE <file:///etc/passwd> { ?s ?p ?o } }", "denied"),
    # other ways out
    Attack("from", "SELECT * FROM <@URL@> { ?s ?p ?o }", "denied"),
    Attack("from_named", "SELECT * FROM NAMED <@URL@> { GRAPH ?g { ?s ?p ?o } }", "denied"),
    Attack("from_glued", "SELECT * FROMNAMED<@URL@> { GRAPH ?g { ?s ?p ?o } }", "rows syntax"),
    Attack("from_file", "ASK FROM <file:///etc/passwd> { ?s ?p ?o }", "denied"),
    Attack("graph", "SELECT * { GRAPH <@URL@> { ?s ?p ?o } }", "rows"),
    Attack("describe", "DESCRIBE <@URL@>", "no_result_set"),
    Attack("construct", "CONSTRUCT { ?s <@URL@> ?o } WHERE { ?s ?p ?o }", "no_result_set"),
    Attack("function", "SELECT (<@URL@>(1) AS ?x) {}", "no_such_function"),
    Attack("function_of_a_file", "SELECT (<file:///etc/passwd>() AS ?x) {}", "no_such_function"),
    Attack("cast_to_nothing", "SELECT (xsd:nothing(1) AS ?x) {}", "no_such_function"),
    # updates
    Attack("load", "LOAD <@URL@>", "denied"),
    Attack("load_silent", "LOAD SILENT <@URL@> INTO GRAPH <http://e/g>", "denied"),
    Attack("insert", "INSERT DATA { <http://e/n0> <http://e/size> 1000 }", "denied"),
    Attack("delete", "DELETE WHERE { ?s ?p ?o }", "denied"),
    Attack("delete_behind_a_prefix", "PREFIX x: <http://x/> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", "denied"),
    Attack("clear", "CLEAR ALL", "denied"),
    Attack("drop", "DROP SILENT DEFAULT", "denied"),
    Attack("query_then_update", "SELECT * { ?s ?p ?o } ; DROP ALL", "syntax"),
    # too much
    Attack("cartesian_count", "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }", "timeout"),
    Attack("cartesian_rows", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "rows_limit bytes timeout"),
    Attack("cartesian_order", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?c", "memory timeout"),
    Attack(
        "cartesian_distinct", "SELECT DISTINCT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "rows_limit bytes timeout memory"
    ),
    Attack(
        "filter_on_a_product", "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?c) = CONCAT(?f, 'x')) }", "timeout"
    ),
    Attack(
        "path_of_everything",
        "SELECT (COUNT(*) AS ?n) { ?a (<http://e/to>|!<http://e/x>)* ?b . ?b (<http://e/to>+/<http://e/to>*)* ?c }",
        "timeout memory",
    ),
    Attack(
        "path_nested", "SELECT * { ?a ((<http://e/to>*)*/(<http://e/to>*)*)* ?b }", "rows_limit timeout memory bytes"
    ),
    Attack("path_long", f"ASK {{ ?a {'<http://e/to>/' * 300}<http://e/none> ?b }}", "timeout memory rows"),
    Attack(
        "path_negated",
        "SELECT * { ?a !<http://e/none>+ ?b . ?c !<http://e/none>+ ?d }",
        "rows_limit timeout memory bytes",
    ),
    Attack(
        "concat_bomb",
        "SELECT (STRLEN(?z) AS ?n) {"
        + " ".join(f"BIND(CONCAT({', '.join([f'?x{i}'] * 30)}) AS ?x{i + 1})" for i in range(9)).replace(
            "?x0", "'aaaaaaaaaaaaaaaa'"
        )
        + " BIND(?x9 AS ?z) }",
        "memory timeout rows",
    ),
    Attack("group_concat_bomb", "SELECT (GROUP_CONCAT(?o) AS ?x) { ?s ?p ?o . ?a ?b ?c . ?d ?e ?f }", "timeout memory"),
    Attack(
        "regex_bomb",
        f"SELECT (REGEX('{'a' * 50_000}', '((a{{0,50}}){{0,50}}){{0,50}}b') AS ?x) {{}}",
        "rows error timeout memory",
    ),
    Attack(
        "replace_bomb",
        "SELECT (REPLACE(REPLACE(REPLACE('"
        + "a" * 1000
        + "', 'a', '"
        + "b" * 1000
        + "'), 'b', '"
        + "c" * 1000
        + "'), 'c', '"
        + "d" * 1000
        + "') AS ?x) {}",
        "memory timeout bytes",
    ),
    Attack("values_huge", f"SELECT (COUNT(*) AS ?n) {{ VALUES ?x {{ {_BIG} }} }}", "rows"),
    Attack(
        "values_product",
        "SELECT (COUNT(*) AS ?n) {" + "".join(f" VALUES ?{name} {{ {_BIG[:29_000]} }}" for name in "xyz") + " }",
        "timeout memory",
    ),
    Attack("too_long", f"SELECT * {{ VALUES ?x {{ {_BIG} {_BIG} }} }}", "denied"),
    Attack(
        "union_wide", f"SELECT (COUNT(*) AS ?n) {{ {' UNION '.join(['{ ?s ?p ?o }'] * 2000)} }}", "rows timeout crash"
    ),
    # nesting
    Attack("groups_deep", f"SELECT * {{ {_nest('{', '?s ?p ?o', '}', 5000)} }}", "denied"),
    Attack("brackets_deep", f"SELECT ({_nest('(', '1', ')', 20_000)} AS ?x) {{}}", "denied"),
    Attack(
        "blank_nodes_deep",
        f"SELECT * {{ ?s ?p {_nest('[ ?p ', '1', ']', 90)} }}",
        "rows rows_limit timeout bytes memory",
    ),
    Attack("lists_deep", f"SELECT * {{ ?s ?p {_nest('( ', '1', ' )', 90)} }}", "rows timeout"),
    Attack("not_deep", f"SELECT ({'!' * 90_000}true AS ?x) {{}}", "crash timeout rows"),
    Attack("sum_long", f"SELECT ({'1+' * 45_000}1 AS ?x) {{}}", "crash timeout rows"),
    Attack("or_long", f"SELECT * {{ ?s ?p ?o FILTER({'?o=1||' * 15_000}?o=2) }}", "crash timeout rows"),
    Attack(
        "optional_deep",
        f"SELECT * {{ ?s ?p ?o {_nest('OPTIONAL { ?s ?p ?o ', '', '}', 90)} }}",
        "rows rows_limit timeout bytes memory",
    ),
    # odd texts
    Attack("nothing", "", "no_result_set"),
    Attack("a_comment", "# SELECT * { ?s ?p ?o }", "no_result_set"),
    Attack("prose", "I would count the nodes of the graph.", "syntax"),
    Attack("sql", "SELECT count(*) FROM node", "denied"),
    Attack("no_base", "SELECT * { <n0> ?p ?o }", "syntax"),
    Attack("null_character", "SELECT * { ?s ?p 'a\0b' }", "rows syntax"),
    Attack("lone_surrogate", "SELECT * { ?s ?p '\ud800' }", "syntax error"),
    Attack("huge_integer", f"SELECT ('{'9' * 50_000}'^^xsd:integer AS ?x) {{}}", "rows"),
    Attack("strange_moment", "SELECT ('-12345-01-01T24:00:00Z'^^xsd:dateTime AS ?x) {}", "rows"),
    Attack("open_text", "SELECT * { ?s ?p '''", "syntax"),
]
