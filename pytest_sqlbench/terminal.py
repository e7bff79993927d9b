"""What pytest's terminal shows of us: the summary, few failures of many, and no memory spent on empty reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.options import read_number
from pytest_sqlbench.progress import register_progress

if TYPE_CHECKING:
    from pytest_sqlbench.session import SqlbenchSession


class Terminal:
    """Prints the summary on the controller."""

    def __init__(self, session: SqlbenchSession) -> None:
        self._session = session
        self._shown = int(read_number(session.config, "sqlbench_show_wrong", int, 10))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Drop our empty set-up and tear-down reports.

        pytest keeps them all, and looks through all of them once for every failure that it shows.
        """
        if report.when == "call" or report.outcome != "passed":
            return
        kept = self._stats.get("")
        if not kept or kept[-1] is not report or report.sections:
            return
        if report.nodeid.partition("::")[0].endswith((".yaml", ".yml")):
            kept.pop()

    @cached_property
    def _stats(self) -> dict[str, list[Any]]:
        reporter = self._session.config.pluginmanager.get_plugin("terminalreporter")
        return getattr(reporter, "stats", None) or {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        """Hide all but the first failures while pytest prints them, then print the summary."""
        hidden: dict[str, list[Any]] = {}
        stats = self._stats
        for category in ("failed", "error"):
            ours = [report for report in stats.get(category, ()) if hasattr(report, "sqlbench")]
            if len(ours) > self._shown:
                hidden[category] = stats[category]
                surplus = {id(report) for report in ours[self._shown :]}
                stats[category] = [report for report in stats[category] if id(report) not in surplus]
        more = sum(len(reports) - len(stats[category]) for category, reports in hidden.items())
        plain = self._colour(stats) if terminalreporter.hasmarkup else []
        try:
            yield
        finally:
            for report, text in plain:
                report.longrepr = text
            stats.update(hidden)
        if more:
            terminalreporter.write_line(f"… and {more:,} more like these (--sqlbench-show-wrong=N shows N)")
        self._print(terminalreporter)

    def _colour(self, stats: dict[str, list[Any]]) -> list[tuple[Any, str]]:
        """Paint the diffs of the reports that are shown; return the plain ones, which other plugins get back."""
        from pytest_sqlbench.report.failure import colour_marks

        ours = [report for report in stats.get("failed", ()) if hasattr(report, "sqlbench")]
        plain = [(report, report.longrepr) for report in ours if isinstance(report.longrepr, str)]
        for report, text in plain:
            report.longrepr = colour_marks(text)
        return plain

    def _print(self, reporter: pytest.TerminalReporter) -> None:
        from pytest_sqlbench.report.summary import describe_fingerprint, describe_summary, describe_trouble

        gates = self._session.gatekeeper.describe()
        if not self._session.verdicts and not gates:
            return
        reporter.section("sqlbench", sep="-")
        if self._session.verdicts:
            head, *lines = describe_summary(self._session.verdicts)
            reporter.write_line(head, bold=True)
            for line in [*lines, *self._session.reports.describe_causes(), *self._session.describe_model()]:
                reporter.write_line(line)
            if trouble := describe_trouble(self._session.verdicts):
                reporter.write_line(trouble, red=True, bold=True)
            run = self._session.gatekeeper.run
            if run is not None:
                for line in describe_fingerprint(run.fingerprint):
                    reporter.write_line(line)
        for line, is_good in gates:
            reporter.write_line(line, green=is_good is True, red=is_good is False, bold=is_good is False)


def register_terminal(session: SqlbenchSession) -> None:
    """Register the printer."""
    session.config.pluginmanager.register(Terminal(session), "sqlbench-terminal")
    register_progress(session)
