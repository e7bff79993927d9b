"""Lets other processes of this machine ask the answers of one: the pool and the store stay in a single process."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import ModelError, SqlbenchError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.failures import CallError, failure_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Answer = Callable[[str, str, int], Prediction]
"""Of a manifest's path, a case's id and the number of the sample."""


class Relay:
    """Listens on a socket of this machine; whoever connects has to know a secret that is made anew each time."""

    def __init__(self, name: str, answer: Answer) -> None:
        """Start to listen. ``answer`` is called from a thread per connection."""
        from multiprocessing.connection import Listener

        key = secrets.token_bytes(32)
        self._answer = answer
        try:
            self._listener = Listener(authkey=key)
        except OSError:  # the path of a socket can be too long
            self._listener = Listener(("127.0.0.1", 0), authkey=key)
        address = self._listener.address
        self.place: dict[str, Any] = {
            "name": name,
            "key": key.hex(),
            "address": address if isinstance(address, str) else list(address),
        }
        """What a `RelayedPredictor` needs, as plain JSON types."""
        threading.Thread(target=self._accept, name="sqlbench-relay", daemon=True).start()

    def close(self) -> None:
        """Stop listening. Closing twice is allowed."""
        with suppress(OSError):
            self._listener.close()

    def _accept(self) -> None:
        from multiprocessing import AuthenticationError

        while True:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), name="sqlbench-relay", daemon=True).start()

    def _serve(self, connection: Connection[Any, Any]) -> None:
        with suppress(OSError, EOFError), connection:
            while True:
                asked = json.loads(connection.recv_bytes())
                connection.send_bytes(json.dumps(self._reply(asked), default=str).encode())

    def _reply(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            return asdict(self._answer(asked["suite"], asked["case"], asked["sample"]))
        except ModelError as error:
            return {"error": str(error)}
        except Exception as error:  # the other process must not wait for ever
            return {"error": str(error) if isinstance(error, SqlbenchError) else str(failure_of(error))}


class RelayedPredictor:
    """Asks the process that holds the pool and the store."""

    def __init__(self, place: dict[str, Any]) -> None:
        self.name = str(place["name"])
        self._place = place
        self._paths: dict[str, str] = {}
        self._connection: Connection[Any, Any] | None = None
        self._lock = threading.Lock()

    def bind_suite(self, suite: Suite) -> None:
        """Take note of where the suite is read from."""
        self._paths[suite.name] = str(suite.path)

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Ask, and wait for the answer.

        Raises:
            CallError: There is none, or the other process is gone.
        """
        path = self._paths.get(case.suite)
        if path is None:
            raise UsageError(f"case {case.suite}/{case.id} belongs to no suite that was read from a manifest")
        asked = json.dumps({"suite": path, "case": case.id, "sample": sample}).encode()
        with self._lock:
            try:
                connection = self._connect()
                connection.send_bytes(asked)
                told = json.loads(connection.recv_bytes())
            except (OSError, EOFError) as error:
                self._connection = None
                raise CallError("the process that asks the model is gone") from error
        if "error" in told:
            raise CallError(told["error"])
        usage = told.pop("usage")
        return Prediction(usage=None if usage is None else Usage(**usage), **told)

    def close(self) -> None:
        """Hang up. Closing twice is allowed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connect(self) -> Connection[Any, Any]:
        from multiprocessing.connection import Client

        if self._connection is None:
            address = self._place["address"]
            where = address if isinstance(address, str) else tuple(address)
            self._connection = Client(where, authkey=bytes.fromhex(self._place["key"]))
        return self._connection
