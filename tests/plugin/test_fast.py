"""``--sqlbench-fast`` says the same of every case, and steps back where it must."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import Project

FAST = "--sqlbench-fast"


def outcomes(project: Project, *options: str) -> tuple[dict[str, int], int]:
    model = project.predictions(names="SELECT 1", dear="DROP TABLE item", mean=None)
    result = project.run("cases", f"--sqlbench-model={model}", *options)
    return result.parseoutcomes(), int(result.ret)


def test_outcomes_are_those_of_the_whole_protocol(project: Project, workers: tuple[str, ...]) -> None:
    slow, fast = outcomes(project, *workers), outcomes(project, FAST, *workers)
    assert fast == slow == ({"passed": 7, "failed": 3}, 1)


@pytest.mark.parametrize(
    "options",
    [("-k", "names or dear"), ("-m", "sqlbench_case(difficulty='hard')"), ("-x",), ("--sqlbench-fail-under=50",)],
    ids=lambda options: options[0],
)
def test_selection_and_gates_work_alike(project: Project, options: tuple[str, ...]) -> None:
    assert outcomes(project, FAST, *options) == outcomes(project, *options)


def test_the_terminal_shows_the_same(project: Project) -> None:
    model = project.predictions(names="SELECT 1")
    result = project.run("cases", f"--sqlbench-model={model}", FAST)
    result.stdout.fnmatch_lines(
        ["sqlbench: fast=yes", "cases*shop.yaml F......... *", "wrong: *", "FAILED cases/shop.yaml::shop[[]names[]]*"]
    )
    verbose = project.run("cases", f"--sqlbench-model={model}", FAST, "-v")
    verbose.stdout.fnmatch_lines(["cases/shop.yaml::shop[[]count[]] PASSED *"])


def test_trouble_of_the_bench_is_an_error(project: Project) -> None:
    project.manifest.write_text(project.manifest.read_text().replace("SELECT COUNT(*) FROM item", "SELECT nothing"))
    result = project.run("cases", "--sqlbench-model=gold", FAST)
    result.assert_outcomes(passed=9, errors=1)
    result.stdout.fnmatch_lines(["ERROR cases/shop.yaml::shop[[]count[]]*"])


def test_last_failed_is_remembered(project: Project) -> None:
    assert outcomes(project, FAST)[0]["failed"] == 3
    assert outcomes(project, FAST, "--lf")[0] == {"failed": 3}


def test_junit_closes_every_case(project: Project) -> None:
    outcomes(project, FAST, "--junitxml=j.xml")
    suite = ElementTree.parse(project.path / "j.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["10", "3", "0", "0"]


def test_mixes_with_functions_and_their_fixtures(project: Project) -> None:
    test = (
        "import pytest\n@pytest.fixture(scope='module')\ndef thing():\n    yield 1\n    print('torn', 'down')\n"
        "def test_one(thing): assert thing\n"
    )
    project.write("a/test_a.py", test)
    project.write("z/test_z.py", test)
    result = project.run("a", "cases", "z", "--sqlbench-model=gold", FAST, "-s")
    result.assert_outcomes(passed=12)
    assert result.stdout.str().count("torn down") == 2


@pytest.mark.parametrize(
    "hook, obstacle",
    [
        ("def pytest_runtest_setup(item): print('seen', 'it')", "*conftest.py (pytest_runtest_setup)"),
        ("def pytest_runtest_teardown(item): print('seen', 'it')", "*conftest.py (pytest_runtest_teardown)"),
    ],
)
def test_a_hook_of_the_projects_own_still_sees_every_case(project: Project, hook: str, obstacle: str) -> None:
    project.write("cases/conftest.py", hook + "\n")
    result = project.run("cases", "--sqlbench-model=gold", FAST, "-s")
    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines([f"sqlbench: fast=no, for {obstacle}"])
    assert result.stdout.str().count("seen it") == 10


def test_marks_of_the_projects_own_are_kept(project: Project) -> None:
    project.write(
        "conftest.py",
        "import pytest\ndef pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.skip(reason='no'))\n    items[1].add_marker(pytest.mark.xfail)\n",
    )
    result = project.run("cases", f"--sqlbench-model={project.predictions(count='SELECT 0')}", FAST)
    result.assert_outcomes(passed=8, skipped=1, xfailed=1)


@pytest.mark.parametrize("option", ["--pdb", "--setup-show"])
def test_options_that_need_the_whole_protocol_get_it(project: Project, option: str) -> None:
    result = project.run("cases", "--sqlbench-model=gold", FAST, option)
    result.stdout.fnmatch_lines([f"sqlbench: fast=no, for {option}"])
    result.assert_outcomes(passed=10)


def test_a_model_in_the_process_keeps_its_output_captured(project: Project) -> None:
    project.write("loud.py", "def ask(case):\n    print('thinking', 'aloud')\n    return case.gold[0]\n")
    result = project.run("cases", "--sqlbench-model=python:loud:ask", FAST)
    result.assert_outcomes(passed=10)
    assert "thinking aloud" not in result.stdout.str()
