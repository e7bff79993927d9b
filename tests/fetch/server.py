"""A local HTTP server that misbehaves on request: it cuts, corrupts, stalls and refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Misbehaviour:
    """What the server serves, and what goes wrong with each request in turn; afterwards it behaves."""

    content: bytes
    plan: list[str] = field(default_factory=list)
    """``cut``: half of what is left, then the connection closes. ``stall``: half of it, then silence. A number: that
    status. ``changed``: the file has become another one."""
    has_tag: bool = True
    requests: list[str] = field(default_factory=list)
    """The ``Range`` of each request; empty if it had none."""
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve(behaviour: Misbehaviour) -> Iterator[str]:
    """Run the server on a free port; give the address of its only file."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"behaviour": behaviour}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/data.tar.bz2"
    finally:
        behaviour.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    behaviour: Misbehaviour

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Serve the file, or misbehave."""
        state = self.behaviour
        act = state.plan.pop(0) if state.plan else ""
        asked = self.headers.get("Range", "")
        state.requests.append(asked)
        if act.isdigit():
            self.send_error(int(act))
            return
        if act == "changed":
            state.content = state.content[::-1]
        tag = f'"{hash(state.content)}"'
        start = 0
        if asked and self.headers.get("If-Range") == tag:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
        rest = state.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        if state.has_tag:
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(rest[: len(rest) // 2] if act in ("cut", "stall") else rest)
        self.wfile.flush()
        if act == "stall":
            state.released.wait(20)
