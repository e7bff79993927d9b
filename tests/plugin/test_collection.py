"""Suites become pytest items with node ids that every selection of pytest understands."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project


def test_a_case_has_a_node_id_that_selects_it(project: Project) -> None:
    result = project.run("cases/shop.yaml::shop[no-price]", "--sqlbench-model=gold", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*cases/shop.yaml::shop[[]no-price[]] PASSED*"])


def test_collect_only_asks_no_model(project: Project) -> None:
    project.write("asked.py", "def ask(case):\n    raise SystemExit('asked')\n")
    result = project.run("cases", "--collect-only", "-q", "--sqlbench-model=python:asked:ask")
    result.stdout.fnmatch_lines(["cases/shop.yaml::shop[[]names[]]", "10 tests collected*"])
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "arguments, passed",
    [
        (("-k", "no-price"), 1),
        (("-k", "t-kinds or first"), 2),
        (("-m", "sqlbench_case(difficulty='hard')"), 4),
        (("-m", "sqlbench_case(tag='t-dear')"), 1),
        (("--deselect", "cases/shop.yaml::shop[names]"), 9),
        (("--sqlbench-limit", "3"), 3),
        (("--sqlbench-sample", "4:7"), 4),
    ],
    ids=["k_name", "k_tag", "m_difficulty", "m_tag", "deselect", "limit", "sample"],
)
def test_selection(project: Project, workers: tuple[str, ...], arguments: tuple[str, ...], passed: int) -> None:
    result = project.run("cases", "--sqlbench-model=gold", *arguments, *workers)
    assert result.parseoutcomes()["passed"] == passed


def test_sample_is_the_same_every_time(project: Project) -> None:
    first = project.run("cases", "--collect-only", "-q", "--sqlbench-sample=5:1").outlines[:5]
    again = project.run("cases", "--collect-only", "-q", "--sqlbench-sample=5:1").outlines[:5]
    other = project.run("cases", "--collect-only", "-q", "--sqlbench-sample=5:2").outlines[:5]
    assert first == again
    assert first != other


def test_lf_runs_the_wrong_ones_again(project: Project, workers: tuple[str, ...]) -> None:
    spec = project.predictions(count="SELECT 1", mean="SELECT 2")
    project.run("cases", f"--sqlbench-model={spec}", *workers).assert_outcomes(passed=8, failed=2)
    project.run("cases", f"--sqlbench-model={spec}", "--lf", *workers).assert_outcomes(failed=2)


def test_x_stops_at_the_first_wrong_answer(project: Project) -> None:
    spec = project.predictions(names="SELECT 1", mean="SELECT 2")
    project.run("cases", f"--sqlbench-model={spec}", "-x").assert_outcomes(failed=1)


def test_without_a_model_cases_are_skipped_with_the_reason(project: Project) -> None:
    result = project.run("cases", "-rs")
    result.assert_outcomes(skipped=10)
    result.stdout.fnmatch_lines(["*no model: give --sqlbench-model=SPEC*"])


def test_other_yaml_files_are_left_alone(project: Project) -> None:
    project.write("compose.yaml", "services: {web: {image: x}}\n")
    project.write("test_it.py", "def test_it(): pass\n")
    result = project.run("test_it.py", "compose.yaml")
    assert "sqlbench" not in result.stdout.str().partition("plugins:")[2].partition("\n")[2]


def test_the_summary_is_silent_without_cases(project: Project) -> None:
    project.write("test_it.py", "def test_it(): pass\n")
    result = project.run("test_it.py")
    result.assert_outcomes(passed=1)
    assert "- sqlbench -" not in result.stdout.str()


def test_junit_names_every_case(project: Project, workers: tuple[str, ...]) -> None:
    project.run("cases", "--sqlbench-model=gold", "--junitxml=out.xml", *workers)
    text = (project.path / "out.xml").read_text()
    assert 'name="shop[no-price]"' in text
    assert 'tests="10"' in text


MARKED = """
import pytest

@pytest.mark.sqlbench("cases/shop.yaml")
def test_agent(sqlbench_case, sqlbench_predict, sqlbench_check):
    verdict = sqlbench_check(sqlbench_predict(sqlbench_case))
    assert verdict.score == 1.0
"""


def test_a_test_of_the_users_own_gets_the_same_cases(project: Project, workers: tuple[str, ...]) -> None:
    project.write("test_agent.py", MARKED)
    spec = project.predictions(count="SELECT 7")
    result = project.run("test_agent.py", f"--sqlbench-model={spec}", *workers)
    result.assert_outcomes(passed=9, failed=1)
    result.stdout.fnmatch_lines(["shop * 10 * 90.0 %*"])


def test_an_agent_needs_no_model(project: Project) -> None:
    agent = MARKED.replace("sqlbench_check(sqlbench_predict(sqlbench_case))", "sqlbench_check('SELECT name FROM item')")
    project.write("test_agent.py", agent)
    project.run("test_agent.py", "-k", "names").assert_outcomes(passed=1)


def test_a_marked_test_without_the_mark_says_so(project: Project) -> None:
    project.write("test_agent.py", MARKED.replace('@pytest.mark.sqlbench("cases/shop.yaml")', ""))
    result = project.run("test_agent.py")
    assert "sqlbench_case needs @pytest.mark.sqlbench" in result.stdout.str() + result.stderr.str()


def test_a_fixture_of_the_conftest_is_the_model(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture(scope='session')\ndef sqlbench_model():\n"
        "    return lambda case: case.gold[0]\n",
    )
    project.run("cases", *workers).assert_outcomes(passed=10)


def test_a_hook_of_the_conftest_makes_the_model(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "conftest.py",
        "from pytest_sqlbench.prediction import Prediction\n\n"
        "class Constant:\n    name = 'constant'\n"
        "    def predict(self, case):\n        return Prediction('SELECT 4')\n\n"
        "def pytest_sqlbench_make_model(config, spec):\n    return Constant() if spec == 'constant' else None\n",
    )
    project.run("cases", "--sqlbench-model=constant", *workers).assert_outcomes(passed=1, failed=9)
