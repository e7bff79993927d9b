"""The workflow in the documentation is one that GitHub can read, and names options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_sqlbench.cli import build_parser
from pytest_sqlbench.options import OPTIONS

PAGE = (Path(__file__).parent.parent / "docs" / "github.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r'```yaml title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL))


def test_the_workflow_is_whole() -> None:
    workflow = yaml.safe_load(BLOCKS[".github/workflows/text-to-sql.yml"])
    # YAML 1.1 reads the key ``on`` as true
    assert set(workflow[True]) == {"pull_request", "push"}
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    steps = workflow["jobs"]["gate"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert [step.get("uses", "").partition("@")[0] for step in steps if "uses" in step] == [
        *("actions/checkout", "actions/setup-python", "actions/cache", "actions/upload-artifact")
    ]


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_blocks_are_yaml(name: str) -> None:
    assert "jobs" in yaml.safe_load(BLOCKS[name])


def test_every_option_exists() -> None:
    known = {option.flag for option in OPTIONS}
    assert set(re.findall(r"--sqlbench-[a-z-]+", PAGE)) <= known


def test_the_merge_command_can_be_read() -> None:
    line = next(line for line in PAGE.splitlines() if "pytest-sqlbench merge" in line)
    args = build_parser().parse_args(line.partition("pytest-sqlbench ")[2].split())
    assert (args.runs, args.compare, args.compare_fail) == (["run-*.json"], "main", ["p:0.05"])
