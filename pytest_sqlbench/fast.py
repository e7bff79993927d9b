"""``--sqlbench-fast``: one report for each case instead of three, where nothing else needs pytest's whole protocol."""

from __future__ import annotations

from time import perf_counter, time
from typing import Any, Literal, NoReturn

import pytest

from pytest_sqlbench.collection import BenchTrouble, SqlbenchFile, SqlbenchItem, WrongAnswer
from pytest_sqlbench.session import VERDICTS, SqlbenchSession

_HOOKS = ("pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown", "pytest_runtest_makereport")
"""Whoever implements one of these may want to see every phase of a case."""

_HARMLESS = frozenset({"_pytest", "pytest_sqlbench", "xdist", "_hypothesis_pytestplugin", "anyio", "pytest_asyncio"})
"""Packages whose implementations do nothing for an item that is no test function."""

_OPTIONS = {
    "usepdb": "--pdb",
    "trace": "--trace",
    "reruns": "--reruns",
    "setuponly": "--setup-only",
    "setupplan": "--setup-plan",
    "setupshow": "--setup-show",
    "log_cli_level": "--log-cli-level",
}
_MARKS = frozenset({"skip", "skipif", "xfail", "flaky", "usefixtures", "timeout"})


class FastProtocol:
    """Runs our items by a protocol of its own: the verdict, one report, and no fixtures, capture or log handlers."""

    def __init__(self, session: SqlbenchSession) -> None:
        self._session = session
        self._config = session.config
        self._obstacle: str | None = None
        self._path: SqlbenchFile | None = None
        self._keywords: dict[str, Literal[1]] = {}
        """Of the file, for the reports of its cases."""

    @property
    def obstacle(self) -> str:
        """Say what needs the whole protocol; empty if nothing does. Looked for once, when all plugins are there."""
        if self._obstacle is None:
            self._obstacle = self._find_obstacle()
        return self._obstacle

    def _find_obstacle(self) -> str:
        for name, flag in _OPTIONS.items():
            if self._config.getoption(name, None):
                return flag
        spec = self._session.spec
        if spec is None or spec.startswith("python:"):
            return "a model in this process, whose output is captured"
        for hook in _HOOKS:
            for implementation in getattr(self._config.hook, hook).get_hookimpls():
                module = str(getattr(implementation.function, "__module__", ""))
                if module.partition(".")[0] not in _HARMLESS:
                    return f"{implementation.plugin_name} ({hook})"
        return ""

    def pytest_report_collectionfinish(self) -> str:
        """Say that cases are run fast, or what stands against it; every conftest.py is known by now."""
        return f"sqlbench: fast=no, for {self.obstacle}" if self.obstacle else "sqlbench: fast=yes"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run one of our items; leave every other to pytest."""
        if not isinstance(item, SqlbenchItem) or self.obstacle or _has_marks(item):
            return None
        if item.parent is not self._path:
            self._begin(item)
        self._log(self._run(item))
        if self._config.getoption("xmlpath", None):  # junit keeps a failure open until it hears of the tear-down
            self._log(self._report_by_pytest(item, _call(_nothing, "teardown")))
        if nextitem is None or nextitem.parent is not item.parent:
            self._path = None
            _tear_down(item, nextitem)
        return True

    def _begin(self, item: SqlbenchItem) -> None:
        assert item.parent is not None  # its file
        self._path = item.parent  # type: ignore[assignment] # the parent of an item is its file
        self._keywords = dict.fromkeys(item.parent.keywords, 1)
        if not self._session.is_worker:  # the terminal begins a line for the file
            self._config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)

    def _run(self, item: SqlbenchItem) -> pytest.TestReport:
        """Run a case and report it; whatever is not plainly right or wrong is put into words by pytest."""
        when: Literal["setup", "call"] = "setup"
        failure: str | None = None
        start, clock = time(), perf_counter()
        try:
            item.setup()
            when = "call"
            item.runtest()
        except (WrongAnswer, BenchTrouble) as error:
            failure = str(error)
        except BaseException as error:
            return self._report_by_pytest(item, _call(_Raise(error), when))
        duration = perf_counter() - clock
        report = pytest.TestReport(
            nodeid=getattr(item, "id", item.nodeid),  # from pytest 9.2 on an id that is not read from the text again
            location=item.location,
            keywords={**self._keywords, item.name: 1},
            outcome="passed" if failure is None else "failed",
            longrepr=failure,
            when=when,
            duration=duration,
            start=start,
            stop=start + duration,
            user_properties=item.user_properties,
        )
        self._session.stamp(report, item.stash[VERDICTS])
        self._session.gatekeeper.excuse(report)
        return report

    def _report_by_pytest(self, item: SqlbenchItem, call: pytest.CallInfo[None]) -> pytest.TestReport:
        report: pytest.TestReport = self._config.hook.pytest_runtest_makereport(item=item, call=call)
        return report

    def _log(self, report: pytest.TestReport) -> None:
        self._config.hook.pytest_runtest_logreport(report=report)


class _Raise:
    """Raises an error again, for pytest to look at."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self) -> NoReturn:
        raise self._error


def _has_marks(item: SqlbenchItem) -> bool:
    """Say whether somebody gave the item a mark that pytest acts on, such as a conftest.py that skips cases."""
    return any(mark.name in _MARKS for mark in item.own_markers)


def _call(function: Any, when: Any) -> pytest.CallInfo[None]:
    return pytest.CallInfo.from_call(function, when=when, reraise=(pytest.exit.Exception, KeyboardInterrupt))


def _nothing() -> None:
    """Stand for the tear-down of an item that set nothing up."""


def _tear_down(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Tear down what test functions left set up and the next item does not need; our items set nothing up."""
    state = getattr(item.session, "_setupstate", None)
    if state is not None:
        state.teardown_exact(nextitem)


def register_fast(session: SqlbenchSession) -> None:
    """Register the protocol."""
    session.config.pluginmanager.register(FastProtocol(session), "sqlbench-fast")
