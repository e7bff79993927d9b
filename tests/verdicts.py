"""Builds verdicts for tests in one line each."""

from __future__ import annotations

from typing import Any

from pytest_sqlbench.verdict import Outcome, Reason, Verdict

_OUTCOMES = {
    "c": Outcome.CORRECT,
    "w": Outcome.WRONG,
    "m": Outcome.MODEL_ERROR,
    "g": Outcome.GOLD_ERROR,
    "u": Outcome.UNSCORABLE,
}


def make_verdict(case: str, letter: str, suite: str = "orders", **more: Any) -> Verdict:
    """Return the verdict that a letter stands for: c correct, w wrong, m model, g gold error, u unscorable."""
    score = {"c": 1.0, "w": 0.0}.get(letter)
    reason = Reason.VALUES if letter == "w" else None
    return Verdict(suite, case, _OUTCOMES[letter], **{"score": score, "reason": reason, **more})


def make_verdicts(letters: str, suite: str = "orders", **more: Any) -> list[Verdict]:
    """Return one verdict for each letter; the cases are called 0000, 0001 and so on."""
    return [make_verdict(f"{place:04}", letter, suite, **more) for place, letter in enumerate(letters)]


def make_samples(rows: list[str], suite: str = "orders", **more: Any) -> list[Verdict]:
    """Return the verdicts of cases with several samples each, one row of letters a case."""
    return [
        make_verdict(f"{place:04}", letter, suite, sample=sample, **more)
        for place, row in enumerate(rows)
        for sample, letter in enumerate(row)
    ]
