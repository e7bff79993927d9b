"""What a model answered, before anyone judges it, and the protocol of whoever asks the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pytest_sqlbench.case import Case


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer cost. None means unknown, never zero."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer of a model to one case."""

    reply: str | None
    """The raw text, as it came; None if the recorded predictions have none for this case."""
    usage: Usage | None = None
    latency_ms: float | None = None
    attempts: int = 1
    """Calls made for this answer; 0 if it came from the store."""
    finish_reason: str = ""
    """The endpoint's word; ``length`` means that the reply was cut."""
    facts: object = None
    """A structured answer where a format has one, such as a WikiSQL logical form."""


class Predictor(Protocol):
    """Answers cases. One object serves one worker; `predict` may be called from several threads."""

    @property
    def name(self) -> str:
        """The model spec that made it, without secrets."""

    def predict(self, case: Case) -> Prediction:
        """Answer one case. Raise `ModelError` where no answer can be had."""
