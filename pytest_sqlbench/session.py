"""The state of one pytest process: settings, suites, the model, the judges, and on the controller the verdicts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb
from typing import Any, cast

import pytest

from pytest_sqlbench.case import Case, Suite, digest_case
from pytest_sqlbench.databases import check_places, place_suite, read_places
from pytest_sqlbench.engines.limits import describe_limits
from pytest_sqlbench.errors import EngineError, ModelError, SqlbenchError, UsageError
from pytest_sqlbench.evaluation.registry import Judge, open_judge
from pytest_sqlbench.freezing import Freezer
from pytest_sqlbench.gating import register_gates
from pytest_sqlbench.judging_options import read_settings, usage_errors
from pytest_sqlbench.manifests import find_manifests
from pytest_sqlbench.options import read_number, read_option
from pytest_sqlbench.prediction import Prediction, Predictor
from pytest_sqlbench.reporting import Reports
from pytest_sqlbench.reselection import read_selection as read_reselection
from pytest_sqlbench.run import Tally
from pytest_sqlbench.selection import Selection, read_selection
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome, Reason, Verdict, amend, from_record, to_record

VERDICTS = pytest.StashKey[Tally]()
"""On an item: what was said of its case, a verdict for each sample."""

PLUGIN_NAME = "sqlbench-session"

SUITES_KEY = "sqlbench_suites"
"""Under which a worker tells the controller its suites."""


class SqlbenchSession:
    """Everything that the hooks share. Workers judge; the controller (the only process without xdist) also counts."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.selection: Selection = read_selection(config)
        self.checks_golds = bool(config.getoption("sqlbench_check"))
        """Whether golds are checked in the place of a model's answers."""
        self.spec: str | None = "gold" if self.checks_golds else read_option(config, "sqlbench_model")
        self.samples = int(read_number(config, "sqlbench_samples", int, 1, least=1))
        self.verdicts: list[Verdict] = []
        """Controller only: one per judged prediction, in the order of their reports."""
        self.suites: dict[Path, Suite] = {}
        """Every suite that was met, by the path of its manifest."""
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.settings = read_settings(config)
        with usage_errors():
            self.places = read_places(read_option(config, "sqlbench_database") or ())
        self._judges: dict[str, Judge] = {}
        self._predictor: Predictor | None = None
        self._fresh: dict[str, Tally] = {}
        self._places: dict[Path, str] = {}
        self.reports = Reports(self)
        with usage_errors():
            self.gatekeeper = register_gates(self)

    # --- suites, model and judges

    def load(self, path: Path) -> Suite:
        """Return the suite of a manifest, which is read once; raise `CaseError` if it is faulty."""
        path = path.absolute()
        suite = self.suites.get(path)
        if suite is None:
            suite = self.suites[path] = place_suite(self._read(path), self.places)
            if self.spec is not None:
                self._bind(self.predictor, suite)
        return suite

    def _read(self, path: Path) -> Suite:
        suite = load_suite(path)
        if self.config.getoption("sqlbench_transpile_gold"):
            from pytest_sqlbench.evaluation.transpile import transpile_suite

            return transpile_suite(suite)
        return suite

    def pick(self, suite: Suite) -> list[Case]:
        """Return the cases of a suite that the selection leaves."""
        return list(self.selection.pick(suite.cases))

    @property
    def predictor(self) -> Predictor:
        """The model that ``--sqlbench-model`` names; raises `UsageError` if it cannot be made."""
        if self._predictor is None:
            assert self.spec is not None  # asked for only where a model was named
            from pytest_sqlbench.models import open_model

            self._predictor = open_model(self, self.spec)
        return self._predictor

    @property
    def known_predictor(self) -> Predictor | None:
        """The model, if this process has met it yet: a fixture may make it late, or only in a worker."""
        return self._predictor

    @property
    def model_name(self) -> str:
        """What the reports call the model; empty where only a worker knows."""
        return self.spec or str(getattr(self._predictor, "name", ""))

    def adopt_model(self, value: object) -> Predictor:
        """Use what the fixture ``sqlbench_model`` returned: a spec, a predictor, or a callable that takes a case.

        A spec, or a predictor made by this package, is asked ahead by many threads and its answers are kept. A
        callable is called where the test runs: it may stand on what other fixtures made for that thread.
        """
        from pytest_sqlbench.models import keep_answers, open_model
        from pytest_sqlbench.predictors.python import adopt

        if self._predictor is None:
            if isinstance(value, str):
                self._predictor = open_model(self, value)
            elif hasattr(value, "fingerprint"):
                self._predictor = keep_answers(self, cast(Predictor, value))
            else:
                self._predictor = adopt("sqlbench_model", value)
            for suite in self.suites.values():
                self._bind(self._predictor, suite)
        return self._predictor

    def _open_judge(self, suite: Suite) -> Judge:
        if self.checks_golds:
            from pytest_sqlbench.evaluation import check_judge

            return check_judge.open_judge(suite, self.prepared_settings)
        return open_judge(suite, self.prepared_settings)

    def _bind(self, predictor: Predictor, suite: Suite) -> None:
        from pytest_sqlbench.predictors.registry import bind_suite

        bind_suite(predictor, suite)

    def describe_model(self) -> list[str]:
        """Say for the summary what the answers of this run cost; nothing for a model that makes no calls."""
        describe = getattr(self._predictor, "describe", None)
        return list(describe()) if describe is not None else []

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Ask the model for the n-th answer to a case; raise `ModelError` if it gives none."""
        from pytest_sqlbench.predictors.registry import predict

        if self.spec is None and self._predictor is None:
            raise UsageError("there is no model: give --sqlbench-model=SPEC or a fixture sqlbench_model")
        return predict(self.predictor, case, sample)

    def answer(self, case: Case, suite: Suite) -> Tally:
        """Ask the model for every sample of a case, and judge each."""
        verdicts: list[Verdict] = []
        for sample in range(self.samples):
            try:
                prediction = self.predict(case, sample)
            except ModelError as error:
                verdict = self._place(_trouble(case, Outcome.MODEL_ERROR, Reason.NO_ANSWER, str(error)), case, suite)
            else:
                verdict = self.judge(case, prediction, suite)
            verdicts.append(amend(verdict, sample=sample) if sample else verdict)
        return Tally(tuple(verdicts))

    def judge(self, case: Case, prediction: Prediction, suite: Suite) -> Verdict:
        """Judge a prediction; a database that cannot be opened is a gold error, since nothing can be judged."""
        judge = self._judges.get(suite.name)
        if judge is None:
            judge = self._judges[suite.name] = self._open_judge(suite)
        try:
            verdict = judge.judge(case, prediction)
        except EngineError as error:
            verdict = _trouble(case, Outcome.GOLD_ERROR, Reason.GOLD_FAILED, str(error))
        except Exception as error:  # a fault of ours must not make the denominator smaller
            frame = extract_tb(error.__traceback__)[-1]
            text = f"judging failed at {Path(frame.filename).name}:{frame.lineno}: {type(error).__name__}: {error}"
            verdict = _trouble(case, Outcome.GOLD_ERROR, Reason.BENCH_FAILED, text)
        verdict = self._place(verdict, case, suite)
        self.config.hook.pytest_sqlbench_verdict(config=self.config, case=case, verdict=verdict)
        return verdict

    def _place(self, verdict: Verdict, case: Case, suite: Suite) -> Verdict:
        """Add to a verdict what a run needs to know of its case where the suite is not at hand."""
        place = self._places.get(suite.path)
        if place is None:
            place = self._places[suite.path] = Path(os.path.relpath(suite.path, self.config.rootpath)).as_posix()
        return amend(
            verdict,
            tags=tuple(dict.fromkeys((*suite.tags, *case.tags))) if suite.tags else case.tags,
            difficulty=case.difficulty,
            where=f"{place}:{0 if case.file else case.line}",
            digest=digest_case(case),
        )

    # --- places

    @property
    def prepared_settings(self) -> Settings:
        """The settings with a cache folder that exists."""
        if self.settings.cache_dir is None:
            self.settings = replace(self.settings, cache_dir=self._make_cache_dir())
        return self.settings

    def _make_cache_dir(self) -> Path:
        cache = getattr(self.config, "cache", None)
        if cache is not None:
            with suppress(OSError):
                folder = Path(cache.mkdir("sqlbench"))
                with tempfile.TemporaryFile(dir=folder) as file:
                    file.write(bytes(2**16))  # a full disk makes an empty file gladly
                    return folder
        self._temporary = tempfile.TemporaryDirectory(prefix="sqlbench-")
        return Path(self._temporary.name)

    def prepare(self, suite: Suite) -> None:
        """Build the databases of a suite before its first case runs.

        Raises:
            UsageError: The recipe is faulty.
            EngineError: The folder for built databases cannot be written.
        """
        from pytest_sqlbench.engines.build import SUFFIXES, build_database

        cache_dir = self.prepared_settings.cache_dir
        assert cache_dir is not None  # prepared
        used = {(case.engine, case.database) for case in self.pick(suite)}
        for engine, name in sorted(used):
            database = suite.databases.get(name)
            if database is not None and database.is_recipe and engine in SUFFIXES:
                build_database(database, engine, cache_dir)

    # --- hooks

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """On the controller: read every suite that the arguments name, so that a fault ends the run at once."""
        if self.is_worker or self.spec is None:
            return
        with usage_errors():
            self.predictor  # noqa: B018 - made now, so that a fault in the spec is found first
            for path in find_manifests(self.config):
                suite = self.load(path)
                if not self.config.option.collectonly:
                    self.prepare(suite)
            check_places(self.places, (suite.name for suite in self.suites.values()))

    def pytest_report_header(self) -> list[str]:
        """Say in one line what is measured."""
        if self.spec is None:
            return []
        names = ", ".join(suite.name for suite in list(self.suites.values())[:4])
        more = f" and {len(self.suites) - 4} more" if len(self.suites) > 4 else ""
        parts = [f"model={self.spec}", f"suites={names}{more}" if names else "", str(self.selection)]
        if self.selection.shard_name:
            parts.append(f"shard={self.selection.shard_name}")
        return [
            "sqlbench: " + " ".join(part for part in parts if part),
            f"sqlbench limits: {describe_limits(self.settings.limits)}",
        ]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, pytest.TestReport]:
        """Put the verdict of an item on the report that tells its outcome."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            tally = item.stash.get(VERDICTS, None)
            if tally is not None:
                self.stamp(report, tally)
                if report.when == "setup" and call.excinfo is not None and tally.is_trouble:
                    report.longrepr = str(call.excinfo.value)  # pytest asks an item for its words in the call only
        return cast(pytest.TestReport, report)

    def stamp(self, report: pytest.TestReport, tally: Tally) -> None:
        """Put the verdicts of a case on its report."""
        report.sqlbench = [to_record(verdict) for verdict in tally.verdicts]  # type: ignore[attr-defined]
        if not self.is_worker:
            self._fresh[report.nodeid] = tally

    def hear(self, report: pytest.TestReport) -> None:
        """Controller: keep the verdicts of a report."""
        if self.is_worker or getattr(report, "outcome", "") == "rerun":
            return
        verdicts = self.read(report).verdicts
        self.verdicts.extend(verdicts)
        self.reports.hear(verdicts)
        self._fresh.pop(report.nodeid, None)
        self.gatekeeper.hear(report)

    def read(self, report: pytest.TestReport) -> Tally:
        """Return the verdicts that a report carries."""
        fresh = self._fresh.get(report.nodeid)
        return fresh if fresh is not None else Tally(tuple(map(from_record, report.sqlbench)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """Controller under xdist: the case that a worker died on gets a verdict too."""
        path, _, name = crashitem.partition("::")
        suite = self.suites.get((self.config.rootpath / path).absolute())
        case_id = name.partition("[")[2].removesuffix("]")
        if suite is None or not case_id:
            return
        with suppress(KeyError):
            case = suite.find_case(case_id)
            text = "the worker process crashed while it ran this case"
            verdict = self._place(_trouble(case, Outcome.MODEL_ERROR, Reason.CRASH, text), case, suite)
            report.sqlbench = [to_record(verdict)]  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Controller under xdist: learn which suites the tests of the user's own brought in."""
        for name in getattr(node, "workeroutput", {}).get(SUITES_KEY, ()):
            # a worker on another machine has paths that mean nothing here
            if Path(name).is_file():
                with suppress(SqlbenchError):
                    self.load(Path(name))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Close engines, the model and temporary folders."""
        if self.is_worker:
            self.config.workeroutput[SUITES_KEY] = [str(path) for path in self.suites]  # type: ignore[attr-defined]
        for judge in self._judges.values():
            judge.close()
        self._judges.clear()
        close = getattr(self._predictor, "close", None)
        if close is not None:
            close()
        if self._temporary is not None:
            self._temporary.cleanup()


def _trouble(case: Case, outcome: Outcome, reason: Reason, detail: str) -> Verdict:
    return Verdict(
        suite=case.suite,
        case=case.id,
        outcome=outcome,
        reason=reason,
        detail=detail.strip().replace("\n", " ")[:500],
        question=case.question,
        gold=case.gold[0],
    )


def open_session(config: pytest.Config) -> SqlbenchSession:
    """Make the state of this process and register its hooks."""
    from pytest_sqlbench.terminal import register_terminal

    session = SqlbenchSession(config)
    config.pluginmanager.register(session, PLUGIN_NAME)
    config.pluginmanager.register(Freezer(), "sqlbench-freezer")
    reselection = read_reselection(config)
    if reselection is not None:
        config.pluginmanager.register(reselection, "sqlbench-reselection")
    if config.getoption("sqlbench_fast"):
        from pytest_sqlbench.fast import register_fast

        register_fast(session)
    if not session.is_worker:
        register_terminal(session)
        config.pluginmanager.register(session.reports, "sqlbench-reports")
    return session
