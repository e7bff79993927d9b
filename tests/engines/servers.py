"""Starts database servers for tests: in a scratch folder, on loopback, ended with the session."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest


def find_program(name: str) -> str:
    """Return the path of a server's program; skip the test where it is not installed."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders), "/usr/sbin", "/usr/libexec"])
    if (found := shutil.which(name, path=path)) is None:
        pytest.skip(f"needs the program {name}")
    return os.path.realpath(found)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _demote(user: str) -> tuple[int, int] | None:
    """A server refuses to run as root: return the ids of an ordinary user to run it as."""
    if os.getuid() != 0:
        return None
    for name in (user, "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    return None


def _run(command: list[str], ids: tuple[int, int] | None) -> None:
    extra = {} if ids is None else {"user": ids[0], "group": ids[1], "extra_groups": []}
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", **extra)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr[-2000:]


@contextmanager
def run_postgres(*, memory_bytes: int = 3 * 2**30) -> Iterator[str]:
    """Run a PostgreSQL server; yield the superuser's URL of its database ``postgres``."""
    initdb, postgres = find_program("initdb"), find_program("postgres")
    initdb = str(Path(postgres).parent / "initdb") if (Path(postgres).parent / "initdb").exists() else initdb
    folder = Path(tempfile.mkdtemp(prefix="sqlbench-pg-"))
    ids = _demote("postgres")
    if ids is not None:
        os.chown(folder, *ids)
    port = free_port()
    data = folder / "data"
    _run([initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"], ids)
    settings = ["fsync=off", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "max_connections=60"]
    arguments = [argument for setting in settings for argument in ("-c", setting)]
    script = 'ulimit -v "$1"; shift; exec "$@"'
    command = [
        "sh",
        "-c",
        script,
        "sh",
        str(memory_bytes // 1024),
        postgres,
        "-D",
        str(data),
        "-p",
        str(port),
        *arguments,
    ]
    extra = {} if ids is None else {"user": ids[0], "group": ids[1], "extra_groups": []}
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **extra)  # type: ignore[call-overload]
    try:
        _wait_for_port(port, server, folder / "log")
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        _wait_for_start(url)
        yield url
    finally:
        server.send_signal(3)  # immediate shutdown
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_mariadb() -> Iterator[str]:
    """Run a MariaDB server; yield the URL of its root user."""
    server_program, install = find_program("mariadbd"), find_program("mariadb-install-db")
    folder = Path(tempfile.mkdtemp(prefix="sqlbench-my-"))
    ids = _demote("mysql")
    if ids is not None:
        os.chown(folder, *ids)
    data, port = folder / "data", free_port()
    _run(
        [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"],
        ids,
    )
    command = [
        *(server_program, "--no-defaults", f"--datadir={data}", f"--port={port}", "--bind-address=127.0.0.1"),
        *(
            f"--socket={folder}/s",
            f"--pid-file={folder}/pid",
            "--skip-name-resolve",
            "--innodb-flush-log-at-trx-commit=0",
        ),
    ]
    extra = {} if ids is None else {"user": ids[0], "group": ids[1], "extra_groups": []}
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **extra)  # type: ignore[call-overload]
    try:
        _wait_for_port(port, server, folder / "log")
        yield f"mysql://root@127.0.0.1:{port}/"
    finally:
        server.kill()  # a query that ignores its end would hold up a shutdown
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for_start(url: str) -> None:
    import psycopg

    for _ in range(100):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
            continue
        return
    raise AssertionError("the server does not finish its start")


def _wait_for_port(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise AssertionError(f"the server ended at once: {log.read_text(errors='replace')[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
        except OSError:
            time.sleep(0.1)
            continue
        return
    raise AssertionError("the server does not answer")


def connect_mariadb(url: str) -> Any:
    """Connect as the user of a URL from `run_mariadb`."""
    import pymysql

    parts = urlsplit(url)
    return pymysql.connect(host=parts.hostname, port=parts.port or 3306, user=parts.username or "", autocommit=True)


def build_postgres(url: str, script: str) -> tuple[str, str]:
    """Run the corpus's script under a name of its own; return the URLs of its superuser and of its reader.

    A backend of an earlier test may still be busy in its database, which could then not be dropped.
    """
    import psycopg

    name = f"bench_{time.time_ns()}"
    head, tail = script.replace("bench", name).split(f"\\c {name}")
    place = f"{url.rsplit('/', 1)[0]}/{name}"
    for where, part in ((url, head), (place, tail)):
        with psycopg.connect(where, autocommit=True) as connection:
            for statement in filter(str.strip, part.split(";")):
                connection.execute(statement)
    return place, place.replace("postgres@", f"{name}_ro@")
