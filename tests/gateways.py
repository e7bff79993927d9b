"""Starts what xdist reaches over a network, on this machine: execnet's socket server, and an ssh server of our own.

``python -m tests.gateways socket FOLDER`` or ``… ssh FOLDER`` starts one by hand and prints how to use it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

BARE = {"PATH": "/usr/bin:/bin"}
"""All that the servers get of our environment: a machine far away has none of it."""


@contextmanager
def socket_gateway(folder: Path) -> Iterator[str]:
    """Serve one worker that works in a folder; give the value of ``--tx``."""
    port = find_port()
    command = [sys.executable, "-m", "execnet.script.socketserver", f"127.0.0.1:{port}"]
    with _running(command, folder, port):
        yield f"socket=127.0.0.1:{port}//chdir={folder}"


@contextmanager
def ssh_gateway(keys: Path, folder: Path) -> Iterator[str]:
    """Run an ssh server with keys of its own, made in ``keys``; give the value of ``--tx`` for a worker in a folder."""
    keys.mkdir(parents=True, exist_ok=True)
    port = find_port()
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)], check=True)
    shutil.copy(keys / "user.pub", keys / "authorized")
    (keys / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {keys}/host\nAuthorizedKeysFile {keys}/authorized\n"
        f"PidFile none\nPermitRootLogin yes\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
    )
    (keys / "ssh_config").write_text(
        f"Host loopback\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {keys}/user\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {keys}/known\n  StrictHostKeyChecking no\n  LogLevel ERROR\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd's privilege separation wants it
    command = [find_sshd(), "-D", "-e", "-f", str(keys / "sshd_config")]
    with _running(command, keys, port):
        yield f"ssh=loopback//ssh_config={keys}/ssh_config//python={sys.executable}//chdir={folder}"


def find_sshd() -> str:
    """Return the path of sshd, which must be absolute; empty where there is none."""
    return shutil.which("sshd", path=f"/usr/sbin:/usr/local/sbin:{os.environ.get('PATH', '')}") or ""


def find_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    """Run a server until the block ends; it is up once its port answers."""
    with (folder / f"server-{port}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=BARE, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        _wait_for(process, port, folder / f"server-{port}.log")
        yield
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the port is taken. It is not connected to: execnet's server takes one connection only."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once: {log.read_text()}")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return
        time.sleep(0.05)
    raise RuntimeError(f"no server on port {port} after 30 s: {log.read_text()}")


def main() -> None:
    """Start one server and wait."""
    kind, folder = sys.argv[1], Path(sys.argv[2]).absolute()
    with socket_gateway(folder) if kind == "socket" else ssh_gateway(folder / "keys", folder) as spec:
        print(f"pytest --dist load --tx '{spec}'", flush=True)
        input("Return ends it. ")


if __name__ == "__main__":
    main()
