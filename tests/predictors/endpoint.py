"""A small OpenAI-compatible server on loopback whose manners a test chooses, call by call. It counts the calls."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """One request as the server saw it."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    n: int
    """How often this body was sent, this time included."""
    at_s: float = field(default_factory=time.monotonic)

    @property
    def prompt(self) -> str:
        """What the model reads."""
        return str(self.body.get("prompt") or self.body["messages"][-1]["content"])


Writer = asyncio.StreamWriter
Manner = Callable[[Call, Writer], Awaitable[None]]


async def send(writer: Writer, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Send a whole response."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


def completion(reply: str, finish_reason: str = "stop", is_chat: bool = True) -> bytes:
    """Return the body of a right answer."""
    said = {"message": {"role": "assistant", "content": reply}} if is_chat else {"text": reply}
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    return json.dumps({"choices": [{**said, "finish_reason": finish_reason}], "usage": usage}).encode()


def answering(answer: Callable[[Call], str], delay_s: float = 0.0, finish_reason: str = "stop") -> Manner:
    """Answer rightly after a while."""

    async def manner(call: Call, writer: Writer) -> None:
        await asyncio.sleep(delay_s)
        await send(writer, 200, completion(answer(call), finish_reason, call.path.endswith("/chat/completions")))

    return manner


def refusing(status: int, message: str = "no", headers: Mapping[str, str] | None = None, code: str = "") -> Manner:
    """Answer with an error as the protocol has it."""

    async def manner(call: Call, writer: Writer) -> None:
        body = {"error": {"message": message, **({"code": code} if code else {})}}
        await send(writer, status, json.dumps(body).encode(), headers)

    return manner


async def reset(call: Call, writer: Writer) -> None:
    """Drop the connection without a word."""
    writer.transport.abort()


async def half(call: Call, writer: Writer) -> None:
    """Announce a whole answer, send a part of it, and hang up."""
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"choices": [{"mess')
    await writer.drain()
    writer.close()


async def bad_json(call: Call, writer: Writer) -> None:
    """Answer 200 with something else."""
    await send(writer, 200, b"<html>gateway</html>")


async def no_choices(call: Call, writer: Writer) -> None:
    """Answer 200 with an error inside."""
    await send(writer, 200, b'{"error": {"message": "upstream is busy"}}')


async def silent(call: Call, writer: Writer) -> None:
    """Say nothing for 20 seconds, and then nothing either."""
    await asyncio.sleep(20)
    writer.transport.abort()


async def dripping(call: Call, writer: Writer) -> None:
    """Send a byte now and then, so that no timeout of a single read ever strikes."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
    for _ in range(400):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


def first(n: int, manner: Manner, then: Manner) -> Manner:
    """Behave in one way at the first n calls of each body, and in another from then on."""

    async def both(call: Call, writer: Writer) -> None:
        await (manner if call.n <= n else then)(call, writer)

    return both


class Endpoint:
    """The server. ``calls`` is the list of requests so far."""

    def __init__(self, manner: Manner) -> None:
        self.calls: list[Call] = []
        self.manner = manner
        self.under_way = 0
        self.most_under_way = 0
        self.url = ""
        self._seen: dict[str, int] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        """Serve one connection until it is closed."""
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                request, *lines = head.decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                await self._answer(Call(json.loads(body), headers, request.split(" ")[1], self._count(body)), writer)
                if writer.transport.is_closing():
                    break
        writer.transport.abort()

    def _count(self, body: bytes) -> int:
        key = body.decode()
        self._seen[key] = self._seen.get(key, 0) + 1
        return self._seen[key]

    async def _answer(self, call: Call, writer: Writer) -> None:
        self.calls.append(call)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self.manner(call, writer)
        finally:
            self.under_way -= 1


@contextmanager
def serving(manner: Manner) -> Iterator[Endpoint]:
    """Run an endpoint in a thread of its own."""
    endpoint, loop, started = Endpoint(manner), asyncio.new_event_loop(), threading.Event()

    async def run() -> None:
        server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, limit=2**24)
        endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        started.set()
        with suppress(asyncio.CancelledError):
            await server.serve_forever()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(main)
        rest = asyncio.all_tasks(loop)
        for task in rest:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
        loop.close()

    main = loop.create_task(run())
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(main.cancel)
        thread.join(10)
