"""Every way in which a gated run can end, and its exit code: with one process and with two workers."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project

WRONG = {"names": "SELECT 1", "count": "SELECT 2"}
"""Two of ten: 80 %."""


def run(project: Project, *args: str) -> pytest.RunResult:
    """Run the suite with two wrong predictions."""
    return project.run("cases", f"--sqlbench-model={project.predictions(**WRONG)}", *args)


def save_baseline(project: Project, **wrong: str) -> None:
    """Save a run as ``main``, by default with everything right."""
    model = project.predictions(**wrong)
    result = project.run("cases", f"--sqlbench-model={model}", "--sqlbench-save=main", "--sqlbench-no-gate")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["saved *main.json"])


@pytest.mark.parametrize(
    "options,code,outcomes,line",
    [
        ((), 1, {"passed": 8, "failed": 2}, "shop * 80.0 %*"),
        (("--sqlbench-no-gate",), 0, {"passed": 8, "wrong": 2}, "shop * 80.0 %*"),
        (("--sqlbench-fail-under=80",), 0, {"passed": 8, "wrong": 2}, "GATE met: accuracy 80 % (n=10) reaches 80 %"),
        (
            ("--sqlbench-fail-under=shop:81",),
            1,
            {"passed": 8, "wrong": 2},
            "GATE MISSED: shop 80 % (n=10) is under 81 %",
        ),
        (("--sqlbench-fail-under=50", "--sqlbench-strict"), 1, {"passed": 8, "failed": 2}, "GATE met: *"),
        (
            ("--sqlbench-fail-under=90", "-k", "names"),
            0,
            {"wrong": 1},
            "GATE not evaluated: partial run, without 9 of shop*",
        ),
        (("--sqlbench-fail-under=90", "-k", "names", "--sqlbench-gate-partial"), 1, {"wrong": 1}, "GATE MISSED: *"),
        (
            ("--sqlbench-fail-under=40", "--sqlbench-limit=4"),
            0,
            {"passed": 2, "wrong": 2},
            "GATE met: accuracy 50 % (n=4)*",
        ),
    ],
    ids=[
        "no_gate_set",
        "switched_off",
        "under_met",
        "under_missed",
        "strict",
        "partial",
        "partial_taken",
        "limit_is_whole",
    ],
)
def test_absolute_gates(
    project: Project,
    workers: tuple[str, ...],
    options: tuple[str, ...],
    code: int,
    outcomes: dict[str, int],
    line: str,
) -> None:
    result = run(project, *options, *workers)
    result.stdout.fnmatch_lines([line])
    found = result.parseoutcomes()
    assert {name: n for name, n in found.items() if name in ("passed", "failed", "wrong", "errors")} == outcomes
    assert result.ret == code


@pytest.mark.parametrize(
    "gates,code,line",
    [
        (("accuracy:20%", "regressions:2", "p:0.05"), 0, "GATE met: accuracy 100 % to 80 % on 10 common cases*"),
        (("accuracy:19%",), 1, "GATE MISSED: accuracy 100 % to 80 % on 10 common cases (allowed drop 19.00 points)"),
        (("regressions:1",), 1, "GATE MISSED: 2 regressions (allowed 1)"),
        (("accuracy[[]easy[]]:5%",), 1, "GATE MISSED: accuracy[[]easy[]] 100 % to 66.67 % on 6 common cases*"),
    ],
    ids=["met", "accuracy_missed", "regressions_missed", "slice_missed"],
)
def test_gates_against_a_baseline(
    project: Project, workers: tuple[str, ...], gates: tuple[str, ...], code: int, line: str
) -> None:
    save_baseline(project)
    options = [f"--sqlbench-compare-fail={gate}".replace("[[]", "[").replace("[]]", "]") for gate in gates]
    result = run(project, "--sqlbench-compare=main", *options, *workers)
    result.stdout.fnmatch_lines(["compared with *main.json", "regressed   2:", "  shop[[]count[]]: wrong: *", line])
    assert result.parseoutcomes() == {"passed": 8, "regressed": 2}
    assert result.ret == code


def stop_at_dear(project: Project, statement: str) -> None:
    """Run a statement in the process that runs the case ``dear``, once it is judged."""
    hook = "def pytest_runtest_call(item):\n    if 'dear' in item.name:\n        "
    project.write("conftest.py", f"import os\n\n{hook}{statement}\n")


def test_interrupted(project: Project, workers: tuple[str, ...]) -> None:
    stop_at_dear(project, "raise KeyboardInterrupt")
    # a KeyboardInterrupt in a test ends the process that runs it: the one that pytester itself lives in must stay
    result = project.pytester.runpytest_subprocess(
        *("cases", "--sqlbench-model=gold", "--sqlbench-fail-under=0", "--sqlbench-json=run.json", *workers)
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["GATE not evaluated: the run ended early"])
    assert (project.path / "run.json").exists()


def test_stopped_at_the_first_error(project: Project, workers: tuple[str, ...]) -> None:
    """pytest itself ends with 1 where one process stops at -x, and with 2 where workers do."""
    project.write("down.py", "def ask(case):\n    raise OSError('503')\n")
    result = project.run("cases", "--sqlbench-model=python:down:ask", "--sqlbench-fail-under=0", "-x", *workers)
    assert result.ret == (pytest.ExitCode.INTERRUPTED if workers else pytest.ExitCode.TESTS_FAILED)
    result.stdout.fnmatch_lines(["GATE not evaluated: the run ended early"])


def test_a_wrong_answer_under_a_gate_does_not_stop_at_x(project: Project, workers: tuple[str, ...]) -> None:
    result = run(project, "--sqlbench-fail-under=80", "-x", *workers)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["GATE met: *"])


def test_a_crash_fails_the_session_though_the_gate_is_met(project: Project) -> None:
    stop_at_dear(project, "os._exit(13)")
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-fail-under=80", "-n", "2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["GATE met: accuracy 90 % (n=10) *", "GATE met, but 1 case got no verdict"])


def test_an_error_fails_the_session_though_the_gate_is_met(project: Project, workers: tuple[str, ...]) -> None:
    project.write("down.py", "def ask(case):\n    assert case.id != 'dear', '503'\n    return case.gold[0]\n")
    options = ("cases", "--sqlbench-model=python:down:ask", "--sqlbench-fail-under=90", *workers)
    result = project.run(*options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["GATE met: *", "GATE met, but 1 case got no verdict"])
    result = project.run(*options, "--sqlbench-compare-fail=errors:1")
    assert result.ret == pytest.ExitCode.OK
    assert result.parseoutcomes() == {"passed": 9, "tolerated": 1}


def test_a_collection_error_is_never_green(project: Project, workers: tuple[str, ...]) -> None:
    project.write("cases/test_broken.py", "import nothing_of_that_name\n")
    result = run(project, "--sqlbench-fail-under=10", *workers)
    # with one process nothing runs at all; with workers the other files do
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if workers else pytest.ExitCode.INTERRUPTED)
    assert "GATE met" not in result.stdout.str()
    if workers:
        result.stdout.fnmatch_lines(["GATE not evaluated: 1 files could not be collected"])


@pytest.mark.parametrize(
    "options,line",
    [
        (("--sqlbench-compare=nope",), "no saved run called 'nope' in *.sqlbench (saved: none)*--sqlbench-save=NAME*"),
        (("--sqlbench-compare=a/b.json",), "no saved run at a/b.json. Save one with --sqlbench-save=NAME*"),
        (("--sqlbench-compare=cases",), "no saved run called 'cases' *put --sqlbench-compare last or write*"),
        (("--sqlbench-compare=",), "no saved run to compare with in *.sqlbench (saved: none)*"),
        (("--sqlbench-compare=broken",), "*broken.json:1: not JSON*"),
        (("--sqlbench-compare-fail=accuracy:2%",), "--sqlbench-compare-fail=accuracy:2% needs --sqlbench-compare=NAME"),
        (("--sqlbench-update-baseline",), "--sqlbench-update-baseline needs --sqlbench-compare=NAME*"),
        (("--sqlbench-update-baseline=now",), "--sqlbench-update-baseline is 'now'. Allowed: no value, or force."),
        (("--sqlbench-compare-fail=accuracy",), "cannot read the gate 'accuracy'. Allowed: accuracy:2%*"),
        (("--sqlbench-fail-under=much",), "cannot read the gate 'much'. Allowed: *"),
        (("--sqlbench-save=a/b",), "--sqlbench-save is 'a/b', wanted a name without slashes*"),
        (("--sqlbench-samples=0",), "--sqlbench-samples is '0', wanted a whole number of at least 1"),
    ],
    ids=lambda value: value[0].removeprefix("--sqlbench-") if isinstance(value, tuple) else None,
)
def test_a_missing_baseline_or_a_bad_expression_ends_the_run(
    project: Project, workers: tuple[str, ...], options: tuple[str, ...], line: str
) -> None:
    if "broken" in options[0]:
        project.write(".sqlbench/broken.json", "{")
    result = run(project, *options, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}"])
    assert "Traceback" not in result.stderr.str()
