"""Spares Python's garbage collector the cases of a large suite: they live to the end, and it would look at all of them.

Only where a session holds nothing but our cases: what a test of the user's own leaves behind is collected as ever.
"""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

WORTH_IT = 1_000
"""Cases from which on it is worth it."""


class Freezer:
    """Freezes what collection made, and what the run made before the summary is counted; lets go at the end."""

    def __init__(self) -> None:
        self._is_frozen = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Freeze items and cases, if there are enough of them and nothing else."""
        from pytest_sqlbench.collection import SqlbenchItem

        if len(session.items) >= WORTH_IT and all(isinstance(item, SqlbenchItem) for item in session.items):
            self._is_frozen = True
            gc.freeze()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Freeze verdicts and reports as well, before the gates go through them."""
        result = yield
        if self._is_frozen:
            gc.freeze()
        return result

    def pytest_unconfigure(self) -> None:
        """Give everything back to the collector: a process may run another session."""
        if self._is_frozen:
            self._is_frozen = False
            gc.unfreeze()
