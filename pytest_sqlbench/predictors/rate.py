"""Limits on what a minute may hold. Told the time, never asks for it."""

from __future__ import annotations

from collections import deque

WINDOW_S = 60.0
POLL_S = 0.1


class RateLimit:
    """Allows at most so many requests, and about so many tokens, within any 60 seconds.

    Tokens are known only after a call, so a call that is under way counts as the mean of those that ended.
    """

    def __init__(self, requests_per_minute: int | None = None, tokens_per_minute: int | None = None) -> None:
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._starts: deque[float] = deque()
        self._spent: deque[tuple[float, int]] = deque()
        self._spent_sum = 0
        self._under_way = 0
        self._mean_tokens = 0.0
        self._ended_n = 0

    def wait_s(self, now_s: float) -> float:
        """Return how long the next call has to wait; 0: it may start now."""
        while self._starts and self._starts[0] <= now_s - WINDOW_S:
            self._starts.popleft()
        while self._spent and self._spent[0][0] <= now_s - WINDOW_S:
            self._spent_sum -= self._spent.popleft()[1]
        waits = [0.0]
        if self._requests is not None and len(self._starts) >= self._requests:
            waits.append(self._starts[0] + WINDOW_S - now_s)
        if self._tokens is not None:
            is_full = self._spent_sum + (self._under_way + 1) * self._mean_tokens > self._tokens
            if self._under_way and (is_full or self._ended_n == 0):
                # how much those under way use is seen when they end
                waits.append(POLL_S)
            elif is_full and self._spent:
                waits.append(self._spent[0][0] + WINDOW_S - now_s)
        return max(waits)

    def start(self, now_s: float) -> None:
        """Count a call that starts."""
        self._starts.append(now_s)
        self._under_way += 1

    def end(self, now_s: float, tokens: int) -> None:
        """Count what an ended call has used."""
        self._under_way -= 1
        self._ended_n += 1
        self._mean_tokens += (tokens - self._mean_tokens) / self._ended_n
        if tokens and self._tokens is not None:
            self._spent.append((now_s, tokens))
            self._spent_sum += tokens
