"""xdist over sockets and over ssh, on this machine: no folder, cache or environment is shared with the workers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.gateways import find_sshd, socket_gateway, ssh_gateway
from tests.suites.wikisql_files import write_split

REPLIES = [
    'SELECT Player FROM table WHERE "No." = 42',
    "SELECT COUNT(DISTINCT Player) FROM table WHERE `School/Club Team` = 'Duke'",
    "SELECT 1",
    "```sql\nSELECT Year FROM table\n```",
    None,
]
OPTIONS = ("-p", "no:hypothesispytest", "--sqlbench-model=file:replies.jsonl", "--sqlbench-json=run.json")


def write_project(folder: Path) -> Path:
    """Write the same suite and predictions again: a machine far away has its own copy."""
    (folder / "cases").mkdir(parents=True)
    write_split(folder / "cases")
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = cases\n")
    (folder / "replies.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in REPLIES))
    return folder


@pytest.fixture
def here(pytester: pytest.Pytester) -> Path:
    """The controller's project."""
    folder = write_project(pytester.path / "here")
    pytester.chdir()
    return folder


def read_verdicts(run: Path) -> list[dict[str, Any]]:
    suite = json.loads(run.read_text())["suites"]["web"]
    timed = ("gold_ms", "predicted_ms")
    return [{key: value for key, value in record.items() if key not in timed} for record in suite["verdicts"]]


@pytest.fixture
def local(pytester: pytest.Pytester, here: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The verdicts of two workers on this machine."""
    monkeypatch.chdir(here)
    result = pytester.runpytest_subprocess("-n", "2", *OPTIONS)
    result.assert_outcomes(passed=2, failed=3)
    return read_verdicts(here / "run.json")


@pytest.fixture
def gateways() -> Iterator[ExitStack]:
    """Servers that are stopped when the test ends."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("fast", [(), ("--sqlbench-fast",)], ids=["whole", "fast"])
def test_two_sockets_say_what_two_local_workers_say(
    pytester: pytest.Pytester, here: Path, local: list[dict[str, Any]], gateways: ExitStack, fast: tuple[str, ...]
) -> None:
    folders = [write_project(pytester.path / name) for name in ("there", "yonder")]
    specs = [f"--tx={gateways.enter_context(socket_gateway(folder))}" for folder in folders]
    result = pytester.runpytest_subprocess("--dist=load", *specs, *OPTIONS, *fast)
    result.assert_outcomes(passed=2, failed=3)
    assert read_verdicts(here / "run.json") == local


@pytest.mark.skipif(not find_sshd(), reason="needs an ssh server: apt-get install openssh-server")
def test_ssh_says_what_two_local_workers_say(
    pytester: pytest.Pytester, here: Path, local: list[dict[str, Any]], gateways: ExitStack
) -> None:
    folder = write_project(pytester.path / "there")
    spec = gateways.enter_context(ssh_gateway(pytester.path / "keys", folder))
    result = pytester.runpytest_subprocess("--dist=load", f"--tx={spec}", *OPTIONS)
    result.assert_outcomes(passed=2, failed=3)
    assert read_verdicts(here / "run.json") == local
