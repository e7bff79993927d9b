"""The child process of predictions: its deadline, its end, and that it never outlives its parent."""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from pytest_sqlbench.engines.guards.answers import Answer
from pytest_sqlbench.engines.sandbox import Sandbox, _Values, read_answer
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
ONE_OPCODE = "SELECT instr(printf('%.*c', 9000000, 'a'), printf('%.*c', 4000000, 'a') || 'b')"
MEMORY = 2**28


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A database with one table of three numbers."""
    path = tmp_path / "n.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE n(i); INSERT INTO n VALUES (1), (2), (3);")
    connection.close()
    return str(path)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A sandbox of its own for each test."""
    sandbox = Sandbox("sqlite", MEMORY)
    yield sandbox
    sandbox.close()


def ask(sandbox: Sandbox, path: str, query: str, timeout_s: float = 5.0) -> ResultSet | QueryFailure:
    """Run one query with small limits."""
    options = {"is_immutable": 1, "cell_bytes": 2**26}
    return read_answer(sandbox.ask((path, 0, options), query, (timeout_s, 1000, 2**20)))


def status(result: ResultSet | QueryFailure) -> Status:
    """Return the status of a query that has to fail."""
    assert isinstance(result, QueryFailure), result
    return result.status


def test_one_process_answers_many_queries(sandbox: Sandbox, path: str) -> None:
    assert ask(sandbox, path, "SELECT count(*) FROM n") == _rows([(3,)])
    pid = sandbox.pid
    assert ask(sandbox, path, "SELECT max(i) FROM n") == _rows([(3,)])
    assert (sandbox.pid, sandbox.kills) == (pid, 0)


class _rows:  # noqa: N801 - reads as a value
    def __init__(self, rows: list[tuple[object, ...]]) -> None:
        self.rows = rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResultSet) and other.rows == self.rows

    __hash__ = None  # type: ignore[assignment]


def test_an_endless_query_stops_itself(sandbox: Sandbox, path: str) -> None:
    assert status(ask(sandbox, path, ENDLESS, 0.1)) is Status.TIMEOUT
    assert sandbox.kills == 0


def test_what_does_not_stop_itself_is_killed_and_replaced(sandbox: Sandbox, path: str) -> None:
    start = time.monotonic()
    assert status(ask(sandbox, path, ONE_OPCODE, 0.1)) is Status.TIMEOUT
    assert time.monotonic() - start < 2
    assert (sandbox.kills, sandbox.pid) == (1, 0)
    assert ask(sandbox, path, "SELECT 1") == _rows([(1,)])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_process_that_died_in_between_is_replaced(sandbox: Sandbox, path: str) -> None:
    ask(sandbox, path, "SELECT 1")
    os.kill(sandbox.pid, signal.SIGKILL)
    time.sleep(0.05)
    assert ask(sandbox, path, "SELECT count(*) FROM n") == _rows([(3,)])


def test_an_answer_that_cannot_be_read_is_a_crash_and_the_next_query_is_unharmed(
    sandbox: Sandbox, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(sandbox, path, "SELECT 1")
    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "_receive", lambda *_: pickle.dumps(os.system))
        assert status(ask(sandbox, path, "SELECT 2")) is Status.CRASH
    assert (sandbox.kills, sandbox.pid) == (1, 0)
    assert ask(sandbox, path, "SELECT max(i) FROM n") == _rows([(3,)])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited on Linux only")
def test_memory_is_limited(sandbox: Sandbox, path: str) -> None:
    wide = "WITH RECURSIVE c(x) AS (SELECT printf('%.*c', 9000000, 'x') UNION ALL SELECT x || '' FROM c)"
    result = ask(sandbox, path, wide + " SELECT x FROM c ORDER BY x")
    assert status(result) in (Status.MEMORY, Status.BYTES, Status.TIMEOUT)
    assert ask(sandbox, path, "SELECT 1") == _rows([(1,)])


def test_many_databases_are_open_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    for turn in range(2):
        for i in range(20):
            path = tmp_path / f"{i}.db"
            if not turn:
                connection = sqlite3.connect(path)
                connection.executescript(f"CREATE TABLE n(i); INSERT INTO n VALUES ({i})")
                connection.close()
            assert ask(sandbox, str(path), "SELECT i FROM n") == _rows([(i,)])
    assert sandbox.kills == 0


def test_a_missing_file_is_told(sandbox: Sandbox, tmp_path: Path) -> None:
    answer = sandbox.ask((str(tmp_path / "no.db"), 0, {"is_immutable": 1, "cell_bytes": 1000}), "", (1.0, 1, 1))
    assert answer[0] == "unopened"
    assert not (tmp_path / "no.db").exists()


PARENT = """
import sys, time
from pytest_sqlbench.engines.sandbox import Sandbox
sandbox = Sandbox("sqlite", 2**28)
file, budget = (sys.argv[1], 0, {"is_immutable": 1, "cell_bytes": 2**26}), (60.0, 1000, 2**20)
sandbox.ask(file, "SELECT 1", budget)
print(sandbox.pid, flush=True)
sandbox.ask(file, sys.argv[2], budget)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize("query", [ENDLESS, ONE_OPCODE], ids=["endless", "one_opcode"])
def test_no_orphan_is_left_when_the_parent_is_killed(path: str, query: str) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, path, query], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.1)
        parent.kill()
    for _ in range(100):
        if not _is_running(child):
            return
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the child outlived its parent")


FORKED = """
import os, sys
from pytest_sqlbench.engines.sandbox import Sandbox
sandbox = Sandbox("sqlite", 2**28)
file, budget = (sys.argv[1], 0, {"is_immutable": 1, "cell_bytes": 2**26}), (5.0, 1000, 2**20)
first, parent = sandbox.ask(file, "SELECT count(*) FROM n", budget), sandbox.pid
child = os.fork()
second = sandbox.ask(file, "SELECT count(*) FROM n", budget)
assert first[3] == second[3] == [(3,)], second
assert (sandbox.pid == parent) == bool(child)
sandbox.close()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_a_sandbox_of_its_own(path: str) -> None:
    done = subprocess.run([sys.executable, "-c", FORKED, path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def _is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_an_answer_holds_values_only() -> None:
    evil: Any = pickle.dumps(os.system)
    import io

    with pytest.raises(pickle.UnpicklingError, match="no value of a result"):
        _Values(io.BytesIO(evil)).load()


def test_the_guards_speak_in_known_statuses() -> None:
    from pytest_sqlbench.engines.guards import sqlite_guard

    words = {word for _, word in sqlite_guard._STATUSES}
    assert words <= {item.value for item in Status}
    assert len(get_args(Answer)) == 8
    assert Limits().memory_bytes > MEMORY


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_no_secret_of_the_environment_reaches_the_process(
    sandbox: Sandbox, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "s3cret")
    ask(sandbox, path, "SELECT 1")
    assert b"s3cret" not in Path(f"/proc/{sandbox.pid}/environ").read_bytes()
