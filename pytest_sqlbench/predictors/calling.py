"""One call of a model with its retries, its turn within the limits, and the end of all calls where none can work."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pytest_sqlbench.case import Case
from pytest_sqlbench.prediction import Prediction, Predictor
from pytest_sqlbench.predictors.budget import Budget, Leave
from pytest_sqlbench.predictors.failures import CallError, Trying, failure_of
from pytest_sqlbench.predictors.rate import RateLimit
from pytest_sqlbench.predictors.registry import predict


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How hard a model is asked."""

    concurrency: int = 32
    retries: int = 4
    """Further calls after a failure that may pass."""
    first_wait_s: float = 0.5
    """Before the first retry; doubled for each further one, and shortened at random by up to half."""
    longest_wait_s: float = 60.0
    """An endpoint that asks to wait longer than this has failed."""
    timeout_s: float = 60.0
    """A call that takes longer has failed, whether or not it can be stopped."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost_usd: float | None = None
    failures_in_a_row: int = 10
    """After so many cases that got no answer from the endpoint, and none that did, no further call is made."""
    seed: int = 0


@dataclass(slots=True)
class Tally:
    """What the calls of a run came to."""

    calls: int = 0
    retries: int = 0
    answers: int = 0
    failures: int = 0
    """Cases without an answer."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    untold: int = 0
    """Answers whose tokens the endpoint did not tell."""
    cost_usd: float = 0.0
    unpriced: int = 0
    """Answers whose cost is unknown."""


class Caller:
    """Asks one predictor, from many threads."""

    def __init__(self, predictor: Predictor, options: CallOptions) -> None:
        self.tally = Tally()
        self.stopped = threading.Event()
        """Set it, and waits end: no further call is made."""
        self._predictor = predictor
        self._options = options
        self._lock = threading.Lock()
        self._rate = RateLimit(options.requests_per_minute, options.tokens_per_minute)
        self._budget = Budget(options.max_cost_usd)
        self._random = random.Random(options.seed)
        self._refusal = ""
        self._failed_in_a_row = 0
        self._paused_until_s = 0.0

    def call(
        self, cases: Sequence[Case], sample: int, mark: Callable[[float | None], None] = lambda since_s: None
    ) -> list[Prediction]:
        """Ask for all cases in one call, again where that may help.

        Args:
            cases: One, or as many as the predictor takes at once.
            sample: For which of several answers to the same case this is.
            mark: Told when each try begins (monotonic seconds) and, by None, when it has ended.

        Raises:
            CallError: No answer was had: retries are used up, the endpoint refuses, or a limit of the run is reached.
            KeyboardInterrupt: The predictor raised it.
        """
        attempt = 0
        while True:
            attempt += 1
            self._take_turn(is_retry=attempt > 1)
            started_s = time.monotonic()
            mark(started_s)
            try:
                predictions = self._ask(cases, sample)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a predictor may raise anything, ``pytest.skip`` too
                mark(None)
                failure = failure_of(error)
                self._count_failure()
                wait_s = self._next_wait_s(failure, attempt)
                if wait_s is None:
                    raise self._final(failure, attempt) from error
                self._sleep(wait_s)
                continue
            mark(None)
            elapsed_ms = (time.monotonic() - started_s) * 1000
            told = [_completed(prediction, attempt, elapsed_ms) for prediction in predictions]
            self._count_answers(told)
            return told

    def _ask(self, cases: Sequence[Case], sample: int) -> list[Prediction]:
        if len(cases) == 1:
            return [predict(self._predictor, cases[0], sample)]
        return cast(Any, self._predictor).predict_batch(cases)  # type: ignore[no-any-return]

    def _take_turn(self, *, is_retry: bool) -> None:
        while True:
            with self._lock:
                if self._refusal:
                    raise CallError(self._refusal, Trying.HOPELESS)
                now_s = time.monotonic()
                wait_s = max(self._paused_until_s - now_s, self._rate.wait_s(now_s))
                leave = self._budget.ask()
                if leave is Leave.STOP:
                    raise CallError(self._describe_cap(), Trying.HOPELESS)
                if wait_s <= 0 and leave is Leave.GO:
                    self._rate.start(now_s)
                    self._budget.start()
                    self.tally.calls += 1
                    self.tally.retries += is_retry
                    return
            self._sleep(max(0.02, min(wait_s, 0.25)))

    def _describe_cap(self) -> str:
        spent = f"${self._budget.spent_usd:.4f} after {self.tally.calls} calls"
        return f"not asked: the cap of ${self._options.max_cost_usd:g} on a run's cost is reached ({spent})"

    def _sleep(self, wait_s: float) -> None:
        if self.stopped.wait(wait_s):
            raise CallError("not asked: the run was stopped")

    def _next_wait_s(self, failure: CallError, attempt: int) -> float | None:
        """Return how long to wait before the next try; None: there is none."""
        options = self._options
        if failure.trying is not Trying.AGAIN or attempt > options.retries or self.stopped.is_set():
            return None
        with self._lock:
            jitter = self._random.uniform(0.5, 1.0)
        wait_s = min(options.first_wait_s * 2.0 ** (attempt - 1), options.longest_wait_s) * jitter
        if failure.retry_after_s is None:
            return wait_s
        if failure.retry_after_s > options.longest_wait_s:
            return None
        with self._lock:
            # the endpoint is busy for all of us, not for this call only
            self._paused_until_s = max(self._paused_until_s, time.monotonic() + failure.retry_after_s)
        return failure.retry_after_s

    def _final(self, failure: CallError, attempt: int) -> CallError:
        tries = f" (asked {attempt} times)" if attempt > 1 else ""
        if failure.retry_after_s is not None and failure.retry_after_s > self._options.longest_wait_s:
            tries += f" (it asks to wait {failure.retry_after_s:g} s)"
        final = CallError(f"{failure}{tries}", failure.trying)
        if failure.trying is not Trying.NEVER and not self.stopped.is_set():
            with self._lock:
                self._failed_in_a_row += 1
                if self._failed_in_a_row >= self._options.failures_in_a_row and not self._refusal:
                    n = self._failed_in_a_row
                    self._refusal = f"not asked: {n} cases in a row had no answer, the last for: {final}"
        return final

    def _count_failure(self) -> None:
        with self._lock:
            self._rate.end(time.monotonic(), 0)
            self._budget.end(None)

    def _count_answers(self, predictions: list[Prediction]) -> None:
        tally = self.tally
        with self._lock:
            self._failed_in_a_row = 0
            tokens, costs = 0, [0.0]
            for prediction in predictions:
                usage = prediction.usage
                tally.answers += 1
                if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
                    tally.untold += 1
                else:
                    tally.prompt_tokens += usage.prompt_tokens
                    tally.completion_tokens += usage.completion_tokens
                    tokens += usage.prompt_tokens + usage.completion_tokens
                if usage is None or usage.cost_usd is None:
                    tally.unpriced += 1
                    self._refuse_unpriced()
                else:
                    costs.append(usage.cost_usd)
            tally.cost_usd += sum(costs)
            self._rate.end(time.monotonic(), tokens)
            self._budget.end(sum(costs))

    def _refuse_unpriced(self) -> None:
        if self._options.max_cost_usd is not None and not self._refusal:
            name = self._predictor.name
            self._refusal = f"not asked: a run's cost is capped, but what {name!r} costs is unknown: give its price"


def _completed(prediction: Prediction, attempt: int, elapsed_ms: float) -> Prediction:
    latency_ms = elapsed_ms if prediction.latency_ms is None else prediction.latency_ms
    reply = prediction.reply
    if reply is not None and not _is_encodable(reply):
        # half of a surrogate pair is no text: it could neither be stored nor shown
        reply = reply.encode("utf-8", "replace").decode("utf-8")
    return replace(prediction, attempts=attempt, latency_ms=latency_ms, reply=reply)


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
