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
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PROTOCOL = 5


def serve(engine: str, memory_bytes: int) -> None:
    """Answer requests until the input ends."""
    guard_module = import_module(f"{engine}_guard")
    _watch_parent()
    _limit_process(memory_bytes)
    guard_module.limit_process(memory_bytes)
    guards: OrderedDict[str, tuple[Any, Any, Any]] = OrderedDict()
    _write(b"ready")
    while (request := _read()) is not None:
        try:
            answer = _answer(guard_module, guards, *pickle.loads(request))
        except MemoryError:
            answer = pickle.dumps(("memory", "out of memory", (), [], [], 0.0, (), ()), PROTOCOL)
        _write(answer)


def _answer(
    guard_module: Any,
    guards: OrderedDict[str, tuple[Any, Any, Any]],
    path: str,
    stamp: object,
    options: dict[str, int],
    query: str | None,
    limits: tuple[float, int, int],
) -> bytes:
    """Run one query, or just open the file.

    The stamp says which state of the file the caller means, so that no old page is served.
    """
    known = guards.get(path)
    if known is not None and (known[0] != stamp or known[1] != options):
        guards.pop(path)[2].close()
        known = None
    if known is None:
        try:
            known = guards[path] = (stamp, options, guard_module.open_guard(path, options))
        except Exception as error:  # every engine has its own class; the caller turns it into its own error
            return pickle.dumps(("unopened", str(error), (), [], [], 0.0, (), ()), PROTOCOL)
        if len(guards) > guard_module.OPEN_GUARDS:
            guards.popitem(last=False)[1][2].close()
    guards.move_to_end(path)
    if query is None:
        return pickle.dumps(("", "", (), [], [], 0.0, (), ()), PROTOCOL)
    _limit_cpu(limits[0])
    answer = pickle.dumps(known[2].run(query, *limits), PROTOCOL)
    if len(answer) > limits[2] + 65536:
        return pickle.dumps(("bytes", f"more than {limits[2]:,} bytes", (), [], [], 0.0, (), ()), PROTOCOL)
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
    # with -I the folder of the script is not on the path; what a guard needs beyond is named by the parent
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
    sys.path.extend(sys.argv[3:])
    serve(sys.argv[1], int(sys.argv[2]))
