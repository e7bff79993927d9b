"""The client against a real server on loopback: answers, usage, and every way in which an endpoint can fail."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.case import Suite
from pytest_sqlbench.errors import ModelError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.answers import Answers
from pytest_sqlbench.predictors.calling import CallOptions
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.registry import make_predictor
from pytest_sqlbench.predictors.store import Store
from tests.predictors import endpoint as manners
from tests.predictors.cases import make_suite
from tests.predictors.endpoint import Endpoint, Manner, answering, first, refusing, serving

SUITE = make_suite(*(f"c{n}" for n in range(12)))
RIGHT = answering(lambda call: "SELECT 1")
QUICK = CallOptions(concurrency=4, retries=2, first_wait_s=0.01, failures_in_a_row=10**6)


@contextmanager
def asking(
    manner: Manner,
    options: ModelOptions | None = None,
    calls: CallOptions = QUICK,
    suite: Suite = SUITE,
    store: Store | None = None,
) -> Iterator[tuple[Endpoint, Answers]]:
    """Run an endpoint and answers that ask it."""
    with serving(manner) as endpoint:
        options = replace(options or ModelOptions(timeout_s=calls.timeout_s), base_url=endpoint.url)
        answers = Answers(make_predictor("openai:m", Path(), options), store or Store(None), calls)
        answers.bind_suite(suite)
        try:
            yield endpoint, answers
        finally:
            answers.close()


def test_a_chat_model_is_asked_with_the_prompt_and_its_parameters() -> None:
    options = ModelOptions(temperature=0.5, max_tokens=99, stop=(";",), extra_body={"seed": 3})
    with asking(RIGHT, options) as (endpoint, answers):
        found = answers.predict(SUITE.cases[0])
    body = endpoint.calls[0].body
    assert "What is c0?" in body.pop("messages")[0]["content"]
    assert body == {"model": "m", "temperature": 0.5, "max_tokens": 99, "stop": [";"], "seed": 3}
    assert (found.reply, found.usage, found.finish_reason) == ("SELECT 1", Usage(100, 20), "stop")
    assert found.latency_ms is not None


def test_null_in_the_extra_body_takes_a_field_away() -> None:
    options = ModelOptions(extra_body={"temperature": None, "max_tokens": None, "max_completion_tokens": 50})
    with asking(RIGHT, options) as (endpoint, answers):
        answers.predict(SUITE.cases[0])
    assert endpoint.calls[0].body.keys() == {"model", "messages", "max_completion_tokens"}


def test_a_base_model_goes_on_from_the_prompt_and_the_reply_is_whole() -> None:
    with asking(answering(lambda call: " count(*) FROM t"), ModelOptions(api="completion")) as (endpoint, answers):
        found = answers.predict(SUITE.cases[0])
    assert endpoint.calls[0].path == "/v1/completions"
    assert endpoint.calls[0].prompt.endswith("SELECT")
    assert found.reply == "SELECT count(*) FROM t"


def test_a_suite_says_how_its_model_is_asked_and_an_option_wins() -> None:
    suite = replace(SUITE, settings={"model": {"temperature": 0.7, "max_tokens": 5}})
    options = ModelOptions(max_tokens=6, given=frozenset({"max_tokens"}))
    with asking(RIGHT, options, suite=suite) as (endpoint, answers):
        answers.predict(suite.cases[0])
    assert (endpoint.calls[0].body["temperature"], endpoint.calls[0].body["max_tokens"]) == (0.7, 6)


def test_the_key_goes_to_the_endpoint_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "sk-very-secret-1")
    store = Store(tmp_path / "s.db")
    options = ModelOptions(key_variable="TEAM_KEY", extra_body={"user": "sk-very-secret-1"})
    manner = first(1, refusing(500, "bad key sk-very-secret-1"), RIGHT)
    with asking(manner, options, store=store) as (endpoint, answers):
        answers.predict(SUITE.cases[0])
        endpoint.manner = refusing(401, "bad key sk-very-secret-1")
        with pytest.raises(ModelError, match=r"HTTP 401 from .*: bad key <TEAM_KEY>"):
            answers.predict(SUITE.cases[1])
    store.close()
    assert endpoint.calls[0].headers["authorization"] == "bearer sk-very-secret-1"
    assert b"very-secret" not in (tmp_path / "s.db").read_bytes()


def test_no_key_for_the_public_endpoint_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    predictor: Any = make_predictor("openai:m", Path())
    predictor.bind_suite(SUITE)
    with pytest.raises(ModelError, match="no key: the environment variable OPENAI_API_KEY is not set"):
        predictor.predict(SUITE.cases[0])
    predictor.close()


@pytest.mark.parametrize(
    "url, message",
    [
        ("localhost:8080", "base URL 'localhost:8080' is none"),
        ("http://me:pass@", "base URL 'http:.*' is none"),
        ("http://h:99999/v1", "is none. Write it as"),
    ],
)
def test_a_base_url_that_is_none_is_told_at_once(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_predictor("openai:m", Path(), ModelOptions(base_url=url))


PASSING: dict[str, Manner] = {
    "429": refusing(429, "slow down"),
    "429_retry_after": refusing(429, "slow down", {"Retry-After": "0.05"}),
    "429_retry_after_date": refusing(429, "slow down", {"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}),
    "429_retry_after_nonsense": refusing(429, "slow down", {"Retry-After": "soon"}),
    "500": refusing(500, "oops"),
    "503": refusing(503, "overloaded"),
    "reset": manners.reset,
    "half_reply": manners.half,
    "bad_json": manners.bad_json,
    "error_inside_200": manners.no_choices,
    "silence": manners.silent,
    "dripping": manners.dripping,
}


def _timeout_of(name: str) -> float:
    """Return a time limit that only a silent endpoint meets, however busy this machine is."""
    return 2.5 if name in ("silence", "dripping") else 20.0


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass_is_tried_again_until_it_is_answered(name: str) -> None:
    calls = CallOptions(concurrency=12, retries=2, first_wait_s=0.01, timeout_s=_timeout_of(name))
    with asking(first(1, PASSING[name], RIGHT), calls=calls) as (endpoint, answers):
        answers.read_ahead([(case, 0) for case in SUITE.cases])
        found = [answers.predict(case).reply for case in SUITE.cases]
    assert found == ["SELECT 1"] * 12
    assert (len(endpoint.calls), answers.tally.retries) == (24, 12)


@pytest.mark.parametrize("name", PASSING)
def test_what_does_not_pass_is_an_error_after_the_configured_retries(name: str) -> None:
    calls = replace(QUICK, concurrency=12, retries=1, timeout_s=_timeout_of(name))
    with asking(PASSING[name], calls=calls) as (endpoint, answers):
        answers.read_ahead([(case, 0) for case in SUITE.cases])
        for case in SUITE.cases:
            with pytest.raises(ModelError, match=r"\(asked 2 times\)"):
                answers.predict(case)
    assert len(endpoint.calls) == 24


@pytest.mark.parametrize(
    "manner, calls, message",
    [
        (refusing(401, "wrong key"), 1, "^HTTP 401 from http://127.0.0.1:[0-9]+/v1: wrong key$"),
        (refusing(404, "no model m"), 1, "HTTP 404 .*: no model m"),
        (refusing(400, "too long"), 1, "HTTP 400 .*: too long"),
        (refusing(429, "pay first", code="insufficient_quota"), 1, "HTTP 429 .*: pay first"),
        (refusing(429, "tomorrow", {"Retry-After": "86400"}), 1, r"tomorrow \(it asks to wait 86400 s\)"),
        (refusing(302, "elsewhere", {"Location": "http://127.0.0.1:9/"}), 1, "HTTP 302"),
    ],
)
def test_what_cannot_pass_is_not_tried_again(manner: Manner, calls: int, message: str) -> None:
    with asking(manner) as (endpoint, answers), pytest.raises(ModelError, match=message):
        answers.predict(SUITE.cases[0])
    assert len(endpoint.calls) == calls


def test_a_server_that_is_not_there_is_named() -> None:
    with serving(RIGHT) as endpoint:
        url = endpoint.url
    answers = Answers(make_predictor("openai:m", Path(), ModelOptions(base_url=url)), Store(None), QUICK)
    answers.bind_suite(SUITE)
    with pytest.raises(ModelError, match=rf"{url}: .*\(asked 3 times\)"):
        answers.predict(SUITE.cases[0])
    answers.close()


def test_a_wrong_key_ends_all_calls_after_a_few() -> None:
    calls = CallOptions(concurrency=4, failures_in_a_row=3)
    with asking(refusing(401, "wrong key"), calls=calls) as (endpoint, answers):
        answers.read_ahead([(case, 0) for case in SUITE.cases])
        for case in SUITE.cases:
            with pytest.raises(ModelError, match="wrong key"):
                answers.predict(case)
    assert len(endpoint.calls) <= 3 + 3


@pytest.mark.parametrize("manner", [manners.silent, manners.dripping, refusing(429, "x", {"Retry-After": "30"})])
def test_closing_ends_calls_in_every_state_within_a_second(manner: Manner) -> None:
    with asking(manner) as (endpoint, answers):
        threading.Timer(0.3, answers.close).start()
        answers.read_ahead([(case, 0) for case in SUITE.cases])
        begun = time.monotonic()
        with pytest.raises(ModelError):
            answers.predict(SUITE.cases[0])
        assert time.monotonic() - begun < 1.3
        seen = len(endpoint.calls)
    assert len(endpoint.calls) == seen


@pytest.mark.parametrize(
    "choice, expected",
    [
        ({"message": {"content": "x"}, "finish_reason": "length"}, Prediction("x", finish_reason="length")),
        ({"message": {"content": None}, "finish_reason": "stop"}, Prediction("", finish_reason="stop")),
        ({"message": {"content": None, "refusal": "I cannot"}}, Prediction("I cannot")),
        ({"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}, Prediction("ab")),
        ({"message": {"content": 7}}, Prediction("")),
        ({}, Prediction("")),
    ],
)
def test_a_reply_of_any_shape_is_an_answer(choice: dict[str, Any], expected: Prediction) -> None:
    async def manner(call: manners.Call, writer: manners.Writer) -> None:
        await manners.send(writer, 200, json.dumps({"choices": [choice]}).encode())

    with asking(manner) as (_, answers):
        found = answers.predict(SUITE.cases[0])
    assert (found.reply, found.finish_reason) == (expected.reply, expected.finish_reason)
    assert found.usage is None


@pytest.mark.parametrize("reply", ["x" * 5_000_000, "SELECT '\0'", "SELECT '\U0001f600é'"], ids=["5MB", "nul", "signs"])
def test_a_reply_comes_whole_and_is_kept_whole(reply: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    with asking(answering(lambda call: reply), store=store) as (_, answers):
        assert answers.predict(SUITE.cases[0]).reply == reply
        store.close()
        again = Store(tmp_path / "s.db")
        assert [entry.prediction.reply for entry in again.entries()] == [reply]
        again.close()


def test_prices_make_costs_and_what_the_endpoint_says_comes_first(tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text('{"m": {"prompt": 10, "completion": 50}}')
    with asking(RIGHT, ModelOptions(prices=tmp_path / "prices.json")) as (_, answers):
        assert answers.predict(SUITE.cases[0]).usage == Usage(100, 20, 0.002)

    async def manner(call: manners.Call, writer: manners.Writer) -> None:
        body = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1, "cost": 0.5}}
        await manners.send(writer, 200, json.dumps(body).encode())

    with asking(manner, ModelOptions(prices=tmp_path / "prices.json")) as (_, answers):
        assert answers.predict(SUITE.cases[0]).usage == Usage(1, None, 0.5)


def test_calls_run_side_by_side_up_to_the_limit() -> None:
    slow = answering(lambda call: "SELECT 1", delay_s=0.4)
    with asking(slow, calls=CallOptions(concurrency=4)) as (endpoint, answers):
        answers.read_ahead([(case, 0) for case in SUITE.cases])
        for case in SUITE.cases:
            answers.predict(case)
    assert 2 <= endpoint.most_under_way <= 4
    assert len(endpoint.calls) == 12
