"""``--sqlbench-select``: which cases run again."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project

WRONG = {"dear": "SELECT name FROM item WHERE price > 3 ORDER BY price DESC", "first": "SELECT nam FROM item"}


def first_run(project: Project) -> str:
    project.run("cases", f"--sqlbench-model={project.predictions(count='SELECT 0')}", "--sqlbench-save=old")
    model = f"--sqlbench-model={project.predictions(**WRONG)}"
    project.run("cases", model, "--sqlbench-compare=old", "--sqlbench-no-gate")
    return model


def test_cases_are_selected_by_what_they_were(project: Project) -> None:
    model = first_run(project)
    for word, names in (("wrong", {"dear", "first"}), ("cause:filter_value", {"dear"}), ("fixed", {"count"})):
        result = project.run("cases", model, f"--sqlbench-select={word}", "--collect-only", "-q")
        assert {line[line.index("[") + 1 : -1] for line in result.outlines if "::" in line} == names
    assert project.run("cases", model, "--sqlbench-select=error").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_workers_run_the_selected_cases_and_what_is_right_now_is_forgotten(project: Project) -> None:
    first_run(project)
    project.run("cases", "--sqlbench-model=gold", "--sqlbench-select=regressed", "-n", "2").assert_outcomes(passed=2)
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-select=wrong")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_word_that_is_none_and_a_first_run_are_told(project: Project) -> None:
    for word in ("wrng", "cause:", "cause:x", ""):
        result = project.run("cases", "--sqlbench-model=gold", f"--sqlbench-select={word}")
        result.stderr.fnmatch_lines([f"ERROR: --sqlbench-select is '{word}'. Allowed: wrong, error, *cause:X where*"])
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-select=wrong")
    result.stderr.fnmatch_lines(["ERROR: --sqlbench-select=wrong needs an earlier run in pytest's cache: *"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
