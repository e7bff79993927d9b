"""Joins the model with pytest: one process holds pool and store, reads ahead of the tests, and ends at once.

Without xdist that process runs the tests itself; with it, the controller does it and the workers ask through a relay.
"""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import ModelError, UsageError
from pytest_sqlbench.model_options import find_store, read_call_options, read_reading
from pytest_sqlbench.models import RELAY
from pytest_sqlbench.prediction import Prediction, Predictor
from pytest_sqlbench.predictors.ahead import Place, ReadAhead
from pytest_sqlbench.predictors.answers import Answers
from pytest_sqlbench.predictors.failures import CallError
from pytest_sqlbench.predictors.relay import Relay
from pytest_sqlbench.predictors.store import Store

if TYPE_CHECKING:
    from pytest_sqlbench.session import SqlbenchSession


def register_prefetch(session: SqlbenchSession, predictor: Predictor) -> Prefetch:
    """Put pool and store before a model."""
    is_kept = not session.is_worker and not session.config.option.collectonly
    store = Store(find_store(session.config) if is_kept else None)
    answers = Answers(
        predictor,
        store,
        read_call_options(session.config),
        read_reading(session.config),
        extract=lambda reply, case: _extract(session, reply, case),
    )
    prefetch = Prefetch(session, answers, store)
    session.config.pluginmanager.register(prefetch, "sqlbench-prefetch")
    return prefetch


def _extract(session: SqlbenchSession, reply: str, case: Case) -> str | None:
    from pytest_sqlbench.scoring.extract import extract_query

    return extract_query(reply, case.dialect, session.settings.extraction).sql


class Prefetch:
    """The model of this process, with read-ahead. A plugin of pytest, and a predictor."""

    def __init__(self, session: SqlbenchSession, answers: Answers, store: Store) -> None:
        self.name = answers.name
        self._session = session
        self._config = session.config
        self._answers = answers
        self._store = store
        self._concurrency = read_call_options(session.config).concurrency
        self._ahead = self._plan([])
        self._relay: Relay | None = None
        self._load_lock = threading.Lock()
        self._is_interrupted = False
        self._only_generates = bool(self._config.getoption("sqlbench_generate_only"))
        if self._only_generates and self._is_distributed():
            raise UsageError("--sqlbench-generate-only is done by one process: leave -n out")

    def bind_suite(self, suite: Suite) -> None:
        """Show a suite to the model."""
        self._answers.bind_suite(suite)

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Answer a case, and start what will be asked for next.

        Raises:
            ModelError: There is no answer.
        """
        self._answers.read_ahead(self._ahead.due(case, sample))
        return self._answers.predict(case, sample)

    def close(self) -> None:
        """Make no further call. What came in is on disk when this returns."""
        if self._relay is not None:
            self._relay.close()
        self._answers.close()
        self._store.close()

    @property
    def progress(self) -> tuple[int, float]:
        """How many calls are under way, and what all of them have cost so far in US dollars."""
        return self._answers.in_flight, self._answers.tally.cost_usd

    def describe(self) -> list[str]:
        """Say for the summary what the answers of this run came to."""
        return [_describe_calls(self._answers), *self._describe_store()]

    def _describe_store(self) -> list[str]:
        trouble = self._store.trouble
        return [f"store       {trouble}: new answers are not kept"] if trouble else []

    # --- plans

    def _places(self, session: pytest.Session) -> list[Place]:
        from pytest_sqlbench.collection import SqlbenchItem

        cases = [item.case for item in session.items if isinstance(item, SqlbenchItem)]
        return [(case, sample) for case in cases for sample in range(self._session.samples)]

    def _plan(self, places: list[Place]) -> ReadAhead:
        is_short = bool(self._config.getoption("maxfail", 0))
        return ReadAhead(places, self._concurrency, is_short=is_short)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan for the items of this process."""
        self._ahead = self._plan(self._places(session))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of this machine how the controller is asked; one elsewhere asks the model by itself."""
        if getattr(node.gateway.spec, "popen", False):
            if self._relay is None:
                self._relay = Relay(self.name, self._answer_worker)
                threading.Thread(target=self._warm_up, name="sqlbench-warm-up", daemon=True).start()
            node.workerinput[RELAY] = self._relay.place

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Plan for the items of all workers, and start before the first of them asks."""
        if len(self._ahead) or self._config.option.collectonly:
            return
        cases = [case for node_id in ids if (case := self._find_case(node_id)) is not None]
        self._ahead = self._plan([(case, sample) for case in cases for sample in range(self._session.samples)])
        self._answers.read_ahead(self._ahead.due())

    def _warm_up(self) -> None:
        """Get ready for calls while the workers start and collect."""
        first = next((suite.cases[0] for suite in self._session.suites.values() if suite.cases), None)
        if first is not None:
            with suppress(ModelError):  # told where the case is asked for
                self._answers.warm_up(first)

    def _find_case(self, node_id: str) -> Case | None:
        path, _, name = node_id.partition("::")
        if not path.endswith((".yaml", ".yml")) or not name.endswith("]"):
            return None
        try:
            return self._load(self._config.rootpath / path).find_case(name.partition("[")[2][:-1])
        except (KeyError, UsageError):
            return None  # told by the worker that collected it

    def _answer_worker(self, path: str, case_id: str, sample: int) -> Prediction:
        try:
            return self.predict(self._load(Path(path)).find_case(case_id), sample)
        except KeyboardInterrupt as error:  # a model's; here is a thread of the relay
            with self._load_lock:
                is_first, self._is_interrupted = not self._is_interrupted, True
            if is_first:  # a second one would strike while the run is being ended
                _interrupt_main()
            raise CallError("not asked: the run was stopped") from error

    def _load(self, path: Path) -> Suite:
        with self._load_lock:
            return self._session.load(path)

    def _is_distributed(self) -> bool:
        return self._config.getoption("dist", "no") != "no" or bool(self._config.getoption("tx", None))

    # --- ends

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """End all calls before anything else is tidied up."""
        self._answers.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """End all calls; what came in is written."""
        self.close()

    def pytest_unconfigure(self) -> None:
        """Let go of the store, also where the run ended before it began."""
        self.close()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Ask for the first cases before the first test sets up; under ``--sqlbench-generate-only`` for all of them."""
        failed_n = 0
        is_run = not session.testsfailed or self._config.option.continue_on_collection_errors
        # what a model in this process prints between two tests, pytest would not capture
        is_early = self._answers.is_remote and is_run and not self._only_generates
        if is_early and not self._config.option.collectonly:
            self._answers.read_ahead(self._ahead.due())
        if self._only_generates and not self._config.option.collectonly:
            failed_n = self._generate(session)
            session.items.clear()
        result = yield
        session.testsfailed += failed_n
        return result

    def _generate(self, session: pytest.Session) -> int:
        places = self._places(session)
        self._answers.read_ahead(places)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        failed_n = 0
        for case, sample in places:
            try:
                self._answers.predict(case, sample)
            except ModelError as error:
                failed_n += 1
                if reporter is not None and failed_n <= 10:
                    reporter.write_line(f"{case.suite}/{case.id}: {error}")
        if reporter is not None:
            reporter.write_line(f"sqlbench: {len(places) - failed_n} of {len(places)} answers are in the store")
        return failed_n


def _interrupt_main() -> None:
    """Do to the main thread what Ctrl-C does; a signal also wakes it where it waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _describe_calls(answers: Answers) -> str:
    tally = answers.tally
    parts = [f"{tally.calls:,} calls" + (f" ({tally.retries:,} of them retries)" if tally.retries else "")]
    if answers.from_store:
        parts.append(f"{answers.from_store:,} from the store")
    if tally.failures:
        parts.append(f"{tally.failures:,} cases never answered")
    if tally.answers:
        tokens = f"{tally.prompt_tokens:,} + {tally.completion_tokens:,} tokens"
        parts.append(tokens if not tally.untold else _partly(tokens, "tokens", tally.untold, tally.answers))
        cost = f"${tally.cost_usd:.4f}"
        parts.append(cost if not tally.unpriced else _partly(cost, "cost", tally.unpriced, tally.answers))
    return "answers     " + ", ".join(parts)


def _partly(known: str, what: str, unknown_n: int, n: int) -> str:
    return f"{what} unknown" if unknown_n == n else f"{known} and {what} unknown for {unknown_n:,} of {n:,} answers"
