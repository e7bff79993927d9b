"""How a call of a model fails: what can be tried again, what cannot, and a text without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import Enum

from pytest_sqlbench.errors import ModelError

MESSAGE_LENGTH = 500


class Trying(str, Enum):
    """What another try would bring."""

    AGAIN = "again"
    """It may work: the endpoint was busy, silent, or broke off."""
    NEVER = "never"
    """This request will fail again, others may work."""
    HOPELESS = "hopeless"
    """Every request will fail: a wrong key, a model that does not exist."""


class CallError(ModelError):
    """One call brought no answer."""

    def __init__(self, message: str, trying: Trying = Trying.NEVER, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.trying = trying
        self.retry_after_s = retry_after_s
        """How long the endpoint asks to wait; None where it does not say."""


def failure_of(error: BaseException) -> CallError:
    """Turn whatever a predictor raised into a failure with one redacted line."""
    if isinstance(error, CallError):
        return CallError(redacted(str(error)), error.trying, error.retry_after_s)
    if isinstance(error, ModelError):
        trying = Trying.AGAIN if isinstance(error.__cause__, (TimeoutError, ConnectionError)) else Trying.NEVER
        return CallError(redacted(str(error)), trying)
    trying = Trying.AGAIN if isinstance(error, (TimeoutError, ConnectionError)) else Trying.NEVER
    return CallError(redacted(f"{type(error).__name__}: {error}"), trying)


_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_BEARER = re.compile(r"(?i)(bearer\s+)[^\s'\"]+")


def redacted(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Return one line of at most 500 characters without the values of secret environment variables and logins."""
    environment = os.environ if environment is None else environment
    for name, value in environment.items():
        if len(value) >= 6 and _SECRET_NAME.search(name):
            text = text.replace(value, f"<{name}>")
    text = _BEARER.sub(r"\1<key>", _URL_LOGIN.sub("", text))
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH else f"{line[:MESSAGE_LENGTH]}…"
