"""The entry point that pytest loads: hooks that cost nothing until a suite is used, and the fixtures.

Nothing but the standard library and pytest is imported at the top; the rest follows where a suite is used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.options import add_options, asks_for_gates, read_option

if TYPE_CHECKING:
    from pytest_sqlbench.case import Case
    from pytest_sqlbench.collection import SqlbenchFile
    from pytest_sqlbench.prediction import Prediction
    from pytest_sqlbench.session import SqlbenchSession
    from pytest_sqlbench.verdict import Verdict

SESSION = pytest.StashKey["SqlbenchSession"]()

MARKERS = (
    "sqlbench(*suites): parametrise the fixture sqlbench_case over the cases of these suite manifests.",
    "sqlbench_case(suite, difficulty, database, tag): stands on every benchmark case, for -m.",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register ``--sqlbench-*`` and ``sqlbench_*``."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register ``pytest_sqlbench_*``."""
    from pytest_sqlbench import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and read the options at once if any is given: a mistake ends the run before it starts."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    config.pluginmanager.register(Listener(config), "sqlbench-listener")
    asks = asks_for_gates(config) or config.getoption("sqlbench_select") is not None
    if asks or read_option(config, "sqlbench_model") is not None:
        find_session(config)


def find_session(config: pytest.Config) -> SqlbenchSession:
    """Return the state of this process; it is made at the first call."""
    session = config.stash.get(SESSION, None)
    if session is None:
        from pytest_sqlbench.session import open_session

        session = config.stash[SESSION] = open_session(config)
    return session


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SqlbenchFile | None:
    """Collect a YAML file that is marked as a suite manifest."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    from pytest_sqlbench.suites.marks import is_manifest

    if not is_manifest(file_path):
        return None
    from pytest_sqlbench.collection import SqlbenchFile

    return SqlbenchFile.from_parent(parent, path=file_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise ``sqlbench_case`` over the suites of the mark ``sqlbench``."""
    if "sqlbench_case" in metafunc.fixturenames:
        from pytest_sqlbench.collection import parametrize_cases

        parametrize_cases(metafunc)


class Listener:
    """Takes verdicts off the reports, which under xdist are the first that the controller hears of a suite."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Pass a report that carries a verdict on to the session."""
        if hasattr(report, "sqlbench"):
            find_session(self._config).hear(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Let the gates decide on a run that came to its end; one that is interrupted does not get here."""
        result = yield
        if SESSION in self._config.stash:
            find_session(self._config).gatekeeper.finish(session)
        return result


@pytest.fixture
def sqlbench_predict(request: pytest.FixtureRequest) -> Callable[[Case], Prediction]:
    """Ask the session's model: ``sqlbench_predict(case)`` returns its `Prediction`. Override it to ask an agent."""
    session = find_session(request.config)
    return session.predict


@pytest.fixture
def sqlbench_check(request: pytest.FixtureRequest, sqlbench_case: Case) -> Callable[[Any], Verdict]:
    """Judge an answer to the case of this test: ``sqlbench_check(sql)`` returns the verdict, and fails if it is wrong.

    The answer is SQL, a raw reply, or a `Prediction`.
    """
    from pytest_sqlbench.collection import check_case

    return lambda answer: check_case(request.node, sqlbench_case, answer)
