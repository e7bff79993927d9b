"""Published queries against each other: SPARQL against SQL, engine against engine, patched and as published."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.case import Suite
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.report.quadrants import describe_quadrants
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.acme.reader import find_folder, load_tables
from pytest_sqlbench.suites.acme.tables import write_script
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome
from tests.suites.acme import published
from tests.suites.acme.small import write_manifest

for library in ("duckdb", "pyoxigraph"):
    pytest.importorskip(library)

POLICY = find_preset("paper")
Results = dict[str, ResultSet | QueryFailure]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where manifests and built databases of this module stand."""
    return tmp_path_factory.mktemp("acme")


def _load(folder: Path, *lines: str) -> Suite:
    return load_suite(write_manifest(folder, *lines, data=published.folder()))


def _run(suite: Suite, folder: Path) -> Results:
    """Run the golds of a suite; a case with several has each of them under its id and its place."""
    results: Results = {}
    for engine_name, database in sorted({(case.engine, case.database) for case in suite.cases}):
        engine = open_engine(engine_name, suite.databases[database], Settings(cache_dir=folder))
        for case in suite.cases:
            if case.engine == engine_name:
                for place, query in enumerate(case.gold):
                    results[case.id if place == 0 else f"{case.id}/{place}"] = engine.run_gold(query)
        engine.close()
    return results


def _differences(one: Results, other: Results) -> list[str]:
    """Return the ids, without language, whose results do not match."""
    found = []
    for name, gold in one.items():
        predicted = other[name.replace("sql", "sparql") if name not in other else name]
        is_equal = isinstance(gold, ResultSet) and isinstance(predicted, ResultSet)
        if not is_equal or not compare(gold, predicted, POLICY).is_match:  # type: ignore[arg-type]
            found.append(name.partition("-")[0])
    return found


@pytest.fixture(scope="module")
def patched(folder: Path) -> Results:
    """All golds of all questions with patches, SQL on DuckDB."""
    return _run(_load(folder, "questions: all44"), folder)


def _in(results: Results, language: str) -> Results:
    return {name: result for name, result in results.items() if name.endswith(f"-{language}")}


def test_with_patches_every_sparql_query_equals_its_sql_query(patched: Results) -> None:
    assert len(_in(patched, "sql")) == len(_in(patched, "sparql")) == 44
    assert _differences(_in(patched, "sql"), _in(patched, "sparql")) == []


def test_both_sql_queries_of_one_question_agree(patched: Results) -> None:
    first, second = patched["q31-sql"], patched["q31-sql/1"]
    assert isinstance(first, ResultSet)
    assert isinstance(second, ResultSet)
    assert compare(first, second, POLICY).is_match


def test_sqlite_gives_the_values_of_duckdb(patched: Results, folder: Path) -> None:
    sqlite = _run(_load(folder, "questions: all44", "language: sql", "engine: sqlite"), folder)
    assert len(sqlite) == 45
    assert _differences(sqlite, patched) == []


@pytest.fixture(scope="module")
def acme_url(postgres_url: str) -> str:
    """A PostgreSQL database with the tables, by the URL of a role that may read them."""
    psycopg = pytest.importorskip("psycopg")
    tables = load_tables(find_folder(published.folder()), frozenset({"agreement-header"}))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE acme")
        connection.execute("CREATE ROLE acme_reader LOGIN")
    url = postgres_url.rsplit("/", 1)[0] + "/acme"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(write_script(tables, "postgres"))
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO acme_reader")
    return url.replace("postgres@", "acme_reader@")


def test_postgres_gives_the_values_of_duckdb(patched: Results, folder: Path, acme_url: str) -> None:
    lines = ("questions: all44", "language: sql", "engine: postgres", f"database: {acme_url}")
    postgres = _run(_load(folder, *lines), folder)
    assert len(postgres) == 45
    assert _differences(postgres, patched) == []


HOLDER = ["q00", "q02", "q06", "q07", "q08", "q13", "q23", "q25", "q26", "q30", "q33", "q36"]
"""Questions whose SPARQL goes from a policy to its holder."""


@pytest.fixture(scope="module")
def as_published(folder: Path) -> Results:
    """All golds of all questions without patches."""
    return _run(_load(folder, "questions: all44", "patches: none"), folder)


def test_as_published_15_questions_fail(as_published: Results) -> None:
    sql, sparql = _in(as_published, "sql"), _in(as_published, "sparql")
    assert _differences(sql, sparql) == sorted([*HOLDER, "q17", "q31", "q39"])


def test_as_published_each_failure_has_its_reason(as_published: Results) -> None:
    for number in HOLDER:
        result = as_published[f"{number}-sparql"]
        assert isinstance(result, ResultSet)
        assert result.rows == [], number
    day, comments = as_published["q17-sql"], as_published["q31-sql"]
    assert isinstance(day, QueryFailure)
    assert 'Referenced column "day" not found' in day.message
    assert isinstance(comments, QueryFailure)
    assert comments.status is Status.SYNTAX
    closed = as_published["q39-sparql"]
    assert isinstance(closed, ResultSet)
    assert closed.rows == []


@pytest.mark.parametrize(
    "patch, healed",
    [
        ("policy-holder", HOLDER),
        ("date-diff", ["q17"]),
        ("hash-comments", ["q31"]),
        ("typed-dates", ["q39"]),
        ("agreement-header", []),
        ("range-types", []),
    ],
)
def test_each_patch_heals_its_own_questions(folder: Path, patch: str, healed: list[str]) -> None:
    results = _run(_load(folder, "questions: all44", f"patches: [{patch}]"), folder)
    left = sorted({*HOLDER, "q17", "q31", "q39"} - set(healed))
    assert _differences(_in(results, "sql"), _in(results, "sparql")) == left


def test_gold_scores_43_of_43_in_both_languages(folder: Path) -> None:
    suite = _load(folder)
    judge = open_judge(suite, Settings(cache_dir=folder))
    verdicts = [judge.judge(case, Prediction(case.gold[0])) for case in suite.cases]
    judge.close()
    assert {verdict.outcome for verdict in verdicts} == {Outcome.CORRECT}
    table = [line.split() for line in describe_quadrants(verdicts)]
    assert [(row[0], row[1], row[2], row[7], row[8]) for row in table[1:]] == [
        (name, n, "100.0", n, "100.0")
        for name, n in (("LQLS", "12"), ("HQLS", "11"), ("LQHS", "10"), ("HQHS", "10"), ("all", "43"))
    ]
