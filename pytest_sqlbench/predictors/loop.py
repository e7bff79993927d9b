"""One event loop in a thread of its own, so that plain code can wait for coroutines and cancel them all at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from pytest_sqlbench.predictors.failures import CallError

T = TypeVar("T")


class EventLoop:
    """Runs coroutines for other threads. The thread starts with the first one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Wait for a coroutine from any thread.

        Raises:
            TimeoutError: It took longer than ``timeout_s``; it is cancelled.
            CallError: The loop was closed meanwhile.
            KeyboardInterrupt, SystemExit: The coroutine raised it; the loop goes on.
        """
        with self._lock:
            if self._is_closed:
                coroutine.close()
                raise CallError("cancelled")
            future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(_held(coroutine), timeout_s), self._running())
        try:
            result: T = future.result()
            return result
        except _Escaping as escaping:
            raise escaping.error from None
        except CancelledError:
            raise CallError("cancelled") from None
        except asyncio.TimeoutError:  # before Python 3.11 it is not the builtin
            raise TimeoutError(f"no answer within {timeout_s:g} s") from None

    def close(self, last: Coroutine[Any, Any, None] | None = None) -> None:
        """Cancel everything that runs, wait for ``last`` and stop. Closing twice is allowed."""
        with self._lock:
            loop, self._loop = self._loop, None
            self._is_closed = True
        if loop is None:
            if last is not None:
                last.close()
            return
        asyncio.run_coroutine_threadsafe(_wind_up(last), loop)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(self._loop,), name="sqlbench-loop", daemon=True).start()
        return self._loop


class _Escaping(Exception):  # noqa: N818 - what it is, not what went wrong
    """Carries to the caller what would end the loop's thread, and with it all other calls."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


async def _held(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return await coroutine
    except (KeyboardInterrupt, SystemExit) as error:
        raise _Escaping(error) from None


async def _wind_up(last: Coroutine[Any, Any, None] | None) -> None:
    try:
        await _cancel_all()
        if last is not None:
            await last
            await _cancel_all()
    finally:
        asyncio.get_running_loop().stop()


async def _cancel_all() -> None:
    for _ in range(10):  # a task that is cancelled may start others to tidy up
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if not others:
            return
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
