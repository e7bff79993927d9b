"""The guarded child process in which predictions run: started, asked, killed at the deadline and replaced."""

from __future__ import annotations

import atexit
import importlib.util
import io
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pytest_sqlbench.engines.allowance import Budget
from pytest_sqlbench.engines.guards.answers import PROTOCOL, Answer, fail
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status

try:
    from select import POLLIN, poll
except ImportError:  # Windows has no poll for pipes: a timer kills the process there
    poll = None  # type: ignore[assignment,misc]

SCRIPT = Path(__file__).parent / "guards" / "process.py"
GRACE_S = 0.25
"""The engine stops itself at the deadline; the process is killed this much later."""
START_S = 30.0
TRANSFER_S = 60.0

File = tuple[str, object, dict[str, int]]
"""A path; a stamp that says which state of the file is meant, so that no old page is served; the guard's options."""

_VALUES = {("decimal", "Decimal"), ("uuid", "UUID"), ("datetime", "date"), ("datetime", "time")} | {
    ("datetime", name) for name in ("datetime", "timedelta", "timezone")
}


class Sandbox:
    """One child process; killed with its query when that is late, and started again for the next.

    Args:
        engine: Which guard runs inside: ``sqlite``, ``duckdb`` or ``sparql``.
        memory_bytes: What the process may use.
    """

    def __init__(self, engine: str, memory_bytes: int) -> None:
        self._command = [sys.executable, "-I", "-S", str(SCRIPT), engine, str(memory_bytes), *_find_site(engine)]
        self._engine = engine
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._asked = 0
        self._opened: File | None = None
        """What the process reads now: it is told once, not with each query."""
        self._lock = threading.Lock()
        self._poller: Any = None
        self.kills = 0
        """How many times the process was killed or died."""

    def ask(self, file: File, query: str, budget: Budget) -> Answer:
        """Send one query and wait for its answer, at most the seconds of the budget and a little.

        Args:
            file: What to read; it is opened first if the last query was over another.
            query: Untrusted.
            budget: Seconds after which the process is killed, and the rows and bytes that the guard lets through.

        Returns:
            The guard's answer. A process that had to be killed, or died, is an answer too (timeout, crash).

        Raises:
            EngineError: The process cannot be started.
        """
        with self._lock:
            answer = self._ask(file, query, budget)
            if answer[0] in ("memory", "unopened"):
                # what earlier queries and files left in the process must not fail this one: it is tried in a fresh one
                is_used = self._asked > 1
                self._kill()
                if is_used:
                    answer = self._ask(file, query, budget)
            return answer

    def _ask(self, file: File, query: str, budget: Budget) -> Answer:
        process = self._living()
        self._asked += 1
        start = time.perf_counter()
        try:
            if self._opened != file:
                answer = self._exchange(process, file, START_S)
                if answer[0]:
                    return answer
                self._opened = file
                start = time.perf_counter()  # opening a file is not on the clock of the query
            return self._exchange(process, (query, budget), budget[0] + GRACE_S)
        except _UnheardError:
            if self._asked == 1:
                return self._bury_dead(start)
            self._kill()  # it died since its last answer
            return self._ask(file, query, budget)
        except TimeoutError:
            return self._bury("timeout", f"stopped after {budget[0]:g} s", start)
        except (OSError, EOFError):
            return self._bury_dead(start)
        except pickle.UnpicklingError as error:
            return self._bury("crash", f"the answer of the process cannot be read: {error}", start)
        except BaseException:
            self._kill()  # an interrupt between question and answer: the answer would meet the next question
            raise

    def _exchange(self, process: subprocess.Popen[bytes], question: tuple[object, ...], timeout_s: float) -> Answer:
        _send(process, question)
        return _read_pickle(self._receive(process, timeout_s))  # type: ignore[no-any-return]

    @property
    def pid(self) -> int:
        """The process's id; 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    def close(self) -> None:
        """End the process. Asking again starts another."""
        with self._lock:
            self._kill()

    def _living(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None and self._owner == os.getpid():
            return process
        return self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env=_environment(),
            )
        except OSError as error:
            raise EngineError(f"the sandbox of {self._engine} cannot be started: {error}") from error
        self._process, self._owner, self._asked, self._opened = process, os.getpid(), 0, None
        assert process.stdout is not None
        if poll is not None:
            self._poller = poll()
            self._poller.register(process.stdout.fileno(), POLLIN)
        try:
            ready = self._receive(process, START_S)
        except (OSError, EOFError) as error:
            code = process.poll()
            self._kill()
            raise EngineError(f"the sandbox of {self._engine} does not start (exit code {code})") from error
        assert ready == b"ready"
        return process

    def _receive(self, process: subprocess.Popen[bytes], timeout_s: float) -> bytes:
        assert process.stdout is not None
        out = process.stdout.fileno()
        timer: threading.Timer | None = None
        if poll is None:
            timer = threading.Timer(timeout_s, process.kill)
            timer.start()
        elif not self._poller.poll(timeout_s * 1000):
            raise TimeoutError
        try:
            return self._read_frame(out)
        except EOFError:
            if timer is not None and timer.finished.is_set():
                raise TimeoutError from None
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _read_frame(self, out: int) -> bytes:
        start = os.read(out, 65536)
        if len(start) < 4:
            raise EOFError
        size = int.from_bytes(start[:4], "little")
        if len(start) == size + 4:
            return start[4:]
        parts, n = [start[4:]], size - len(start) + 4
        while n:
            if poll is not None and not self._poller.poll(TRANSFER_S * 1000):
                raise TimeoutError
            part = os.read(out, min(n, 2**20))
            if not part:
                raise EOFError
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def _bury_dead(self, start: float) -> Answer:
        """Say how the process ended that is gone."""
        assert self._process is not None
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            code = 0
        if code == -_SIGXCPU:
            return self._bury("timeout", "the limit of CPU time was met", start)
        ending = f" (signal {-code})" if code < 0 else ""
        return self._bury("crash", f"the process that ran the query is gone{ending}", start)

    def _bury(self, status: str, message: str, start: float) -> Answer:
        self._kill()
        self.kills += 1
        return fail(status, message, (time.perf_counter() - start) * 1000)

    def _kill(self) -> None:
        process, self._process, self._opened = self._process, None, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


_SIGXCPU = 24


def _environment() -> dict[str, str]:
    """Return what the process needs of the environment: no secret is among it."""
    kept = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TZ", "LANG", "LC_ALL", "LC_CTYPE")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    # each thread of an engine would else reserve 64 MB of the address space that is limited
    return {**found, "MALLOC_ARENA_MAX": "1"}


def _find_site(engine: str) -> list[str]:
    """Return the folder of an engine that is not in the standard library: the process starts without site-packages."""
    spec = importlib.util.find_spec({"sqlite": "sqlite3", "sparql": "pyoxigraph"}.get(engine, engine))
    if spec is None or spec.origin is None:
        raise EngineError(f"the engine {engine} is not installed: pip install 'pytest-sqlbench[{engine}]'")
    return [] if engine == "sqlite" else [str(Path(spec.origin).parent.parent)]


class _Values(pickle.Unpickler):
    """Reads answers: values only, so that what comes out of the sandbox never runs in this process."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _VALUES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a result")


def _read_pickle(frame: bytes) -> Any:
    try:
        return _Values(io.BytesIO(frame)).load()
    except Exception as error:  # bytes that are no pickle fail in any way
        raise pickle.UnpicklingError(f"{type(error).__name__}: {error}") from error


class _UnheardError(Exception):
    """The process was gone before it was asked."""


def _send(process: subprocess.Popen[bytes], question: tuple[object, ...]) -> None:
    assert process.stdin is not None
    frame = pickle.dumps(question, PROTOCOL)
    view = memoryview(len(frame).to_bytes(4, "little") + frame)
    inlet = process.stdin.fileno()
    try:
        while view:
            view = view[os.write(inlet, view) :]
    except OSError as error:
        raise _UnheardError from error


def read_answer(answer: Answer, path: str = "") -> ResultSet | QueryFailure:
    """Turn a guard's answer into the words of the house; raise `EngineError` if it could not open the file."""
    status, message, columns, rows, chunks, elapsed_ms, tables, notes = answer
    if status:
        if status == "unopened":
            raise EngineError(f"{path}: {message}")
        return QueryFailure(Status(status), message, elapsed_ms)
    try:
        for chunk in chunks:
            rows.extend(_read_pickle(chunk))
    except pickle.UnpicklingError as error:
        return QueryFailure(Status.CRASH, f"the rows cannot be read: {error}", elapsed_ms)
    return ResultSet(columns, rows, elapsed_ms, None if tables is None else frozenset(tables), notes)


_SANDBOXES: dict[tuple[str, int, str], Sandbox] = {}
"""State of the module on purpose: one process serves every database of an engine, and outlives the single engine."""


def shared_sandbox(engine: str, memory_bytes: int, role: str = "") -> Sandbox:
    """Return this process's sandbox for an engine and a role; it is started at its first question, ended at exit."""
    key = (engine, memory_bytes, role)
    if key not in _SANDBOXES:
        if not _SANDBOXES:
            atexit.register(close_sandboxes)
        _SANDBOXES[key] = Sandbox(engine, memory_bytes)
    return _SANDBOXES[key]


def close_sandboxes() -> None:
    """End the sandboxes of this process; the next question starts them again."""
    for sandbox in _SANDBOXES.values():
        sandbox.close()
