"""Bad input is one clear line and exit code 4; trouble of the bench is an ERROR and never a wrong answer."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import MANIFEST, Project

CASE = "  - {id: a, question: Q?, gold: SELECT 1}\n"


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("sqlbench: 1\nname: [x\n", "broken.yaml:3: is not YAML"),
        ("sqlbench: 2\n", "broken.yaml:1: sqlbench is 2; a suite manifest says 'sqlbench: 1'"),
        ("sqlbench: 1\nnane: x\n", "broken.yaml:2: unknown key 'nane'. Did you mean 'name'?"),
        ("sqlbench: 1\nname: x\n", "broken.yaml:1: a suite has either cases"),
        ("sqlbench: 1\ncases: []\n", "broken.yaml:2: the suite has no case"),
        (f"sqlbench: 1\ncases:\n{CASE}{CASE}", "broken.yaml:4: case id 'a' stands twice, first on line 3"),
        ("sqlbench: 1\ncases:\n  - {id: a, gold: SELECT 1}\n", "broken.yaml:3: case 'a': question is None"),
        ("sqlbench: 1\ncases:\n  - {id: a b, question: Q, gold: S}\n", "broken.yaml:3: id is 'a b'"),
        ("sqlbench: 1\nmetric: f2\n", "broken.yaml:2: unknown metric 'f2'. Known:"),
        ("sqlbench: 1\nthreshold: 2\n", "broken.yaml:2: threshold is 2, wanted a number from 0 to 1"),
        ("sqlbench: 1\npolicy: nice\n", "broken.yaml:2: unknown policy 'nice'. Known:"),
        ("sqlbench: 1\nformat: csw\n", "broken.yaml:2: unknown format 'csw'. Known:"),
        ("sqlbench: 1\ndatabase: gone.db\n", "broken.yaml:2: database: no such file or folder: 'gone.db'"),
        (f"sqlbench: 1\ndatabase: {{schema: gone.sql}}\ncases:\n{CASE}", "broken.yaml:2: schema 'gone.sql' cannot be"),
        ("sqlbench: 1\nname: x\nname: y\n", "broken.yaml:3: key 'name' stands twice, first on line 2"),
        ("sqlbench: 1\ndata: gone.jsonl\n", "broken.yaml:2: data: no such file or folder: 'gone.jsonl'"),
    ],
)
def test_a_faulty_manifest_ends_the_run(project: Project, workers: tuple[str, ...], text: str, wanted: str) -> None:
    project.manifest.unlink()
    project.write("cases/broken.yaml", text)
    result = project.run("cases", "--sqlbench-model=gold", *workers)
    assert wanted in result.stderr.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_a_faulty_line_of_jsonl_is_named(project: Project) -> None:
    project.write("cases/shop.yaml", "sqlbench: 1\ndata: more.jsonl\n")
    project.write("cases/more.jsonl", '{"id": "a", "question": "Q", "gold": "SELECT 1"}\n{"id": "b",\n')
    result = project.run("cases", "--sqlbench-model=gold")
    result.stderr.fnmatch_lines(["*more.jsonl:2: is not JSON*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_row_that_does_not_fit_is_named(project: Project) -> None:
    project.write("cases/shop.yaml", MANIFEST.replace("name: pad", "name: null").replace("cases:", f"cases:\n{CASE}"))
    result = project.run("cases", "--sqlbench-model=gold")
    result.stderr.fnmatch_lines(["*rows of item*does not fit table 'item': NOT NULL constraint failed*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (("--sqlbench-model=nope",), "unknown model 'nope'"),
        (("--sqlbench-model=file:gone.jsonl",), "gone.jsonl"),
        (
            ("--sqlbench-model=gold", "--sqlbench-limit=x"),
            "--sqlbench-limit is 'x', wanted a whole number of at least 1",
        ),
        (("--sqlbench-model=gold", "--sqlbench-sample=0"), "--sqlbench-sample is '0', wanted N or N:SEED"),
        (("--sqlbench-model=gold", "--sqlbench-policy=nice"), "unknown policy 'nice'. Known:"),
        (
            ("--sqlbench-model=gold", "--sqlbench-extract=some"),
            "--sqlbench-extract is 'some'. Allowed: full, fences, off.",
        ),
        (("--sqlbench-model=gold", "--sqlbench-timeout=nan"), "--sqlbench-timeout is 'nan', wanted a number"),
    ],
)
def test_a_faulty_option_ends_the_run(
    project: Project, workers: tuple[str, ...], arguments: tuple[str, ...], wanted: str
) -> None:
    result = project.run("cases", *arguments, *workers)
    assert wanted in result.stderr.str()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_a_yaml_file_that_is_no_manifest_is_refused_when_named(project: Project) -> None:
    project.write("cases/other.yaml", "a: 1\n")
    result = project.run("cases/other.yaml", "--sqlbench-model=gold")
    result.stderr.fnmatch_lines(["*other.yaml:1: is no suite manifest*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_gold_that_fails_is_an_error_and_not_a_wrong_answer(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "cases/shop.yaml",
        MANIFEST + "  - {id: a, question: Q?, gold: SELECT nme FROM item}\n" + CASE.replace("a,", "b,"),
    )
    result = project.run("cases", "--sqlbench-model=gold", *workers)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*the bench is at fault: the gold query fails: no such column: nme*", "shop * 2 * 50.0 %*"]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_model_that_fails_is_an_error_and_not_a_wrong_answer(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "down.py", "def ask(case):\n    if case.id == 'names':\n        raise OSError('503')\n    return case.gold[0]\n"
    )
    result = project.run("cases", "--sqlbench-model=python:down:ask", *workers)
    result.assert_outcomes(passed=9, errors=1)
    result.stdout.fnmatch_lines(["*no answer from the model: *503*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_missing_predictions_are_named_and_counted(project: Project, workers: tuple[str, ...]) -> None:
    spec = project.predictions(names=None, count=None)
    result = project.run("cases", f"--sqlbench-model={spec}", *workers)
    result.assert_outcomes(passed=8, failed=2)
    result.stdout.fnmatch_lines(["shop * 10 * 80.0 %*", "reasons*missing prediction 2"])


def test_a_worker_that_dies_loses_no_case(project: Project) -> None:
    project.write(
        "conftest.py",
        "import os\n\ndef pytest_sqlbench_verdict(config, case):\n    if case.id == 'dear':\n        os._exit(13)\n",
    )
    result = project.run("cases", "--sqlbench-model=gold", "-n", "2")
    result.stdout.fnmatch_lines(["shop * 10 * 90.0 %*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_nothing_is_written_beside_the_cases(project: Project) -> None:
    before = sorted(path.name for path in (project.path / "cases").iterdir())
    project.run("cases", "--sqlbench-model=gold", "-p", "no:cacheprovider").assert_outcomes(passed=10)
    assert sorted(path.name for path in (project.path / "cases").iterdir()) == before
    assert not (project.path / ".pytest_cache").exists()
