"""The pool asks in the right order, retries what may pass, keeps its limits and ends at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from pytest_sqlbench.case import Case
from pytest_sqlbench.errors import ModelError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.answers import Answers, Reading
from pytest_sqlbench.predictors.calling import CallOptions
from pytest_sqlbench.predictors.failures import CallError, Trying
from pytest_sqlbench.predictors.fingerprint import Fingerprint
from pytest_sqlbench.predictors.store import Store
from tests.predictors.cases import make_suite

CASES = make_suite(*(f"c{n}" for n in range(40))).cases
QUICK = CallOptions(concurrency=4, retries=2, first_wait_s=0.001, timeout_s=5.0)


class Model:
    """A model whose answers a test writes; it counts the calls."""

    name = "fake"

    def __init__(self, answer: Callable[[Case, int], str | Prediction]) -> None:
        self.calls: list[str] = []
        self._answer = answer
        self._lock = threading.Lock()

    def predict(self, case: Case) -> Prediction:
        with self._lock:
            self.calls.append(case.id)
            n = self.calls.count(case.id)
        found = self._answer(case, n)
        return found if isinstance(found, Prediction) else Prediction(found)

    def fingerprint(self, case: Case) -> Fingerprint:
        return Fingerprint(prompt_hash=case.question)


Opened = Callable[..., Answers]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open answers of a model over a store in memory, and close them after the test."""
    all_answers: list[Answers] = []

    def open_answers(model: Model, options: CallOptions = QUICK, reading: Reading = Reading.CACHE) -> Answers:
        all_answers.append(Answers(model, Store(None), options, reading))
        return all_answers[-1]

    yield open_answers
    for answers in all_answers:
        answers.close()


def _fail_first(n: int, trying: Trying = Trying.AGAIN) -> Callable[[Case, int], str]:
    def answer(case: Case, call: int) -> str:
        if call <= n:
            raise CallError("HTTP 500: busy", trying)
        return "SELECT 1"

    return answer


def test_a_failure_that_may_pass_is_tried_again(opened: Opened) -> None:
    model = Model(_fail_first(2))
    assert opened(model).predict(CASES[0]).attempts == 3
    assert model.calls == ["c0"] * 3


@pytest.mark.parametrize(
    "trying, calls, message",
    [
        (Trying.AGAIN, 3, r"HTTP 500: busy \(asked 3 times\)"),
        (Trying.NEVER, 1, "HTTP 500: busy$"),
        (Trying.HOPELESS, 1, "HTTP 500: busy$"),
    ],
)
def test_a_case_without_an_answer_is_a_model_error(opened: Opened, trying: Trying, calls: int, message: str) -> None:
    model = Model(_fail_first(99, trying))
    answers = opened(model)
    for _ in range(2):
        with pytest.raises(ModelError, match=message):
            answers.predict(CASES[0])
    assert (len(model.calls), answers.tally.failures) == (calls, 1)


def test_read_ahead_is_asked_once_and_found_later(opened: Opened) -> None:
    model = Model(lambda case, n: f"SELECT '{case.id}'")
    answers = opened(model)
    answers.read_ahead([(case, 0) for case in CASES])
    assert [answers.predict(case).reply for case in CASES] == [f"SELECT '{case.id}'" for case in CASES]
    assert sorted(model.calls) == sorted(case.id for case in CASES)
    assert (answers.tally.answers, answers.from_store) == (40, 0)


def test_what_is_waited_for_goes_before_what_is_read_ahead(opened: Opened) -> None:
    gate = threading.Event()

    def answer(case: Case, n: int) -> str:
        gate.wait(10)
        return "SELECT 1"

    model = Model(answer)
    answers = opened(model, CallOptions(concurrency=1))
    answers.read_ahead([(case, 0) for case in CASES[:20]])
    threading.Timer(0.05, gate.set).start()
    answers.predict(CASES[15])
    assert "c15" in model.calls[:2]


def test_hopeless_failures_in_a_row_end_all_calls_with_the_endpoints_words(opened: Opened) -> None:
    def answer(case: Case, n: int) -> str:
        raise CallError("HTTP 401: wrong key", Trying.HOPELESS)

    model = Model(answer)
    answers = opened(model, CallOptions(concurrency=2, failures_in_a_row=3))
    messages = []
    for case in CASES[:6]:
        with pytest.raises(ModelError) as caught:
            answers.predict(case)
        messages.append(str(caught.value))
    assert messages[:3] == ["HTTP 401: wrong key"] * 3
    assert set(messages[3:]) == {"not asked: 3 cases in a row had no answer, the last for: HTTP 401: wrong key"}
    assert len(model.calls) == 3


def test_an_answer_between_failures_starts_the_row_anew(opened: Opened) -> None:
    def answer(case: Case, n: int) -> str:
        if int(case.id[1:]) % 3 == 2:
            return "SELECT 1"
        raise CallError("HTTP 503", Trying.AGAIN)

    model = Model(answer)
    answers = opened(model, CallOptions(concurrency=1, failures_in_a_row=3, retries=0))
    outcomes = set()
    for case in CASES[:12]:
        try:
            outcomes.add(answers.predict(case).reply)
        except ModelError as error:
            outcomes.add(str(error))
    assert (outcomes, len(model.calls)) == ({"SELECT 1", "HTTP 503"}, 12)


def test_retry_after_is_kept_and_a_long_one_is_a_failure(opened: Opened) -> None:
    def answer(case: Case, n: int) -> str:
        if n == 1:
            raise CallError("HTTP 429", Trying.AGAIN, retry_after_s=0.3 if case.id == "c0" else 3600.0)
        return "SELECT 1"

    answers = opened(Model(answer))
    begun = time.monotonic()
    assert answers.predict(CASES[0]).attempts == 2
    assert time.monotonic() - begun >= 0.3
    with pytest.raises(ModelError, match=r"HTTP 429 \(it asks to wait 3600 s\)"):
        answers.predict(CASES[1])


def test_a_call_that_cannot_be_stopped_is_given_up_and_does_not_block_the_others(opened: Opened) -> None:
    never = threading.Event()

    def answer(case: Case, n: int) -> str:
        if case.id == "c0":
            never.wait(30)
        return "SELECT 1"

    answers = opened(Model(answer), CallOptions(concurrency=1, timeout_s=0.1))
    answers.read_ahead([(CASES[0], 0)])
    assert answers.predict(CASES[1]).reply == "SELECT 1"
    with pytest.raises(ModelError, match=r"fake: no answer within 0\.1 s"):
        answers.predict(CASES[0])
    never.set()


def test_closing_wakes_who_waits_within_a_second(opened: Opened) -> None:
    never = threading.Event()
    answers = opened(Model(lambda case, n: str(never.wait(30))))
    threading.Timer(0.1, answers.close).start()
    begun = time.monotonic()
    with pytest.raises(ModelError, match="the run was stopped"):
        answers.predict(CASES[0])
    assert time.monotonic() - begun < 1.0
    never.set()


def test_a_keyboard_interrupt_of_the_model_reaches_who_waits(opened: Opened) -> None:
    def answer(case: Case, n: int) -> str:
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        opened(Model(answer), CallOptions(concurrency=1)).predict(CASES[0])
    assert time.monotonic() - begun < 5.0


@pytest.mark.parametrize("raised", [SystemExit(3), pytest.skip.Exception("not today"), GeneratorExit("gone")])
def test_what_is_no_exception_is_a_model_error_too(opened: Opened, raised: BaseException) -> None:
    def answer(case: Case, n: int) -> str:
        raise raised

    with pytest.raises(ModelError, match=f"{type(raised).__name__}: "):
        opened(Model(answer)).predict(CASES[0])


def test_a_cost_cap_is_not_passed(opened: Opened) -> None:
    model = Model(lambda case, n: Prediction("SELECT 1", Usage(10, 5, 0.1)))
    answers = opened(model, CallOptions(concurrency=8, max_cost_usd=1.05))
    answers.read_ahead([(case, 0) for case in CASES])
    outcomes = []
    for case in CASES:
        try:
            outcomes.append(answers.predict(case).reply)
        except ModelError as error:
            outcomes.append(str(error))
    assert outcomes.count("SELECT 1") == len(model.calls) == 10
    assert "not asked: the cap of $1.05 on a run's cost is reached ($1.0000 after 10 calls)" in outcomes


def test_a_cost_cap_without_a_price_stops_after_one_call(opened: Opened) -> None:
    model = Model(lambda case, n: "SELECT 1")
    answers = opened(model, CallOptions(concurrency=8, max_cost_usd=1.0))
    answers.predict(CASES[0])
    with pytest.raises(ModelError, match="what 'fake' costs is unknown"):
        answers.predict(CASES[1])
    assert len(model.calls) == 1


def test_usage_is_summed_and_what_is_unknown_is_counted(opened: Opened) -> None:
    answers = opened(Model(lambda case, n: Prediction("x", Usage(10, 5, 0.1)) if case.id == "c0" else "x"))
    for case in CASES[:3]:
        answers.predict(case)
    tally = answers.tally
    assert (tally.prompt_tokens, tally.completion_tokens, tally.untold) == (10, 5, 2)
    assert (tally.cost_usd, tally.unpriced) == (0.1, 2)


def test_offline_a_miss_names_the_case(opened: Opened) -> None:
    model = Model(lambda case, n: "SELECT 1")
    with pytest.raises(ModelError, match=r"no stored answer of fake to shop/c0 .* calls are switched off"):
        opened(model, reading=Reading.OFFLINE).predict(CASES[0])
    assert model.calls == []


def test_refresh_asks_each_case_once_more() -> None:
    store, model = Store(None), Model(lambda case, n: f"SELECT {n}")
    replies = []
    for reading in (Reading.CACHE, Reading.CACHE, Reading.REFRESH):
        answers = Answers(model, store, QUICK, reading)
        replies.append([answers.predict(CASES[0]).reply for _ in range(2)])
        answers.close()
    assert replies == [["SELECT 1"] * 2, ["SELECT 1"] * 2, ["SELECT 2"] * 2]


def test_half_a_surrogate_pair_becomes_text(opened: Opened) -> None:
    assert opened(Model(lambda case, n: "SELECT '\ud800'")).predict(CASES[0]).reply == "SELECT '?'"


def test_errors_never_show_a_secret(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-12345678")

    def answer(case: Case, n: int) -> str:
        raise ValueError("https://me:pass@host/v1 said: bad sk-12345678\nBearer abc.def")

    with pytest.raises(ModelError) as caught:
        opened(Model(answer)).predict(CASES[0])
    assert str(caught.value) == "ValueError: https://host/v1 said: bad <MY_API_KEY> Bearer <key>"


def test_batches_are_asked_together(opened: Opened) -> None:
    sizes: list[int] = []
    all_are_queued = threading.Event()

    class Batching(Model):
        batch_size = 8

        def predict_batch(self, cases: list[Case]) -> list[Prediction]:
            sizes.append(len(cases))
            return [self.predict(case) for case in cases]

    def answer(case: Case, n: int) -> str:
        all_are_queued.wait(30)
        return case.id

    answers = opened(Batching(answer), CallOptions(concurrency=1))
    answers.read_ahead([(case, 0) for case in CASES])
    all_are_queued.set()
    assert [answers.predict(case).reply for case in CASES] == [case.id for case in CASES]
    assert max(sizes) == 8
    assert len(sizes) <= 7
