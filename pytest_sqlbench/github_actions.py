"""Inside GitHub Actions: writes the step summary and prints the annotations. Elsewhere it is not even registered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_sqlbench.verdict import Verdict

if TYPE_CHECKING:
    from pytest_sqlbench.gating import Gatekeeper


class GithubActions:
    """Shows a run where a pull request is looked at."""

    def __init__(self, gatekeeper: Gatekeeper, config: pytest.Config) -> None:
        self._gatekeeper = gatekeeper
        self._root = config.rootpath
        self._workspace = Path(os.environ.get("GITHUB_WORKSPACE") or config.rootpath)
        self._summary_path = os.environ.get("GITHUB_STEP_SUMMARY", "")

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the step summary, then print workflow commands, each at the start of a line as GitHub wants them."""
        gates = self._gatekeeper
        if gates.run is None or not gates.run.verdicts:
            return
        from pytest_sqlbench.report.github import annotate, describe_step

        if self._summary_path:
            obstacle = gates.obstacle if gates.rules else ""
            text = describe_step(gates.run, gates.comparison, gates.results, obstacle)
            try:
                with open(self._summary_path, "a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(text)
            except OSError as error:
                terminalreporter.write_line(f"cannot write GITHUB_STEP_SUMMARY: {error}", red=True)
        regressed = gates.comparison.regressed if gates.comparison is not None else ()
        for line in annotate(gates.results, regressed, self._locate):
            terminalreporter.ensure_newline()
            terminalreporter.write_line(line)

    def _locate(self, verdict: Verdict) -> tuple[str, int]:
        """Return the case's file below the repository and its line; of a verdict that nobody can place, nothing."""
        place, _, number = verdict.where.rpartition(":")
        path = self._root / place
        if not place or not path.is_file():
            return "", 0
        case = self._gatekeeper.find_case(verdict)
        line = int(number) if number.isdigit() else 0
        if case is not None:
            path, line = (Path(case.file) if case.file else path), case.line
        return Path(os.path.relpath(path, self._workspace)).as_posix(), line or 1


def register_github(gatekeeper: Gatekeeper, config: pytest.Config) -> None:
    """Register the writer if this is a job of GitHub Actions."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        config.pluginmanager.register(GithubActions(gatekeeper, config), "sqlbench-github")
