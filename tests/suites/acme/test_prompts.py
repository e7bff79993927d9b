"""Prompts are the paper's, state the dialect, and show codes only where asked for."""

from __future__ import annotations

from pathlib import Path

from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.prompt import PromptBook
from pytest_sqlbench.suites.acme.patches import AGREEMENT_HEADER
from pytest_sqlbench.suites.acme.prompts import describe_codes
from pytest_sqlbench.suites.acme.tables import Column, Table, read_tables, read_types
from pytest_sqlbench.suites.registry import load_suite
from tests.suites.acme import published
from tests.suites.acme.small import write_manifest


def test_each_language_has_the_papers_prompt(tmp_path: Path) -> None:
    suite = load_suite(write_manifest(tmp_path))
    book = PromptBook(ModelOptions())
    book.add_suite(suite)
    sql, sparql = (book.write(case).text for case in suite.cases[:2])
    assert sql.startswith("Given the database described by the following DDL: CREATE TABLE Ship")
    assert "Use the dialect of DuckDB SQL." in sql
    assert sql.endswith("Here's the question: Which ships are there?\n")
    assert sparql.startswith("Given the OWL model described in the following TTL file: @prefix owl:")
    assert "SERVICE identified by <mapped>" in sparql


def test_codes_have_their_names_where_a_table_gives_them() -> None:
    role = Table(
        "Role", (Column("Role_Code", "varchar"), Column("Role_Name", "varchar")), (("AG", "Agent"), ("PH", None))
    )
    party = Table(
        "Party", (Column("Role_Code", "varchar"), Column("Kind_Code", "varchar")), (("AG", None), ("PH", None))
    )
    assert describe_codes([role, party], ["party"]) == "-- Party.Role_Code: 'AG' (Agent), 'PH'"


def test_a_column_with_many_values_is_no_list_of_codes() -> None:
    rows = tuple((str(number),) for number in range(21))
    assert describe_codes([Table("T", (Column("X_Code", "varchar"),), rows)], ["t"]) == ""


def test_the_published_codes_include_the_roles_that_the_ddl_hides() -> None:
    tables = read_tables(published.ddl(), published.folder() / "data", AGREEMENT_HEADER)
    codes = describe_codes(tables, read_types(published.ddl()))
    assert "-- Agreement_Party_Role.Party_Role_Code: 'AG' (Agent), 'PH' (PolicyHolder)" in codes.splitlines()
