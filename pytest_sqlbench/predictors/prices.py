"""What tokens cost: a small file that ships, and one of the user's that comes first. Unknown is unknown, never 0."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import CaseError, UsageError

SHIPPED = Path(__file__).with_name("prices.json")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float
    completion: float

    def cost_usd(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return what a call costs; None if the endpoint does not tell how many tokens it was."""
        if prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


def find_price(model: str, path: Path | None, *, is_public: bool) -> Price | None:
    """Look the price of a model up.

    Args:
        model: As the endpoint calls it.
        path: The user's file; None: there is none.
        is_public: Whether it is asked at the vendor's own endpoint, for which the shipped prices hold.

    Raises:
        UsageError: The user's file cannot be read.
    """
    if path is not None:
        price = _read(path).get(model)
        if price is not None:
            return price
    return _read(SHIPPED).get(model) if is_public else None


def _read(path: Path) -> dict[str, Price]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: prices cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CaseError(path, getattr(error, "lineno", 0), f"is not JSON: {error}") from error
    if not isinstance(entries, Mapping):
        raise CaseError(path, 1, "wanted an object: model to {prompt, completion}, US dollars for a million tokens")
    return {name: _price(path, name, entry) for name, entry in entries.items() if not name.startswith("_")}


def _price(path: Path, name: str, entry: Any) -> Price:
    wanted = {"prompt", "completion"}
    if not isinstance(entry, Mapping) or set(entry) != wanted:
        raise CaseError(path, 0, f"price of {name!r} is {entry!r}, wanted an object with prompt and completion")
    for value in entry.values():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
            raise CaseError(path, 0, f"price of {name!r} holds {value!r}, wanted dollars for a million tokens")
    return Price(float(entry["prompt"]), float(entry["completion"]))
