"""Errors, one child per thing the reader must do. A wrong prediction is never one of them."""

from __future__ import annotations

from pathlib import Path


class SqlbenchError(Exception):
    """The base of every error that the library raises on purpose."""


class UsageError(SqlbenchError):
    """An option, a path or a value that the user gave cannot be used. pytest ends with exit code 4."""


class CaseError(UsageError):
    """A suite or a file it names is not as it must be.

    The message begins with ``path:line:``; both are attributes too. ``line`` is 0 where a file has no lines.
    """

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {message}")
        self.path = str(path)
        self.line = line
        self.message = message


class EngineError(SqlbenchError):
    """A database cannot be opened or its engine is not there. Trouble of the bench, not of a prediction."""


class ModelError(SqlbenchError):
    """A model gave no answer (endpoint down, refused, too slow). Trouble of the bench, not a wrong answer."""


class BaselineError(UsageError):
    """A saved run cannot be read, or cannot be compared with this one."""


class UnscorableGold(SqlbenchError):  # noqa: N818 - the name says what it is
    """The metric is not defined for this gold query: it is counted and shown, and not in the mean."""
