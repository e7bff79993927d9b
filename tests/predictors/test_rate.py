"""No 60 seconds hold more requests than allowed, and tokens are steered by what calls have used."""

from __future__ import annotations

import pytest

from pytest_sqlbench.predictors.rate import RateLimit


def _run(limit: RateLimit, calls: int, tokens: int, takes_s: float = 1.0) -> list[float]:
    """Play calls one after the other on a clock of our own; return when each started."""
    now_s, starts = 0.0, []
    for _ in range(calls):
        while (wait_s := limit.wait_s(now_s)) > 0:
            now_s += wait_s + 1e-6
        limit.start(now_s)
        starts.append(now_s)
        now_s += takes_s
        limit.end(now_s, tokens)
    return starts


@pytest.mark.parametrize("rpm", [1, 7, 30])
def test_any_minute_holds_at_most_the_allowed_requests(rpm: int) -> None:
    starts = _run(RateLimit(requests_per_minute=rpm), 3 * rpm + 1, 0)
    assert all(later - earlier >= 60 for earlier, later in zip(starts, starts[rpm:], strict=False))
    assert starts[-1] < 3 * 61 + rpm


def test_tokens_of_a_minute_stay_at_the_limit() -> None:
    starts = _run(RateLimit(tokens_per_minute=1000), 30, 100)
    assert all(later - earlier >= 60 for earlier, later in zip(starts, starts[10:], strict=False))


def test_the_first_call_goes_alone_until_its_size_is_known() -> None:
    limit = RateLimit(tokens_per_minute=1000)
    limit.start(0.0)
    assert limit.wait_s(0.0) > 0
    limit.end(1.0, 100)
    assert limit.wait_s(1.0) == 0


def test_one_call_above_the_limit_still_goes() -> None:
    assert len(_run(RateLimit(tokens_per_minute=10), 3, 100)) == 3


def test_without_limits_nothing_waits() -> None:
    assert _run(RateLimit(), 5, 100, takes_s=0.0) == [0.0] * 5
