"""What the engines share that read a file in sandboxes only: gold in one, predictions in another."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_sqlbench.engines.allowance import Allowance, Budget
from pytest_sqlbench.engines.sandbox import read_answer, shared_sandbox
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet
from pytest_sqlbench.settings import Settings

Stamp = tuple[int, int, int]
"""Of a file: when it was changed, its size and its number. With another stamp it is another file."""


def read_stamp(path: str, kind: str = "database") -> Stamp:
    """Look at a file; raise `EngineError` if it is not there."""
    try:
        stat = os.stat(path)
    except OSError as error:
        raise EngineError(f"{path}: no such {kind} file ({error.strerror})") from error
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


class SandboxedEngine:
    """Answers queries over one file. The file may change between two queries, not while one runs.

    Args:
        guard: Which guard reads it, as in ``engines/guards/GUARD_guard.py``.
        path: The file.
        settings: Limits of a query and of the process.
        options: How the guard opens it.
        kind: What is missing where the file is.
    """

    def __init__(
        self, guard: str, path: Path, settings: Settings, options: Mapping[str, int], kind: str = "database"
    ) -> None:
        self._name, self._path, self._kind = guard, str(path), kind
        self._settings = settings
        self._options = dict(options)
        self.allowance = Allowance(settings)
        read_stamp(self._path, kind)

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite, in a sandbox that no prediction has seen."""
        return self.allowance.hear_gold(self._run("gold", query, self.allowance.of_gold))

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query in the sandbox."""
        return self._run("", query, self.allowance.next_prediction())

    def _run(self, role: str, query: str, budget: Budget) -> ResultSet | QueryFailure:
        sandbox = shared_sandbox(self._name, self._settings.limits.memory_bytes, role)
        file = (self._path, read_stamp(self._path, self._kind), self._options)
        return read_answer(sandbox.ask(file, query, budget), self._path)

    def _read_gold(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query of ours; raise `EngineError` if it fails."""
        result = self.run_gold(query)
        if isinstance(result, QueryFailure):
            raise EngineError(f"{self._path}: {result.message}")
        return result.rows
