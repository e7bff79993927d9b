"""A suite manifest as a pytest file, and each of its cases as a pytest item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import SqlbenchError
from pytest_sqlbench.plugin import find_session
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.report.failure import describe_failure
from pytest_sqlbench.run import Tally
from pytest_sqlbench.session import VERDICTS, SqlbenchSession
from pytest_sqlbench.verdict import Outcome, Verdict


class WrongAnswer(AssertionError):  # noqa: N818 - what it is, not what went wrong
    """The model's answer is wrong; the text is the whole report of the case."""


class BenchTrouble(Exception):  # noqa: N818 - as above
    """The bench, and not the model, is at fault; the text is the whole report of the case."""


class SqlbenchFile(pytest.File):
    """A suite manifest."""

    def collect(self) -> Iterator[SqlbenchItem]:
        """Yield one item per case that the selection leaves. A faulty manifest ends the session with exit code 4."""
        session = find_session(self.config)
        try:
            suite = session.load(self.path)
        except SqlbenchError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
        marks = _Marks(suite)
        base = self.nodeid
        for case in session.selection.share(suite.cases):
            name = f"{suite.name}[{case.id}]"
            # as a text: pytest 9.2 loses bracketed names of items under --lf when it makes the id itself
            item: SqlbenchItem = SqlbenchItem.from_parent(
                self, name=name, nodeid=f"{base}::{name}", case=case, suite=suite, bench=session
            )
            item.own_markers.extend(marks.of(case))
            if case.tags:
                item.extra_keyword_matches = marks.keywords(case)
            yield item


class _Marks:
    """Makes each distinct mark of a suite once: a mark per item would double the memory of a large suite."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._made: dict[tuple[Any, ...], list[pytest.Mark]] = {}
        self._keywords: dict[tuple[str, ...], set[str]] = {}

    def of(self, case: Case) -> list[pytest.Mark]:
        key = (case.difficulty, case.database, case.tags)
        marks = self._made.get(key)
        if marks is None:
            make = pytest.mark.sqlbench_case
            whole = make(suite=self._suite.name, difficulty=case.difficulty, database=case.database)
            tags = dict.fromkeys((*self._suite.tags, *case.tags))
            marks = self._made[key] = [whole.mark, *(make(tag=tag).mark for tag in tags)]
        return marks

    def keywords(self, case: Case) -> set[str]:
        return self._keywords.setdefault(case.tags, set(case.tags))


class SqlbenchItem(pytest.Item):
    """One case: the model is asked and the answer judged in set-up, the verdict passes or fails the call.

    So trouble of the bench shows as ERROR, a wrong answer as FAILED, and an unscorable gold as skipped.
    """

    def __init__(self, *, case: Case, suite: Suite, bench: SqlbenchSession, **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case
        self.suite = suite
        self.bench = bench
        self._line = 0 if case.file else max(case.line - 1, 0)
        """In the manifest, from 0."""

    @property
    def location(self) -> tuple[str, int | None, str]:
        """Where the case stands: cheaper than pytest's own, which looks at the file system for every item."""
        assert self.parent is not None  # every item has its file
        return self.parent.nodeid, self._line, self.name

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return file, line and name."""
        return self.path, self._line, self.name

    def setup(self) -> None:
        """Ask the model and judge its answer; raise `BenchTrouble` if that cannot be done."""
        session = self.bench
        if session.spec is None and not _adopt_fixture(self, session):
            pytest.skip("no model: give --sqlbench-model=SPEC, or a fixture sqlbench_model in conftest.py")
        tally = self.stash[VERDICTS] = session.answer(self.case, self.suite)
        if tally.is_trouble:
            raise BenchTrouble(describe_failure(tally.shown))

    def runtest(self) -> None:
        """Pass or fail by the verdict."""
        deliver(self.stash[VERDICTS], self.config.get_verbosity())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show our own reports as they are, and anything else as pytest does."""
        if isinstance(excinfo.value, (WrongAnswer, BenchTrouble)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def deliver(tally: Tally, verbosity: int = 0) -> None:
    """Raise `WrongAnswer` for a wrong case, skip an unscorable one, return for a right one."""
    verdict = tally.shown
    if verdict.outcome is Outcome.UNSCORABLE:
        pytest.skip(f"unscorable: {verdict.detail}")
    if verdict.outcome is not Outcome.CORRECT:
        text = describe_failure(verdict, is_long=verbosity > 0)
        raise WrongAnswer(
            f"{text}\nsamples    {tally.correct} of {tally.samples} are right" if tally.samples > 1 else text
        )


def _adopt_fixture(item: SqlbenchItem, session: SqlbenchSession) -> bool:
    """Use the fixture ``sqlbench_model`` of a conftest.py, if there is one. pytest has no public way to ask for it."""
    manager = getattr(item.session, "_fixturemanager", None)
    try:
        if manager is None or not manager.getfixturedefs("sqlbench_model", item):
            return False
        from _pytest.fixtures import TopRequest

        item._fixtureinfo = manager.getfixtureinfo(node=item, func=None, cls=None)  # type: ignore[attr-defined]
        item.fixturenames = item._fixtureinfo.names_closure  # type: ignore[attr-defined]
        item.funcargs = {}  # type: ignore[attr-defined]
        request = TopRequest(item, _ispytest=True)  # type: ignore[arg-type]
        item._request = request  # type: ignore[attr-defined]
    except (AttributeError, ImportError, TypeError) as error:
        message = f"fixture sqlbench_model: this pytest cannot give it to a suite ({error}); use the hook"
        raise BenchTrouble(f"{message} pytest_sqlbench_make_model") from error
    session.adopt_model(request.getfixturevalue("sqlbench_model"))
    return True


# --- tests of the user's own


def parametrize_cases(metafunc: pytest.Metafunc) -> None:
    """Parametrise ``sqlbench_case``; raise `pytest.UsageError` where the mark or a suite is faulty."""
    session = find_session(metafunc.config)
    cases: list[Any] = []
    paths = [path for mark in metafunc.definition.iter_markers("sqlbench") for path in mark.args]
    if not paths:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: sqlbench_case needs @pytest.mark.sqlbench with a manifest's path"
        )
    for path in paths:
        try:
            suite = session.load(_find_manifest(str(path), metafunc))
        except SqlbenchError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
        for case in session.selection.share(suite.cases):
            cases.append(pytest.param(replace(case), id=f"{suite.name}-{case.id}", marks=_Marks(suite).of(case)))
    metafunc.parametrize("sqlbench_case", cases)


def _find_manifest(path: str, metafunc: pytest.Metafunc) -> Path:
    for base in (metafunc.config.rootpath, metafunc.definition.path.parent):
        if (base / path).is_file():
            return base / path
    return metafunc.config.rootpath / path


def check_case(node: pytest.Item, case: Case, answer: object) -> Verdict:
    """Judge an answer of a user's test, keep the verdict for the summary, and fail the test if it is wrong."""
    session = find_session(node.config)
    suite = next(suite for suite in session.suites.values() if suite.name == case.suite)
    if isinstance(answer, Prediction):
        prediction = answer
    elif answer is None or isinstance(answer, str):
        prediction = Prediction(reply=answer)
    else:
        raise TypeError(f"sqlbench_check takes SQL, a reply or a Prediction, not {type(answer).__name__}")
    verdict = session.judge(case, prediction, suite)
    tally = node.stash[VERDICTS] = Tally((verdict,))
    if verdict.is_trouble:
        raise BenchTrouble(describe_failure(verdict))
    deliver(tally, node.config.get_verbosity())
    return verdict
