"""Options about databases: where servers are, and queries that run again."""

from __future__ import annotations

import json

import pytest

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.databases import check_places, place_suite, read_places
from pytest_sqlbench.errors import UsageError
from tests.plugin.conftest import Project


def _suite(tmp_path: object, *engines: str) -> Suite:
    cases = tuple(Case("shop", f"c@{engine}", "?", ("SELECT 1",), engine=engine, database="main") for engine in engines)
    return Suite("shop", tmp_path, cases, {"main": Database("main", schema="CREATE TABLE t(i int)")})  # type: ignore[arg-type]


def test_cases_of_the_engine_move_to_the_server(tmp_path: object) -> None:
    places = read_places(["shop=postgresql://ann@host/{database}_x"])
    suite = place_suite(_suite(tmp_path, "sqlite", "postgres"), places)
    assert [case.database for case in suite.cases] == ["main", "main@postgres"]
    assert suite.databases["main@postgres"].url == "postgresql://ann@host/main_x"
    assert suite.databases["main"].is_recipe
    check_places(places, ["shop"])


def test_an_engine_without_cases_is_refused(tmp_path: object) -> None:
    with pytest.raises(UsageError, match="has cases for sqlite only"):
        place_suite(_suite(tmp_path, "sqlite"), read_places(["shop=mysql://ann@host/x"]))


@pytest.mark.parametrize(
    "value, message",
    [
        ("shop", "wanted SUITE=URL"),
        ("shop=here", "wanted SUITE=URL"),
        ("shop=postgresql://ann:s3cret@host/x", "holds a password"),
        ("postgresql://ann:s3cret@host/x", "wanted SUITE=URL"),
    ],
)
def test_a_faulty_place_is_one_line_and_tells_no_secret(project: Project, value: str, message: str) -> None:
    result = project.run("cases", "--sqlbench-model=gold", f"--sqlbench-database={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str() + result.stdout.str()
    assert message in text
    assert "s3cret" not in text


def test_a_place_for_an_unknown_suite_is_refused(project: Project) -> None:
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-database=shp=mysql://h/x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*names the suite 'shp'. Known: shop."])


def test_a_query_that_depends_on_the_order_of_rows_is_flagged(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "conftest.py",
        "def pytest_sqlbench_verdict(config, case, verdict):\n"
        "    with open(f'{case.id}.json', 'w') as file:\n"
        "        file.write(__import__('json').dumps(verdict.flags))\n",
    )
    spec = project.predictions(first="SELECT name FROM item LIMIT 1", last="SELECT name FROM item WHERE id = 4")
    result = project.run("cases", f"--sqlbench-model={spec}", "--sqlbench-repeat-query=2", *workers)
    result.assert_outcomes(passed=10)
    flags = {name: json.loads((project.path / f"{name}.json").read_text()) for name in ("first", "last")}
    assert flags == {"first": ["nondeterministic"], "last": []}
