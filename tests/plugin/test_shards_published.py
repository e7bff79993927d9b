"""Eight shards of a published benchmark join to the single run, number for number. Skipped where the data is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.baseline import load_run
from pytest_sqlbench.cli import main
from tests.plugin.conftest import Project
from tests.shared_data import shared

SHARDS = [f"{number}/8" for number in range(1, 9)]


@pytest.fixture
def options(project: Project) -> tuple[str, ...]:
    """Arguments that run the 459 dev questions of WikiSQL that have real rows, with the example predictions."""
    data = shared("wikisql/devA.jsonl")
    path = project.write("web.yaml", f"sqlbench: 1\nname: web\nformat: wikisql\ndata: {data}\n")
    return str(path), f"--sqlbench-model=file:{shared('wikisql/devA.pred.jsonl')}", "--sqlbench-fast"


def test_eight_shards_equal_the_single_run(
    project: Project, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    project.run(*options, "--sqlbench-save=whole", "--sqlbench-no-gate", "--sqlbench-json=whole.json")
    paths = [str(project.path / f"{shard[0]}.json") for shard in SHARDS]
    for shard, path in zip(SHARDS, paths, strict=True):
        project.run(*options, f"--sqlbench-shard={shard}", f"--sqlbench-json={path}")
    assert min(len(load_run(Path(path)).verdicts) for path in paths) > 30
    capsys.readouterr()
    storage = project.path / ".sqlbench"
    joined = ["--storage", str(storage), "--save", "joined", "--output", str(project.path / "joined.json")]
    assert main(["merge", *paths, *joined]) == 0
    assert "459" in capsys.readouterr().out
    assert (storage / "joined.json").read_text() == (storage / "whole.json").read_text()
    whole, again = (load_run(project.path / f"{name}.json") for name in ("whole", "joined"))
    assert sorted(whole.verdicts, key=lambda one: one.case) == sorted(again.verdicts, key=lambda one: one.case)
    assert main(["merge", *paths[:4], *paths[5:]]) == 4
    assert "shard 5/8 is missing: run it with --sqlbench-shard=5/8" in capsys.readouterr().err
    assert main(["merge", *paths, paths[2]]) == 4
    assert f"shard 3/8 stands twice: {paths[2]} and {paths[2]}" in capsys.readouterr().err
