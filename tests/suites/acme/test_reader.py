"""A manifest over the published folder gives cases in one or both languages; every key is checked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_sqlbench.case import Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.suites.registry import load_suite
from tests.suites.acme import published
from tests.suites.acme.small import write_folder, write_manifest


def _load(tmp_path: Path, *lines: str) -> Suite:
    return load_suite(write_manifest(tmp_path, *lines))


@pytest.mark.parametrize(
    "lines, ids",
    [
        ((), ["q00-sql", "q00-sparql", "q01-sql", "q01-sparql"]),
        (("language: sql",), ["q00-sql", "q01-sql"]),
        (("language: sparql",), ["q00-sparql", "q01-sparql"]),
        (
            ("language: sql", "engines: [duckdb, sqlite]"),
            ["q00-sql@duckdb", "q00-sql@sqlite", "q01-sql@duckdb", "q01-sql@sqlite"],
        ),
    ],
    ids=["both", "sql", "sparql", "two_engines"],
)
def test_an_inquiry_gives_a_case_per_language_and_engine(
    tmp_path: Path, lines: tuple[str, ...], ids: list[str]
) -> None:
    assert [case.id for case in _load(tmp_path, *lines).cases] == ids


def test_cases_know_language_quadrant_and_inquiry(tmp_path: Path) -> None:
    sql, sparql = _load(tmp_path).cases[:2]
    assert (sql.dialect, sql.engine, sql.database, sql.tags) == ("duckdb", "duckdb", "acme-duckdb", ("sql",))
    assert (sparql.dialect, sparql.engine, sparql.database) == ("sparql", "sparql", "acme-graph")
    for case in (sql, sparql):
        assert (case.question, case.difficulty) == ("Which ships are there?", "LQLS")
        assert (case.facts["inquiry"], case.facts["quadrant"]) == ("IQ_a", "LQLS")


def test_only_what_a_language_needs_is_built(tmp_path: Path) -> None:
    assert sorted(_load(tmp_path).databases) == ["acme-duckdb", "acme-graph"]
    assert sorted(_load(tmp_path, "language: sql", "engine: sqlite").databases) == ["acme-sqlite"]
    assert sorted(_load(tmp_path, "language: sparql").databases) == ["acme-graph"]


def test_patches_switch_parts_of_the_data(tmp_path: Path) -> None:
    everything, nothing = _load(tmp_path), _load(tmp_path, "patches: none")
    assert "Agreement_Identifier bigint" in everything.databases["acme-duckdb"].schema
    assert "Agreement_Type_Code_1" in nothing.databases["acme-duckdb"].schema
    assert "<http://e/Named>" in everything.databases["acme-graph"].schema
    assert "<http://e/Named>" not in nothing.databases["acme-graph"].schema


def test_the_policy_is_the_papers_unless_another_is_named(tmp_path: Path) -> None:
    assert _load(tmp_path).policy == find_preset("paper")
    assert _load(tmp_path, "policy: dbt").policy == find_preset("dbt")


def test_a_server_is_named_by_its_url(tmp_path: Path) -> None:
    url = "postgresql://reader@localhost/acme"
    suite = _load(tmp_path, "language: sql", "engine: postgres", f"database: {url}")
    assert suite.databases["acme-postgres"].url == url
    assert suite.cases[0].dialect == "postgres"
    both = _load(tmp_path, "language: sql", "engines: [duckdb, postgres]", f"database: {url}")
    assert {name: database.url for name, database in both.databases.items()} == {
        "acme-duckdb": None,
        "acme-postgres": url,
    }


def test_the_context_grows_by_codes_and_mapping(tmp_path: Path) -> None:
    plain = {case.dialect: case.facts["schema"] for case in _load(tmp_path).cases}
    more = {case.dialect: case.facts["schema"] for case in _load(tmp_path, "context: ddl+values").cases}
    assert plain["duckdb"].startswith("CREATE TABLE Ship")
    assert "owl:DatatypeProperty" in plain["sparql"]
    assert more["duckdb"] == plain["duckdb"] + (
        "\n\n-- Codes that occur:\n-- Ship.Flag_Code: 'DK' (Denmark), 'NO' (Norway)"
    )
    assert "rr:TriplesMap" not in plain["sparql"]
    assert "rr:TriplesMap" in more["sparql"]


def test_the_digest_follows_data_and_manifest(tmp_path: Path) -> None:
    first = _load(tmp_path).digest
    assert _load(tmp_path).digest == first
    assert _load(tmp_path, "patches: none").digest != first
    path = write_manifest(tmp_path)
    flags = tmp_path / "published" / "data" / "Flag.csv"
    flags.write_bytes(flags.read_bytes() + b"\r\nSE,Sweden")
    assert load_suite(path).digest != first


@pytest.mark.parametrize(
    "line, message",
    [
        ("language: sqll", r"acme\.yaml:4: language is 'sqll'\. Allowed: sql, sparql, both"),
        ("questions: all", r"acme\.yaml:4: questions is 'all'\. Allowed: paper43, all44"),
        ("patches: [date-dif]", r"acme\.yaml:4: patches is \['date-dif'\]\. Allowed: all, none, or a list of these"),
        ("context: none", r"acme\.yaml:4: context is 'none'\. Allowed: ddl, ddl\+values"),
        ("transpile_from: klingon", r"acme\.yaml:4: transpile_from is 'klingon'\. Allowed: "),
        ("engine: mysql", r"acme\.yaml:4: engine is 'mysql'\. Allowed with format acme: duckdb, sqlite, postgres"),
        ("engine: postgres", r"acme\.yaml:1: PostgreSQL, and no other engine here, takes the URL of a server"),
        ("database: postgresql://localhost/acme", r"acme\.yaml:4: PostgreSQL, and no other engine here"),
        ("dialect: duckdb", r"acme\.yaml:4: format acme takes the dialects of its engines"),
        ("lanugage: sql", r"acme\.yaml:4: unknown key 'lanugage'\. Did you mean 'language'\?"),
    ],
)
def test_a_wrong_key_is_one_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        _load(tmp_path, line)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = write_manifest(tmp_path)
    (tmp_path / "published" / "ontology" / "small.ttl").unlink()
    with pytest.raises(CaseError, match=r"found 0 files like ontology/\*\.ttl"):
        load_suite(path)


def test_a_patch_that_does_not_fit_points_at_the_manifest(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    questions = folder / "investigation" / "small.ttl"
    text = questions.read_text(encoding="utf-8")
    questions.write_text(text.replace("IQ_a", "IQ_6da3f7fcefcdd7453548c0956632a211"), encoding="utf-8")
    with pytest.raises(CaseError, match=r"acme\.yaml.*: patch 'date-diff' finds nothing to correct"):
        load_suite(write_manifest(tmp_path, data=folder))


def test_the_published_folder_has_43_questions_in_both_languages(tmp_path: Path) -> None:
    suite = load_suite(write_manifest(tmp_path, data=published.folder()))
    assert Counter(case.tags for case in suite.cases) == {("sql",): 43, ("sparql",): 43}
    assert Counter(case.difficulty for case in suite.cases) == {"LQLS": 24, "HQLS": 22, "LQHS": 20, "HQHS": 20}
    assert [len(case.gold) for case in suite.cases if case.id == "q31-sql"] == [2]
