"""The store keeps answers through kills, two processes, a full disk and a read-only folder."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.store import Entry, Store


def _entry(key: str, reply: str | None = "SELECT 1", suite: str = "shop", case: str = "a") -> Entry:
    return Entry(suite, case, 0, key, "openai:m", Prediction(reply), created_at="2026-01-01T00:00:00Z")


def read_entries(path: Path) -> list[Entry]:
    """Return every answer of a store that nobody has open."""
    store = Store(path)
    entries = list(store.entries())
    store.close()
    return entries


def test_an_answer_can_be_read_at_once_and_after_reopening(tmp_path: Path) -> None:
    prediction = Prediction("SELECT '\0ä'", Usage(7, None, 0.25), 12.5, 3, "stop", {"sel": 1})
    store = Store(tmp_path / "s.db")
    store.put(Entry("shop", "a", 0, "k", "m", prediction, attempts=3))
    assert store.get("k", "shop", "a", 0) == prediction
    store.close()
    store.close()
    again = Store(tmp_path / "s.db")
    kept = again.get("k", "shop", "a", 0)
    again.close()
    assert kept == Prediction("SELECT '\0ä'", Usage(7, None, 0.25), 12.5, 0, "stop", {"sel": 1})


def test_an_answer_that_two_suites_use_is_exported_for_both(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    store.put(_entry("k"))
    store.close()
    store = Store(tmp_path / "s.db")
    assert store.get("k", "bikes", "b", 0) == Prediction("SELECT 1", attempts=0)
    store.close()
    found = [(entry.suite, entry.case, entry.attempts) for entry in read_entries(tmp_path / "s.db")]
    assert found == [("bikes", "b", 1), ("shop", "a", 1)]


def test_a_case_exports_its_latest_answer(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    for key in ("old", "new"):
        store.put(_entry(key, key))
    store.close()
    assert [entry.prediction.reply for entry in read_entries(tmp_path / "s.db")] == ["new"]


@pytest.mark.parametrize(
    "content, message",
    [(b"not a database at all" * 99, "is not a store of predictions"), (None, "is a database, but not a store")],
)
def test_another_file_is_refused_and_left_alone(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    if content is None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE people (name)")
        connection.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=message):
        Store(path)
    assert path.read_bytes() == before


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    Store(tmp_path / "s.db").close()
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UsageError, match="newer version"):
        Store(tmp_path / "s.db")


_SCRIPT = """
import os, sys, urllib.parse
from pathlib import Path
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.store import Entry, Store
path, name, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def fill(store):
    for i in range(n):
        store.put(Entry("shop", f"{name}{i}", 0, f"{name}{i}", "m", Prediction("x" * 2000), created_at="now"))
"""


def _run(code: str, *arguments: object) -> subprocess.Popen[str]:
    script = textwrap.dedent(_SCRIPT) + textwrap.dedent(code)
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_fill_one_store(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    both = [
        _run("store = Store(path); fill(store); store.close(); print(store.trouble)", path, name, 300) for name in "pq"
    ]
    assert [process.communicate(timeout=60) for process in both] == [("\n", ""), ("\n", "")]
    assert len(read_entries(path)) == 600


def test_kill_9_leaves_whole_answers_and_a_store_that_opens(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    code = """
    store = Store(path); fill(store); store.close(); store = Store(path)
    print("kept", flush=True)
    while True: fill(store)
    """
    process = _run(code, path, "p", 200)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    store = Store(path)
    entries = list(store.entries())
    assert len(entries) == 200
    assert {entry.prediction.reply for entry in entries} == {"x" * 2000}
    store.put(_entry("later"))
    store.close()
    assert store.trouble == ""


def test_a_full_disk_keeps_the_answers_of_this_run_in_memory(tmp_path: Path) -> None:
    code = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
    store = Store(path); fill(store); store.close()
    print(bool(store.trouble), store.get(f"{name}{n - 1}", "shop", f"{name}{n - 1}", 0) is not None)
    """
    output, errors = _run(code, tmp_path / "s.db", "p", 300).communicate(timeout=60)
    assert (output, errors) == ("True True\n", "")
    store = Store(tmp_path / "s.db")
    store.close()
    assert store.trouble == ""


@pytest.mark.parametrize("has_file", [True, False])
def test_a_read_only_store_serves_what_it_has(has_file: bool, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    if has_file:
        store = Store(folder / "s.db")
        store.put(_entry("k"))
        store.close()
        (folder / "s.db").chmod(0o444)
    for place in (tmp_path, *tmp_path.parents):
        if place.name.startswith(("pytest-", "popen-", "test_")):
            place.chmod(0o755)
    folder.chmod(0o555)
    code = """
    if os.getuid() == 0: os.setuid(65534)  # permissions bind everybody but root
    store = Store(path); print(store.get("k", "shop", "a", 0) is not None)
    fill(store); store.close(); print(bool(store.trouble), store.get("p0", "shop", "p0", 0) is not None)
    """
    output, errors = _run(code, folder / "s.db", "p", 1).communicate(timeout=30)
    folder.chmod(0o755)
    assert (output, errors) == (f"{has_file}\nTrue True\n", "")
    assert os.listdir(folder) == (["s.db"] if has_file else [])


def test_the_project_folder_of_stores_ignores_itself(tmp_path: Path) -> None:
    Store(tmp_path / ".sqlbench" / "predictions.db").close()
    assert (tmp_path / ".sqlbench" / ".gitignore").read_text() == "*\n"
