"""The reports of a session: causes for the summary, and the files that are written when a run ends, however it ends."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import SqlbenchError
from pytest_sqlbench.reselection import remember
from pytest_sqlbench.run import Key, Run
from pytest_sqlbench.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from pytest_sqlbench.comparison import Comparison
    from pytest_sqlbench.report.page import Background
    from pytest_sqlbench.results_database import ResultsDatabase
    from pytest_sqlbench.session import SqlbenchSession
    from pytest_sqlbench.triage import Diagnosis

MOST_DIAGNOSED = 2_000
"""Wrong cases that are diagnosed for the summary alone, which has to come at once."""
MOST_SCHEMAS = 300
LONGEST_SCHEMA = 20_000


class Reports:
    """Writes what was asked for on the controller, once the gates are through and before engines are closed."""

    def __init__(self, session: SqlbenchSession) -> None:
        self._session = session
        self._config = session.config
        self._html = self._find_path("sqlbench_html")
        self._markdown = self._find_path("sqlbench_markdown")
        self._database_path = self._find_path("sqlbench_db")
        self._database: ResultsDatabase | None = None
        self._trouble = ""
        """Why the results database is not written any more."""
        self._history: dict[Key, list[str]] = {}
        self._diagnoses: dict[int, Diagnosis] | None = None
        self._first: dict[int, Diagnosis] = {}
        self._cases: dict[Key, Case] | None = None
        self._names: dict[str, list[str]] = {}

    def _find_path(self, name: str) -> Path | None:
        given = self._config.getoption(name)
        return self._config.invocation_params.dir / given if given else None

    def pytest_sessionstart(self) -> None:
        """Open the results database, so that one that cannot be used ends the run before it starts."""
        if self._database_path is not None and not self._config.option.collectonly:
            try:
                self._open_database(self._database_path)
            except SqlbenchError as error:
                raise pytest.UsageError(str(error)) from None

    def _open_database(self, path: Path) -> None:
        from pytest_sqlbench.results_database import ResultsDatabase

        self._database = ResultsDatabase(path, self._session.model_name)

    def hear(self, verdicts: Iterable[Verdict]) -> None:
        """Controller: put verdicts into the results database as they come. Its trouble is told at the end."""
        if self._database_path is None or self._trouble:
            return
        try:
            if self._database is None:  # a session that a worker's first report made
                self._open_database(self._database_path)
            assert self._database is not None, "opened above"
            self._database.add(verdicts)
        except (sqlite3.Error, SqlbenchError) as error:
            self._trouble = str(error)

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files; one that cannot be written is a line, and fails a session that would pass."""
        gates = self._session.gatekeeper
        if self._config.option.collectonly or gates.run is None or not gates.run.verdicts:
            if self._database is not None:
                self._database.close()
            return
        if self._database is not None:
            self._finish_database(self._database, gates.run, session)
        if not self._session.checks_golds:
            remember(self._config, gates.run, gates.comparison, self._diagnose_first(gates.run))
        if self._html is not None:
            from pytest_sqlbench.report.page import render_page

            self._write(self._html, render_page(gates.run, self._make_background(gates.run, gates.comparison)), session)
        if self._markdown is not None:
            from pytest_sqlbench.report.markdown import render_markdown

            obstacle = gates.obstacle if gates.rules else ""
            diagnoses = self.diagnose(gates.run)
            text = render_markdown(gates.run, diagnoses, gates.comparison, gates.results, obstacle)
            self._write(self._markdown, text, session)

    def _finish_database(self, database: ResultsDatabase, run: Run, session: pytest.Session) -> None:
        comparison = self._session.gatekeeper.comparison
        baseline = comparison.baseline.name if comparison is not None else ""
        try:
            if not self._trouble:
                self._history = database.read_history() if self._html is not None else {}
                is_whole = session.exitstatus != pytest.ExitCode.INTERRUPTED
                database.finish(run, self.diagnose(run), self.cases, baseline, is_whole=is_whole)
            database.close()
        except sqlite3.Error as error:
            self._trouble = str(error)
        if self._trouble:
            self.complain(f"NOT WRITTEN: cannot write {database.path}: {self._trouble}", session)
        else:
            self._session.gatekeeper.kept.append((f"wrote {_show(database.path)}", None))

    def _write(self, path: Path, text: str, session: pytest.Session) -> None:
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(text, encoding="utf-8", errors="backslashreplace")
            os.replace(draft, path)
        except OSError as error:
            self.complain(f"NOT WRITTEN: cannot write {path}: {error.strerror or error}", session)
        else:
            self._session.gatekeeper.kept.append((f"wrote {_show(path)}", None))
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def complain(self, line: str, session: pytest.Session) -> None:
        """Print a line below the summary, and fail the session if it would pass."""
        self._session.gatekeeper.kept.append((line, False))
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    # --- causes

    def diagnose(self, run: Run) -> dict[int, Diagnosis]:
        """Return why each wrong verdict is wrong, by its position in the run; worked out once."""
        if self._diagnoses is None or len(self._diagnoses) < _count_wrong(run):
            self._diagnoses = self._diagnose(run.verdicts, self.cases, self._find_names)
        return self._diagnoses

    @staticmethod
    def _diagnose(
        verdicts: Sequence[Verdict],
        cases: Mapping[Key, Case],
        find_names: Callable[[Case], Sequence[str]] = lambda case: (),
    ) -> dict[int, Diagnosis]:
        if all(verdict.outcome is not Outcome.WRONG for verdict in verdicts):
            return {}
        from pytest_sqlbench.triage import diagnose_all

        return diagnose_all(verdicts, cases, find_names)

    def _diagnose_first(self, run: Run) -> dict[int, Diagnosis]:
        """Diagnose the first wrong cases, as many as can be done at once; all where all are known already."""
        if self._diagnoses is None and not self._first:
            wrong = [place for place, verdict in enumerate(run.verdicts) if verdict.outcome is Outcome.WRONG]
            wrong = wrong[:MOST_DIAGNOSED]
            found = self._diagnose([run.verdicts[place] for place in wrong], self.cases)
            self._first = {wrong[place]: diagnosis for place, diagnosis in found.items()}
        return self._first if self._diagnoses is None else self._diagnoses

    def describe_causes(self) -> list[str]:
        """Return the causes for the summary: of all wrong cases if they are known, else of the first ones."""
        run = self._session.gatekeeper.run
        if run is None or not _count_wrong(run):
            return []
        from pytest_sqlbench.report.causes import describe_causes

        return describe_causes(self._diagnose_first(run).values(), _count_wrong(run))

    # --- what is known beside the run

    @property
    def cases(self) -> dict[Key, Case]:
        """The cases of all suites that verdicts came from; a suite that only workers met is read here."""
        if self._cases is None:
            known = {suite.name for suite in self._session.suites.values()}
            places = {one.where.rpartition(":")[0] for one in self._session.verdicts if one.suite not in known}
            for place in sorted(places - {""}):
                with suppress(SqlbenchError):
                    self._session.load(self._config.rootpath / place)
            suites = self._session.suites.values()
            self._cases = {(suite.name, case.id): case for suite in suites for case in suite.cases}
        return self._cases

    def _make_background(self, run: Run, comparison: Comparison | None) -> Background:
        from pytest_sqlbench.report.page import Background

        changes = {}
        if comparison is not None:
            for word in ("regressed", "fixed", "known_wrong"):
                changes.update({pair.key: word for pair in getattr(comparison, word)})
        return Background(
            cases=self.cases,
            schemas=self._describe_schemas(run),
            changes=changes,
            baseline=comparison.baseline.name if comparison is not None else "",
            history=self._history,
            diagnoses=self.diagnose(run),
        )

    def _find_names(self, case: Case) -> list[str]:
        """Return the words of a database's schema: those that are no names do no harm to a search for the nearest."""
        from pytest_sqlbench.report.page import name_database

        name = name_database(case)
        if name not in self._names:
            suite = next(suite for suite in self._session.suites.values() if suite.name == case.suite)
            schema = self._describe_schema(suite, case)
            self._names[name] = sorted({word for word in re.findall(r"\w+", schema) if not word.isupper()})
        return self._names[name]

    def _describe_schema(self, suite: Suite, case: Case) -> str:
        from pytest_sqlbench.predictors.options import ModelOptions
        from pytest_sqlbench.predictors.schema import describe_schema

        text = ""
        with suppress(SqlbenchError):
            text = describe_schema(suite, case, ModelOptions(cache_dir=self._session.prepared_settings.cache_dir))
        return text if len(text) <= LONGEST_SCHEMA else f"{text[:LONGEST_SCHEMA]}…"

    def _describe_schemas(self, run: Run) -> dict[str, str]:
        """Ask each database that the run used for its schema; one that does not open has none."""
        from pytest_sqlbench.report.page import name_database

        suites: dict[str, Suite] = {suite.name: suite for suite in self._session.suites.values()}
        schemas: dict[str, str] = {}
        for verdict in run.verdicts:
            case = self.cases.get((verdict.suite, verdict.case))
            if case is not None and len(schemas) < MOST_SCHEMAS and name_database(case) not in schemas:
                schemas[name_database(case)] = self._describe_schema(suites[case.suite], case)
        return {name: text for name, text in schemas.items() if text}


def _count_wrong(run: Run) -> int:
    return sum(verdict.outcome is Outcome.WRONG for verdict in run.verdicts)


def _show(path: Path) -> str:
    """A path as a person would write it here."""
    with suppress(ValueError):
        name = os.path.relpath(path)
        return str(path) if name.startswith("..") else name
    return str(path)
