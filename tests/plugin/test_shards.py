"""One suite over several machines: shards, and the run that they join to."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.baseline import load_run
from pytest_sqlbench.cli import main
from tests.plugin.conftest import GOLDS, Project

IDS = {case_id for case_id, _, _ in GOLDS}


def run_shard(project: Project, shard: str, *options: str) -> Path:
    model = project.predictions(names="SELECT 1", dear="SELECT 'x'", mean="SELECT nothing")
    path = project.path / f"{shard.replace('/', '-of-')}.json"
    result = project.run(
        "cases", f"--sqlbench-model={model}", f"--sqlbench-shard={shard}", f"--sqlbench-json={path}", *options
    )
    result.stdout.fnmatch_lines([f"sqlbench: model=* shard={shard}"])
    return path


@pytest.fixture
def shards(project: Project) -> list[str]:
    """Three shards of the ten cases, with a gate that none of them can judge."""
    return [str(run_shard(project, f"{number}/3", "--sqlbench-fail-under=50")) for number in (1, 2, 3)]


def test_every_case_is_in_one_shard(shards: list[str]) -> None:
    parts = [{verdict.case for verdict in load_run(Path(path)).verdicts} for path in shards]
    assert set.union(*parts) == IDS
    assert sum(map(len, parts)) == len(IDS)
    assert load_run(Path(shards[0])).fingerprint.suites["shop"].cases == len(IDS)


def test_joined_shards_equal_the_single_run(
    project: Project, shards: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    model = project.predictions(names="SELECT 1", dear="SELECT 'x'", mean="SELECT nothing")
    whole = project.run("cases", f"--sqlbench-model={model}", "--sqlbench-save=whole", "--sqlbench-no-gate")
    assert whole.ret == pytest.ExitCode.OK
    capsys.readouterr()
    storage = str(project.path / ".sqlbench")
    assert main(["merge", *reversed(shards), "--storage", storage, "--save", "joined", "--fail-under", "70"]) == 0
    printed = capsys.readouterr().out
    assert "70.0 %" in printed
    assert "GATE met" in printed
    assert (project.path / ".sqlbench/joined.json").read_text() == (project.path / ".sqlbench/whole.json").read_text()
    assert main(["merge", *shards, "--fail-under", "71"]) == 1


def test_a_shard_does_not_judge_the_gates(project: Project, workers: tuple[str, ...]) -> None:
    model = project.predictions(names="SELECT 1")
    options = (f"--sqlbench-model={model}", "--sqlbench-shard=1/2", "--sqlbench-fail-under=100")
    result = project.run("cases", *options, *workers)
    result.stdout.fnmatch_lines(["GATE not evaluated: partial run, *"])
    assert result.ret == pytest.ExitCode.OK


def test_a_missing_or_doubled_shard_is_named(shards: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", shards[0], shards[2]]) == 4
    assert "shard 2/3 is missing: run it with --sqlbench-shard=2/3" in capsys.readouterr().err
    assert main(["merge", shards[1]]) == 4
    assert "shards 1/3, 3/3 are missing" in capsys.readouterr().err
    assert main(["merge", *shards, shards[1]]) == 4
    assert f"shard 2/3 stands twice: {shards[1]} and {shards[1]}" in capsys.readouterr().err


def test_shards_of_another_division_are_refused(
    project: Project, shards: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    other = run_shard(project, "2/4")
    assert main(["merge", *shards, str(other)]) == 4
    assert "not shards of one run: " in capsys.readouterr().err


def test_a_shard_without_a_case_counts_as_a_part(project: Project) -> None:
    paths = [str(run_shard(project, f"{number}/40")) for number in (1, 2, 3)]
    sizes = [len(load_run(Path(path)).verdicts) for path in paths]
    assert 0 in sizes


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", ""])
def test_a_shard_that_cannot_be_is_refused(project: Project, shard: str) -> None:
    result = project.run("cases", "--sqlbench-model=gold", f"--sqlbench-shard={shard}")
    result.stderr.fnmatch_lines([f"ERROR: --sqlbench-shard is '{shard}', wanted I/N with I from 1 to N, as in 3/8"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
