"""The collector is spared a large suite, and gets everything back."""

from __future__ import annotations

import gc

import pytest

from pytest_sqlbench import freezing
from tests.plugin.conftest import Project


@pytest.mark.parametrize("worth_it, is_frozen", [(10, True), (11, False)], ids=["enough_cases", "too_few_cases"])
def test_frozen_during_the_run_only(
    project: Project, monkeypatch: pytest.MonkeyPatch, worth_it: int, is_frozen: bool
) -> None:
    monkeypatch.setattr(freezing, "WORTH_IT", worth_it)
    seen: list[int] = []

    class Watcher:
        def pytest_runtest_logreport(self) -> None:
            seen.append(gc.get_freeze_count())

    project.pytester.inline_run("cases", "--sqlbench-model=gold", plugins=[Watcher()]).assertoutcome(passed=10)
    assert [count > 0 for count in seen] == [is_frozen] * 30
    assert gc.get_freeze_count() == 0


def test_not_where_tests_of_the_users_own_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezing, "WORTH_IT", 1)
    project.write("test_own.py", "import gc\ndef test_one(): assert gc.get_freeze_count() == 0\n")
    project.run("cases", "test_own.py", "--sqlbench-model=gold").assert_outcomes(passed=11)
