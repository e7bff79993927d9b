"""Progress of a long run: one line that is written over, on a terminal only, in the place of a letter for each case."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.report.progress import Progress, describe_progress
from pytest_sqlbench.verdict import Outcome

if TYPE_CHECKING:
    from pytest_sqlbench.session import SqlbenchSession

LEAST_CASES = 50
"""Shorter runs keep their letters."""
INTERVAL_S = 0.2
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """Draws the line on the controller."""

    def __init__(self, session: SqlbenchSession) -> None:
        self._session = session
        self._writer: Any = None
        self._total = self._counted = self._right = self._scorable = 0
        self._cases: set[tuple[str, str]] = set()
        self._began_s = self._drawn_s = 0.0

    @property
    def is_on(self) -> bool:
        """True for a run that is long enough to be waited for."""
        return self._total > 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the cases of a run in this process."""
        from pytest_sqlbench.collection import SqlbenchItem

        self._begin(sum(isinstance(item, SqlbenchItem) for item in session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the cases that the workers will run."""
        self._begin(sum(node_id.partition("::")[0].endswith((".yaml", ".yml")) for node_id in ids))

    def _begin(self, total: int) -> None:
        """Note when the first case starts; without a terminal no hook of ours is called any more."""
        if self._total:
            return
        config = self._session.config
        if total < LEAST_CASES or not _is_watched(config):
            if config.pluginmanager.is_registered(self):
                config.pluginmanager.unregister(self)
            return
        self._writer, self._total, self._began_s = config.get_terminal_writer(), total, time.monotonic()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> Generator[None, Any, Any]:
        """Leave out the letter of a case: the line says more."""
        status = yield
        return (status[0], "", "") if self.is_on and hasattr(report, "sqlbench") else status

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Draw the line anew, some times a second."""
        if not self.is_on or not hasattr(report, "sqlbench"):
            return
        now_s = time.monotonic()
        if now_s - self._drawn_s >= INTERVAL_S:
            self._drawn_s = now_s
            width = int(getattr(self._writer, "fullwidth", 80)) - 1
            self._write(_CLEAR + describe_progress(self._measure(now_s), width))

    def _measure(self, now_s: float) -> Progress:
        verdicts = self._session.verdicts
        for verdict in verdicts[self._counted :]:
            self._cases.add((verdict.suite, verdict.case))
            self._right += verdict.outcome is Outcome.CORRECT
            self._scorable += verdict.outcome is not Outcome.UNSCORABLE
        self._counted = len(verdicts)
        calls, cost_usd = getattr(self._session.known_predictor, "progress", (None, 0.0))
        elapsed_s = now_s - self._began_s
        return Progress(len(self._cases), self._total, elapsed_s, self._right, self._scorable, calls, cost_usd)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Take the line away."""
        if self._drawn_s:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        # not by the writer itself: it would take each new line for more of the same one
        file = getattr(self._writer, "_file", sys.stdout)
        file.write(text)
        file.flush()


def _is_watched(config: pytest.Config) -> bool:
    """True for a terminal; never for a log, in CI, or with ``-v`` or ``-q``."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    is_terminal = bool(getattr(reporter, "isatty", False)) and os.environ.get("TERM") != "dumb"
    return is_terminal and not os.environ.get("CI") and config.get_verbosity() == 0


def register_progress(session: SqlbenchSession) -> None:
    """Register the line; it takes itself out where nobody watches, which only shows once the terminal is set up."""
    session.config.pluginmanager.register(ProgressLine(session), "sqlbench-progress")
