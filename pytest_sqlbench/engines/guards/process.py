"""The sandbox's process: reads requests from its input, runs them in a guard, writes answers to its output.

Started as a script (``python -I -S process.py ENGINE MEMORY_BYTES``), so that it is up in some 20 ms. It ends when its
input ends, also in the middle of a query, and so never outlives the process that started it.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections import OrderedDict
from importlib import import_module
from types import ModuleType
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PACKAGE = "guards"
"""Under this name the folder of this script is a package here, so that guards find what they share."""


def serve(engine: str, memory_bytes: int) -> None:
    """Answer until the input ends: a file and its options are opened, a query and its budget are run on that file."""
    answers, guard_module = import_module(f"{PACKAGE}.answers"), import_module(f"{PACKAGE}.{engine}_guard")
    _watch_parent()
    _limit_process(memory_bytes)
    guard_module.limit_process(memory_bytes)
    files = _Files(guard_module, answers)
    _write(b"ready")
    while (question := _read()) is not None:
        try:
            said = pickle.loads(question)
            answer = files.run(*said) if len(said) == 2 else pickle.dumps(files.open(*said), answers.PROTOCOL)
        except MemoryError:
            answer = pickle.dumps(answers.fail("memory", "out of memory"), answers.PROTOCOL)
        _write(answer)


class _Files:
    """Files that are open, each in its guard; the least recently used is closed."""

    def __init__(self, guard_module: Any, answers: Any) -> None:
        self._guard_module, self._answers = guard_module, answers
        self._guards: OrderedDict[str, tuple[object, dict[str, int], Any]] = OrderedDict()
        self._guard: Any = None

    def open(self, path: str, stamp: object, options: dict[str, int]) -> Any:
        """Make this the file of the queries that follow; another stamp means that the file has changed."""
        self._guard = None
        known = self._guards.get(path)
        if known is not None and known[:2] != (stamp, options):
            self._guards.pop(path)[2].close()
            known = None
        if known is None:
            try:
                known = self._guards[path] = (stamp, options, self._guard_module.open_guard(path, options))
            except Exception as error:  # every engine has its own class; the caller turns it into its own error
                return self._answers.fail("unopened", str(error))
            if len(self._guards) > self._guard_module.OPEN_GUARDS:
                self._guards.popitem(last=False)[1][2].close()
        self._guards.move_to_end(path)
        self._guard = known[2]
        return self._answers.fail("", "")

    def run(self, query: str, budget: tuple[float, int, int]) -> bytes:
        """Run one query and return its answer, pickled."""
        timeout_s, max_rows, max_bytes = budget
        _limit_cpu(timeout_s)
        answer = pickle.dumps(self._guard.run(query, timeout_s, max_rows, max_bytes), self._answers.PROTOCOL)
        if len(answer) > max_bytes + 65536:
            return pickle.dumps(self._answers.fail("bytes", f"more than {max_bytes:,} bytes"), self._answers.PROTOCOL)
        return answer


def _limit_process(memory_bytes: int) -> None:
    """No files, no core dumps, and this much memory above what the process has now."""
    if resource is None:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    stack = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if stack == resource.RLIM_INFINITY:  # deep nesting ends as an error, not as a crash
        resource.setrlimit(resource.RLIMIT_STACK, (64 * 2**20, stack))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        used = 0  # no Linux: the limit is not kept there either
    most = used + memory_bytes
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        except (OSError, ValueError):
            return  # macOS refuses it: the kill at the deadline remains


_limited = [0.0, 0.0]
"""When the CPU limit was last set, and for which deadline."""
_EVERY_S = 5.0


def _limit_cpu(timeout_s: float) -> None:
    """A backstop for the case that nobody is left to kill this process; renewed every few seconds."""
    now = time.monotonic()
    if resource is None or (now - _limited[0] < _EVERY_S and timeout_s == _limited[1]):
        return
    _limited[:] = [now, timeout_s]
    usage = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(usage.ru_utime + usage.ru_stime + timeout_s + _EVERY_S) + 3
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _watch_parent() -> None:
    """End this process when the parent is gone, even while the engine is busy: it runs without the interpreter lock."""
    try:
        from select import poll
    except ImportError:  # Windows
        return
    poller = poll()
    poller.register(0, 0)

    def wait() -> None:
        poller.poll()  # nothing but a hang-up ends this
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _read() -> bytes | None:
    """Return the next request; there is never more than one under way, so a read takes no part of another."""
    start = os.read(0, 65536)
    if len(start) < 4:
        return None
    n = int.from_bytes(start[:4], "little") + 4 - len(start)
    parts = [start[4:]]
    while n:
        part = os.read(0, n)
        if not part:
            return None
        parts.append(part)
        n -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write(frame: bytes) -> None:
    view = memoryview(len(frame).to_bytes(4, "little") + frame)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    package = ModuleType(PACKAGE)  # with -I the folder of the script is not on the path, and shall not be
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules[PACKAGE] = package
    sys.path.extend(sys.argv[3:])  # what a guard needs beyond is named by the parent
    serve(sys.argv[1], int(sys.argv[2]))
