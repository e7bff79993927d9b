"""Saving runs, comparing with them, and when a baseline is not written over."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_sqlbench.baseline import load_run
from pytest_sqlbench.verdict import Outcome
from tests.plugin.conftest import GOLDS, Project
from tests.plugin.test_gate_matrix import run, save_baseline


def read_outcomes(path: Path) -> dict[str, str]:
    return {verdict.case: verdict.outcome.value for verdict in load_run(path).verdicts}


def test_the_saved_run_is_the_same_with_workers(project: Project) -> None:
    texts = []
    for options in ((), ("-n", "2")):
        result = run(project, "--sqlbench-save=main", "--sqlbench-json=run.json", "--sqlbench-no-gate", *options)
        assert result.ret == pytest.ExitCode.OK
        texts.append((project.path / ".sqlbench/main.json").read_text())
    assert texts[0] == texts[1]
    saved = load_run(project.path / ".sqlbench/main.json")
    assert (len(saved.verdicts), saved.fingerprint.model) == (10, "file:predictions.jsonl")
    assert saved.fingerprint.suites["shop"].cases == 10
    assert len(saved.fingerprint.suites["shop"].databases["main"]) == 16
    whole = load_run(project.path / "run.json")
    assert next(verdict for verdict in whole.verdicts if verdict.case == "names").sql == "SELECT 1"
    assert next(verdict for verdict in whole.verdicts if verdict.case == "names").where == "cases/shop.yaml:13"


def test_letters_and_words(project: Project, workers: tuple[str, ...]) -> None:
    save_baseline(project, dear="SELECT 1", count="SELECT 0")
    model = project.predictions(count="SELECT 0", first="SELECT 'x'")
    options = ("cases", f"--sqlbench-model={model}", "--sqlbench-compare", "--sqlbench-fail-under=50", *workers)
    result = project.run(*options)
    assert result.parseoutcomes() == {"passed": 7, "fixed": 1, "known": 1, "regressed": 1}
    result.stdout.fnmatch_lines(["*1 known wrong*", "fixed       1: shop[[]dear[]]", "regressed   1:"][1:])
    if not workers:
        result.stdout.fnmatch_lines(["cases*shop.yaml .k.+...R..*"])
        lines = project.run(*options, "-v").stdout
        lines.fnmatch_lines(
            ["*shop[[]count[]] KNOWN WRONG *", "*shop[[]dear[]] FIXED *", "*shop[[]first[]] REGRESSED *"]
        )


def test_lf_remembers_wrong_cases(project: Project, workers: tuple[str, ...]) -> None:
    run(project, "--sqlbench-fail-under=50", *workers)
    result = run(project, "--sqlbench-fail-under=50", "--lf", *workers)
    assert result.parseoutcomes()["wrong"] == 2
    result.stdout.fnmatch_lines(["GATE not evaluated: partial run, without 8 of shop; *"])
    project.run("cases", "--sqlbench-model=gold", "--lf", *workers).assert_outcomes(passed=2)
    assert "no previously failed tests" in project.run("cases", "--sqlbench-model=gold", "--lf").stdout.str()


def test_junit_reads_a_wrong_answer_under_a_gate_as_an_expected_failure(project: Project) -> None:
    run(project, "--sqlbench-fail-under=50", "--junitxml=j.xml")
    suite = ElementTree.parse(project.path / "j.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["10", "0", "0", "2"]
    skipped = suite.findall("testcase/skipped")
    assert {entry.get("type") for entry in skipped} == {"pytest.xfail"}
    assert str(skipped[0].get("message")).startswith("sqlbench wrong: row count")


def test_numbered_runs_are_whole_and_the_newest_is_compared(project: Project) -> None:
    run(project, "--sqlbench-autosave")
    run(project, "--sqlbench-autosave")
    names = sorted(path.name for path in (project.path / ".sqlbench").iterdir())
    assert [name[:5] for name in names] == ["0001_", "0002_"]
    assert "SELECT 1" in (project.path / ".sqlbench" / names[1]).read_text()
    result = run(project, "--sqlbench-compare", "--sqlbench-compare-fail=regressions:0")
    result.stdout.fnmatch_lines([f"compared with *{names[1]}", "GATE met: 0 regressions (allowed 0)"])


@pytest.mark.parametrize(
    "options,word",
    [
        (("-k", "names"), "NOT SAVED as *main.json: partial run, without 9 of shop*"),
        (("--sqlbench-model=python:down:ask",), "NOT SAVED as *main.json: 1 cases got no verdict"),
    ],
    ids=["partial", "errors"],
)
def test_a_run_that_lacks_verdicts_is_not_saved_as_a_baseline(
    project: Project, options: tuple[str, ...], word: str
) -> None:
    project.write("down.py", "def ask(case):\n    assert case.id != 'dear', '503'\n    return case.gold[0]\n")
    model = () if "--sqlbench-model" in options[0] else ("--sqlbench-model=gold",)
    result = project.run("cases", "--sqlbench-save=main", *model, *options)
    result.stdout.fnmatch_lines([word])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not list(project.path.glob(".sqlbench/**/*main.json"))


def test_a_baseline_is_made_then_updated_then_defended(project: Project) -> None:
    path = project.path / "base.json"
    options = ("--sqlbench-compare=base.json", "--sqlbench-compare-fail=regressions:0", "--sqlbench-update-baseline")
    gold = ("cases", "--sqlbench-model=gold")
    result = project.run(*gold, *options)
    result.stdout.fnmatch_lines(
        ["GATE met: regressions:0 is waived, since this run becomes the baseline", "saved *base.json"]
    )
    assert result.ret == pytest.ExitCode.OK
    assert set(read_outcomes(path).values()) == {Outcome.CORRECT.value}

    before = path.read_bytes()
    result = run(project, *options)
    result.stdout.fnmatch_lines(["GATE MISSED: 2 regressions (allowed 0)", "BASELINE NOT UPDATED, *base.json stays*"])
    assert (result.ret, path.read_bytes()) == (pytest.ExitCode.TESTS_FAILED, before)

    result = project.run(*gold, *options, "-k", "names")
    result.stdout.fnmatch_lines(["BASELINE NOT UPDATED, *: partial run, without 9 of shop*"])
    assert (result.ret, path.read_bytes()) == (pytest.ExitCode.TESTS_FAILED, before)

    result = run(project, *options[:2], "--sqlbench-update-baseline=force")
    assert result.ret == pytest.ExitCode.OK
    assert read_outcomes(path)["names"] == "wrong"


@pytest.mark.parametrize(
    "options,what",
    [
        (
            ("--sqlbench-policy=strict",),
            "policy of suite shop was default and is strict(columns=exact, values=typed, *",
        ),
        (("--sqlbench-extract=off",), "extraction was full and is off*"),
        (("--sqlbench-limit=4",), "selection was none and is limit=4*"),
    ],
)
def test_a_run_by_other_rules_is_never_compared(
    project: Project, workers: tuple[str, ...], options: tuple[str, ...], what: str
) -> None:
    save_baseline(project)
    result = run(project, "--sqlbench-compare=main", *options, *workers)
    result.stdout.fnmatch_lines([f"GATE MISSED: *main.json cannot be compared with this run: {what}"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_other_data_are_never_compared(project: Project) -> None:
    save_baseline(project)
    project.manifest.write_text(project.manifest.read_text().replace("price: 1.5", "price: 1.75"))
    result = run(project, "--sqlbench-compare=main", "--sqlbench-fail-under=0")
    result.stdout.fnmatch_lines(["GATE MISSED: *data of database main in suite shop was * and is *"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_new_removed_and_edited_cases_are_not_compared(project: Project) -> None:
    save_baseline(project)
    text = project.manifest.read_text().replace("id: mean,", "id: average,").replace("Q sums?", "Which sums?")
    project.manifest.write_text(text)
    result = project.run(
        "cases", "--sqlbench-model=gold", "--sqlbench-compare=main", "--sqlbench-compare-fail=removed:0"
    )
    result.stdout.fnmatch_lines(
        ["new         1: shop[[]average[]]", "removed     1: shop[[]mean[]]", "edited      1: shop[[]sums[]]"]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def wrong_twice(project: Project) -> str:
    """Write a model that is wrong on two cases of each suite; return the option."""
    project.write(
        "twice.py", "def ask(case):\n    return 'SELECT 9' if case.id in ('names', 'count') else case.gold[0]\n"
    )
    return "--sqlbench-model=python:twice:ask"


def test_a_suite_brings_its_own_gate(project: Project, workers: tuple[str, ...]) -> None:
    text = project.manifest.read_text()
    project.manifest.write_text(text.replace("name: shop\n", "name: shop\ngate: {fail_under: 85}\n", 1))
    project.write("cases/more.yaml", text.replace("name: shop", "name: more", 1))
    model = wrong_twice(project)
    result = project.run("cases", model, *workers)
    result.stdout.fnmatch_lines(["GATE MISSED: shop 80 % (n=10) is under 85 %"])
    # the other suite has no gate, so its wrong answers fail as pytest's tests do
    assert result.parseoutcomes() == {"passed": 16, "wrong": 2, "failed": 2}
    result = project.run("cases/shop.yaml", model, "--sqlbench-no-gate", *workers)
    assert result.ret == pytest.ExitCode.OK


def test_ini_options(project: Project) -> None:
    save_baseline(project)
    project.pytester.makeini(
        "[pytest]\nsqlbench_compare = main\nsqlbench_fail_under =\n    75\n    shop:70@low\n"
        "sqlbench_compare_fail =\n    regressions:1\nsqlbench_storage = .sqlbench\n"
    )
    result = run(project)
    result.stdout.fnmatch_lines(
        [
            "compared with *main.json",
            "GATE met: accuracy 80 % (n=10) reaches 75 %",
            "GATE MISSED: shop 80 % (n=10), lower end of its interval 49.02 %, is under 70 %",
            "GATE MISSED: 2 regressions (allowed 1)",
        ]
    )
    assert run(project, "--sqlbench-fail-under=80", "--sqlbench-compare-fail=regressions:2").ret == pytest.ExitCode.OK


def test_strict_in_the_ini_file(project: Project) -> None:
    project.pytester.makeini("[pytest]\nsqlbench_fail_under = 10\nsqlbench_strict = true\n")
    run(project).assert_outcomes(passed=8, failed=2)
    project.pytester.makeini("[pytest]\nsqlbench_strict = maybe\n")
    result = run(project)
    result.stderr.fnmatch_lines(["ERROR: sqlbench_strict is 'maybe' in the ini file. Allowed: true, false."])


@pytest.mark.parametrize("options", [(), ("--sqlbench-model=gold", "-k", "nothing_of_that_name")])
def test_a_gate_over_no_case_is_never_green(project: Project, options: tuple[str, ...]) -> None:
    project.write("test_other.py", "def test_nothing_of_that_name(): pass\n")
    result = project.run(".", "--sqlbench-fail-under=80", *options)
    result.stdout.fnmatch_lines(["GATE MISSED: no case was judged"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_gate_in_the_ini_file_leaves_other_tests_alone(project: Project) -> None:
    project.pytester.makeini("[pytest]\nsqlbench_fail_under = 80\nsqlbench_model = gold\n")
    project.write("test_other.py", "def test_it(): pass\n")
    result = project.run("test_other.py")
    assert result.ret == pytest.ExitCode.OK
    assert "GATE" not in result.stdout.str()


def test_ignored_suites_are_not_missed(project: Project) -> None:
    project.write("cases/more.yaml", project.manifest.read_text().replace("name: shop", "name: more", 1))
    options = ("cases", wrong_twice(project), "--sqlbench-fail-under=80")
    project.run(*options, "--ignore=cases/more.yaml").stdout.fnmatch_lines(["GATE met: *"])
    result = project.run(*options, "--deselect=cases/more.yaml")
    result.stdout.fnmatch_lines(["GATE not evaluated: partial run, without 10 of more; *"])


def test_a_users_own_tests_are_gated_too(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "test_mine.py",
        "import pytest\n\n@pytest.mark.sqlbench('cases/shop.yaml')\n"
        "def test_it(sqlbench_case, sqlbench_predict, sqlbench_check):\n"
        "    sqlbench_check(sqlbench_predict(sqlbench_case))\n",
    )
    model = project.predictions(names="SELECT 1")
    options = ("test_mine.py", f"--sqlbench-model={model}", *workers)
    result = project.run(*options, "--sqlbench-fail-under=90", "--sqlbench-save=main")
    result.stdout.fnmatch_lines(["GATE met: accuracy 90 % (n=10) reaches 90 %", "saved *main.json"])
    assert (result.ret, len(read_outcomes(project.path / ".sqlbench/main.json"))) == (pytest.ExitCode.OK, 10)
    result = project.run(*options, "--sqlbench-fail-under=90", "-k", "names or count")
    result.stdout.fnmatch_lines(["GATE not evaluated: partial run, without 8 of shop; *"])


def test_a_file_that_cannot_be_written_fails_the_session(project: Project) -> None:
    project.write("file", "")
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-json=file/run.json")
    result.stdout.fnmatch_lines(["NOT SAVED: cannot save the run to *file/run.json: *"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_nothing_is_judged_or_written_while_collecting(project: Project) -> None:
    result = run(project, "--collect-only", "--sqlbench-fail-under=80", "--sqlbench-save=main")
    assert result.ret == pytest.ExitCode.OK
    assert "GATE" not in result.stdout.str()
    assert not (project.path / ".sqlbench").exists()


def test_github_gets_a_summary_and_annotations(
    project: Project, workers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    save_baseline(project)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    result = run(project, "--sqlbench-compare=main", "--sqlbench-compare-fail=regressions:1", *workers)
    lines = project.manifest.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "id: count," in text)
    result.stdout.fnmatch_lines(
        [
            "::error title=sqlbench gate missed::2 regressions (allowed 1)",
            f"::warning file={project.path.name}/cases/shop.yaml,line={line},title=regressed%3A shop*count*",
        ]
    )
    assert result.stdout.str().count("\n::") == 3
    text = (project.path / "summary.md").read_text()
    assert text.startswith("## ❌ text-to-SQL: file:predictions.jsonl\n\n- ❌ 2 regressions (allowed 1)\n")
    assert "### Regressed: 2" in text


def test_a_case_of_a_data_file_is_annotated_there(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    head, _, _ = project.manifest.read_text().partition("cases:\n")
    entries = [{"id": name, "question": name, "gold": gold} for name, gold, _ in GOLDS]
    project.write("cases/data/shop.jsonl", "\n".join(map(json.dumps, entries)))
    project.write("cases/shop.yaml", head + "data: data/shop.jsonl\n")
    save_baseline(project)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path))
    result = run(project, "--sqlbench-compare=main", "--sqlbench-json=run.json")
    result.stdout.fnmatch_lines(["::warning file=cases/data/shop.jsonl,line=2,title=regressed%3A shop*count*"])
    verdicts = load_run(project.path / "run.json").verdicts
    assert {verdict.where for verdict in verdicts} == {"cases/shop.yaml:0"}
    command = [sys.executable, "-m", "pytest_sqlbench.cli", "show", "count", "--run", "run.json"]
    shown = project.pytester.run(*command).stdout
    shown.fnmatch_lines(["written at *cases/data/shop.jsonl:2"])


def test_samples(project: Project, workers: tuple[str, ...]) -> None:
    lines = []
    for case in load_lines(project):
        replies = [case["reply"]] * 3
        if case["id"] == "names":
            replies[1:] = ["SELECT 1", "SELECT 2"]
        if case["id"] == "count":
            replies[1] = "SELECT 1"
        lines += [json.dumps({**case, "reply": reply, "sample": n}) for n, reply in enumerate(replies)]
    project.write("sampled.jsonl", "\n".join(lines))
    options = ("cases", "--sqlbench-model=file:sampled.jsonl", "--sqlbench-samples=3", "--sqlbench-save=main", *workers)
    gates = ("--sqlbench-fail-under=90", "--sqlbench-fail-under=pass@3:100", "--sqlbench-fail-under=pass^3:81")
    result = project.run(*options, *gates, "--sqlbench-compare-fail=flaky:1")
    result.stdout.fnmatch_lines(
        [
            "GATE met: accuracy 90 % (n=10) reaches 90 %",
            "GATE met: pass@3 100 % (n=10) reaches 100 %",
            "GATE MISSED: pass^3 80 % (n=10) is under 81 %",
            "GATE MISSED: 2 flaky cases (allowed 1)",
        ]
    )
    assert result.parseoutcomes() == {"passed": 9, "wrong": 1}
    line = next(row for row in (project.path / ".sqlbench/main.json").read_text().splitlines() if '"names"' in row)
    assert line.count('"outcome"') == 3


def load_lines(project: Project) -> list[dict[str, str]]:
    project.predictions()
    return [json.loads(line) for line in (project.path / "predictions.jsonl").read_text().splitlines()]
