"""Many calls at once: what somebody waits for goes first, then what will be wanted; and an end that is quick."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pytest_sqlbench.case import Case
from pytest_sqlbench.prediction import Prediction, Predictor
from pytest_sqlbench.predictors.calling import Caller, CallOptions, Tally
from pytest_sqlbench.predictors.failures import CallError, Trying

GRACE_S = 2.0
"""How much longer than its time limit a call is waited for: most predictors end their calls by themselves."""


@dataclass(slots=True, eq=False)
class Job:
    """One case to be asked once."""

    key: str
    case: Case
    sample: int = 0
    is_done: bool = False
    prediction: Prediction | None = None
    error: CallError | None = None


class _Worker:
    """What one thread does now."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.since_s: float | None = None
        self.is_abandoned = False

    def mark(self, since_s: float | None) -> None:
        """Note when a try of the call began; None: no try is under way."""
        self.since_s = since_s


class Pool:
    """Threads that ask one predictor. They start with the first job and never keep the interpreter from ending."""

    def __init__(
        self,
        predictor: Predictor,
        options: CallOptions,
        find: Callable[[Job], Prediction | None],
        keep: Callable[[Job], None],
    ) -> None:
        """Make a pool.

        Args:
            predictor: Asked from up to ``options.concurrency`` threads.
            options: How hard.
            find: Asked right before a call whether the answer came in meanwhile.
            keep: Called with each job that was answered by a call, before anyone who waits for it sees it.
        """
        self._predictor = predictor
        self._options = options
        self._find = find
        self._keep = keep
        self._caller = Caller(predictor, options)
        self._batch = max(1, int(getattr(predictor, "batch_size", 1)))
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._done = threading.Condition(self._lock)
        self._urgent: deque[Job] = deque()
        self._later: deque[Job] = deque()
        self._jobs: dict[str, Job] = {}
        self._workers: set[_Worker] = set()
        self._idle_n = 0
        self._is_interrupted = False

    @property
    def tally(self) -> Tally:
        """What the calls came to so far."""
        return self._caller.tally

    @property
    def in_flight(self) -> int:
        """How many calls are under way."""
        with self._lock:
            return sum(worker.since_s is not None for worker in self._workers)

    def submit(self, key: str, case: Case, sample: int = 0, *, is_urgent: bool = False) -> Job:
        """Put a case in the queue, or find it there; an urgent one goes before all that are only read ahead."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = Job(key, case, sample)
                (self._urgent if is_urgent else self._later).append(job)
                self._add_worker()
                self._work.notify()
            elif is_urgent and job in self._later:
                self._later.remove(job)
                self._urgent.append(job)
        return job

    def wait(self, job: Job) -> Prediction:
        """Wait for a job's answer; whoever wants it later finds it where ``keep`` has put it.

        Raises:
            CallError: There is none, with the endpoint's own message.
            KeyboardInterrupt: The predictor raised it in one of its threads, where it would end nothing.
        """
        with self._lock:
            while not job.is_done:
                if self._is_interrupted:
                    raise KeyboardInterrupt
                if self._caller.stopped.is_set():
                    raise CallError("not asked: the run was stopped")
                self._done.wait(min(1.0, self._options.timeout_s))
                self._abandon_late()
            if job.prediction is not None:
                return job.prediction
        assert job.error is not None
        raise CallError(str(job.error), job.error.trying)

    def close(self) -> None:
        """Make no further call, cancel what can be cancelled, and wake everyone who waits. Twice is allowed."""
        if self._caller.stopped.is_set():
            return
        self._caller.stopped.set()
        with self._lock:
            self._urgent.clear()
            self._later.clear()
            self._work.notify_all()
            self._done.notify_all()
        close = getattr(self._predictor, "close", None)
        if callable(close):
            close()

    def _add_worker(self) -> None:
        queued_n = len(self._urgent) + len(self._later)
        if self._idle_n < queued_n and len(self._workers) < self._options.concurrency:
            worker = _Worker()
            self._workers.add(worker)
            self._idle_n += 1
            threading.Thread(target=self._serve, args=(worker,), name="sqlbench-call", daemon=True).start()

    def _serve(self, worker: _Worker) -> None:
        while self._take(worker):
            for job in worker.jobs:
                job.prediction = self._find(job)
            asked = [job for job in worker.jobs if job.prediction is None]
            error: CallError | None = None
            try:
                if asked:
                    predictions = self._caller.call([job.case for job in asked], asked[0].sample, worker.mark)
                    for job, prediction in zip(asked, predictions, strict=True):
                        job.prediction = prediction
                        # one that came too late was paid for too
                        self._keep(job)
            except CallError as caught:
                error = caught
            except KeyboardInterrupt:
                self._interrupt()
                return
            self._finish(worker, error)
            if worker.is_abandoned:
                return

    def _interrupt(self) -> None:
        with self._lock:
            self._is_interrupted = True
            self._done.notify_all()

    def _take(self, worker: _Worker) -> bool:
        """Wait for work; False: there will be none."""
        with self._lock:
            while not (self._urgent or self._later):
                if self._caller.stopped.is_set():
                    return False
                self._work.wait()
            if self._caller.stopped.is_set():
                return False
            worker.jobs = [self._next()]
            while len(worker.jobs) < self._batch and (self._urgent or self._later):
                job = self._next()
                if job.sample != worker.jobs[0].sample:
                    self._urgent.appendleft(job)
                    break
                worker.jobs.append(job)
            self._idle_n -= 1
            return True

    def _next(self) -> Job:
        return self._urgent.popleft() if self._urgent else self._later.popleft()

    def _finish(self, worker: _Worker, error: CallError | None) -> None:
        with self._lock:
            for job in worker.jobs:
                self._end(job, error)
            if not worker.is_abandoned:
                self._idle_n += 1
            self._done.notify_all()

    def _end(self, job: Job, error: CallError | None) -> None:
        if job.is_done:
            return
        job.is_done = True
        if job.prediction is not None:
            self._jobs.pop(job.key, None)
        else:
            # stays: a case that failed is asked again by another run only
            job.error = error
            self._caller.tally.failures += 1

    def _abandon_late(self) -> None:
        """Give up calls that run too long and do not end by themselves, and let other threads go on in their place."""
        limit_s = self._options.timeout_s
        for worker in [worker for worker in self._workers if worker.since_s is not None]:
            since_s = worker.since_s
            if since_s is None or time.monotonic() - since_s <= limit_s + GRACE_S:
                continue
            worker.is_abandoned = True
            self._workers.discard(worker)
            for job in worker.jobs:
                self._end(job, CallError(f"{self._predictor.name}: no answer within {limit_s:g} s", Trying.AGAIN))
            for _ in range(len(self._urgent) + len(self._later)):
                self._add_worker()
            self._done.notify_all()
