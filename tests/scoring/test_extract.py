"""The statement is picked out of a reply in recorded steps, and two statements are no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sqlbench.scoring.extract import Extraction, extract_query, split_statements
from pytest_sqlbench.verdict import Reason

Q = "SELECT a FROM t"


@pytest.mark.parametrize(
    "reply, sql, steps",
    [
        (Q, Q, ()),
        (f"  {Q}\n", Q, ()),
        (f"{Q};", Q, ()),
        (f"{Q} ; ;\n-- done", Q, ()),
        (f"```sql\n{Q};\n```", Q, ("fence",)),
        (f"```SQLite\n{Q}", Q, ("fence",)),
        (f"~~~\n{Q}\n~~~", Q, ("fence",)),
        (f"```sql {Q}```", Q, ("fence",)),
        (f"Here you are:\n\n```sql\n{Q}\n```\nIt reads t.", Q, ("fence",)),
        (f"```text\nfirst think\n```\n```sql\n{Q}\n```", Q, ("fence 2 of 2",)),
        (f"{Q};\n```", Q, ("prose after",)),
        (f"<think>SELECT wrong</think>{Q}", Q, ("reasoning",)),
        (f"The query is: {Q}", Q, ("prose before",)),
        (f"Sure! {Q};\n\nThis lists every a.", Q, ("prose before", "prose after")),
        (f"{Q}\n\nThis query lists every a.", Q, ("prose after",)),
        (f"{Q}; This lists every a.", Q, ("prose after",)),
        ("SELECT a\n\nFROM t\n\nWHERE b = 1", "SELECT a\n\nFROM t\n\nWHERE b = 1", ()),
        ("SELECT a\\_b FROM t", "SELECT a_b FROM t", ("escapes",)),
        ("SELECT a FROM t WHERE b LIKE '%\\_%' ESCAPE '\\'", "SELECT a FROM t WHERE b LIKE '%\\_%' ESCAPE '\\'", ()),
        ("SELECT ';' FROM t", "SELECT ';' FROM t", ()),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x", ()),
        ("With the tables given, the answer is:\nSELECT a FROM t", Q, ("prose before",)),
        ("-- all of them\nSELECT a FROM t", "-- all of them\nSELECT a FROM t", ()),
        ("DROP TABLE t", "DROP TABLE t", ()),
    ],
)
def test_one_statement_is_found(reply: str, sql: str, steps: tuple[str, ...]) -> None:
    assert extract_query(reply) == Extraction(sql, steps)


@pytest.mark.parametrize(
    "reply", ["", "  \n", ";", "-- nothing", "I cannot answer that.", "<think>SELECT a", "```\n```"]
)
def test_no_statement_is_a_reason(reply: str) -> None:
    found = extract_query(reply)
    assert (found.sql, found.trouble) == (None, Reason.NO_SQL)


@pytest.mark.parametrize("reply", [f"{Q}; {Q}", f"```sql\n{Q};\nDELETE FROM t;\n```", f"{Q};\n\n{Q};"])
def test_several_statements_are_a_reason(reply: str) -> None:
    assert extract_query(reply).trouble is Reason.SEVERAL_STATEMENTS


def test_off_takes_the_reply_as_it_came() -> None:
    assert extract_query(f"```sql\n{Q}\n```", level="off") == Extraction(f"```sql\n{Q}\n```")


@pytest.mark.parametrize(
    "reply, sql",
    [(f"```sql\n{Q}", Q), (f"```sql\n{Q}\n```", Q), (f"{Q}\n```", f"{Q}\n```"), ("SELECT a\\_b", "SELECT a_b")],
    ids=["opens_a_fence", "closes_it_too", "leaves_a_stray_one", "undoes_escapes"],
)
def test_fences_is_what_published_scripts_do(reply: str, sql: str) -> None:
    assert extract_query(reply, level="fences").sql == sql


def test_sparql_keeps_its_semicolons() -> None:
    query = "PREFIX : <http://x/>\nSELECT ?a WHERE { ?a :b 1 ; :c 2 }"
    assert extract_query(f"```sparql\n{query}\n```", "sparql").sql is not None
    assert extract_query(query, "sparql").sql == query


def test_semicolons_in_literals_names_and_comments_do_not_split() -> None:
    assert split_statements("a ';' \"b;\" [c;] `d;` -- e;\n/* f; */; g") == [
        "a ';' \"b;\" [c;] `d;` -- e;\n/* f; */",
        " g",
    ]


@given(st.text())
def test_any_reply_has_a_statement_or_a_reason(reply: str) -> None:
    found = extract_query(reply)
    assert (found.sql is None) <= (found.trouble is not None)
