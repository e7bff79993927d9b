"""Answers of one model: out of the store where it has them, else from a pool of calls that also reads ahead."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from enum import Enum
from typing import Any, cast

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.prediction import Prediction, Predictor
from pytest_sqlbench.predictors.calling import CallOptions, Tally
from pytest_sqlbench.predictors.failures import CallError, failure_of
from pytest_sqlbench.predictors.fingerprint import Fingerprint
from pytest_sqlbench.predictors.pool import Job, Pool
from pytest_sqlbench.predictors.registry import bind_suite
from pytest_sqlbench.predictors.store import Entry, Store

KEY_VERSION = 1
"""Raised when the same call would be asked in another way, so that old answers are not taken for new ones."""


class Reading(Enum):
    """What the store is for in this run."""

    CACHE = "cache"
    REFRESH = "refresh"
    """Every case is asked again, once."""
    OFFLINE = "offline"
    """No call is made: what is not there is a model error."""


class Answers:
    """A predictor whose answers are kept. Safe to use from several threads."""

    def __init__(
        self,
        predictor: Predictor,
        store: Store,
        options: CallOptions,
        reading: Reading = Reading.CACHE,
        extract: Callable[[str, Case], str | None] = lambda reply, case: None,
    ) -> None:
        """Join a predictor and a store.

        Args:
            predictor: Asked for what the store does not have.
            store: Not closed here.
            options: How hard the predictor is asked.
            reading: What the store is for.
            extract: Picks the statement out of a reply, for readers of the store.
        """
        self.name = predictor.name
        self.from_store = 0
        """Answers that cost no call."""
        self._predictor = predictor
        self.fingerprint = getattr(predictor, "fingerprint", None)
        """What decides an answer to a case, as the predictor tells; None if it does not."""
        # an answer of which nobody knows what decided it is not served to another run
        self._store = store if self.fingerprint is not None else Store(None)
        self._reading = reading
        self._extract = extract
        self._fresh: set[str] = set()
        self._prints: dict[str, Fingerprint] = {}
        self._pool = Pool(predictor, options, self._found, self._keep)

    @property
    def tally(self) -> Tally:
        """What the calls of this run came to."""
        return self._pool.tally

    @property
    def in_flight(self) -> int:
        """How many cases are being asked right now."""
        return self._pool.in_flight

    def bind_suite(self, suite: Suite) -> None:
        """Show a suite to the predictor."""
        bind_suite(self._predictor, suite)

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Answer a case, from the store or by a call that goes before all that are only read ahead.

        Raises:
            CallError: There is no answer.
        """
        key, found = self._key(case, sample)
        kept = self._find(key, case, sample)
        if kept is not None:
            self.from_store += key not in self._fresh
            return kept
        if self._reading is Reading.OFFLINE:
            which = f"{case.suite}/{case.id}" + (f", sample {sample}" if sample else "")
            raise CallError(f"no stored answer of {self.name} to {which} with this prompt, and calls are switched off")
        self._prints[key] = found
        return self._pool.wait(self._pool.submit(key, case, sample, is_urgent=True))

    def read_ahead(self, cases: Sequence[tuple[Case, int]]) -> None:
        """Start calls for cases (and samples) that will be asked for, in this order, and return at once."""
        if self._reading is Reading.OFFLINE:
            return
        for case, sample in cases:
            try:
                key, found = self._key(case, sample)
            except CallError:
                continue  # told where the case is asked for
            if self._find(key, case, sample) is None:
                self._prints[key] = found
                self._pool.submit(key, case, sample)

    @property
    def is_remote(self) -> bool:
        """True if a client asks the model, which then has nothing to print in this process."""
        return callable(getattr(self._predictor, "warm_up", None))

    def warm_up(self, case: Case) -> None:
        """Do what a first call would have to do, unless the store has the answer to this case already."""
        warm_up = getattr(self._predictor, "warm_up", None)
        if callable(warm_up) and self._reading is not Reading.OFFLINE:
            key, _ = self._key(case, 0)
            if self._find(key, case, 0) is None:
                warm_up()

    def close(self) -> None:
        """Stop all calls. The store is not closed."""
        self._pool.close()

    def _find(self, key: str, case: Case, sample: int) -> Prediction | None:
        if self._reading is Reading.REFRESH and key not in self._fresh:
            return None
        return self._store.get(key, case.suite, case.id, sample)

    def _found(self, job: Job) -> Prediction | None:
        return self._find(job.key, job.case, job.sample)

    def _key(self, case: Case, sample: int) -> tuple[str, Fingerprint]:
        if self.fingerprint is None:
            return f"{case.suite}/{case.id}/{sample}", Fingerprint()
        try:
            found = cast(Fingerprint, self.fingerprint(case))
        except Exception as error:  # writing a prompt opens databases and runs templates
            raise failure_of(error) from error
        parts: list[Any] = [KEY_VERSION, self.name, found.parameters, found.prompt_hash, sample]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest(), found

    def _keep(self, job: Job) -> None:
        assert job.prediction is not None
        found = self._prints.pop(job.key, Fingerprint())
        reply = job.prediction.reply
        self._store.put(
            Entry(
                suite=job.case.suite,
                case=job.case.id,
                sample=job.sample,
                key=job.key,
                model=self.name,
                prediction=job.prediction,
                attempts=job.prediction.attempts,
                parameters=found.parameters,
                prompt_hash=found.prompt_hash,
                sql=None if reply is None else self._extract(reply, job.case),
                created_at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            )
        )
        self._fresh.add(job.key)
