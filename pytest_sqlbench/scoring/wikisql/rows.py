"""Comparing the one column that a logical form answers, by the rule of each mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isclose
from typing import Any

from pytest_sqlbench.scoring.wikisql.statement import Mode
from pytest_sqlbench.verdict import Match, Reason

REL_TOL = 1e-6
"""Strict mode only, and only for numbers with a fractional part."""

SHOWN = 10


def equal_answers(gold: Sequence[Any], predicted: Sequence[Any], mode: Mode) -> bool:
    """Decide whether two answers are equal.

    ``official``: equal as lists, in the order of the rows, 1 equals 1.0. ``seed``: equal as sets. ``strict``: equal
    as bags, with a relative tolerance of 1e-6 for numbers with a fractional part.
    """
    if gold == predicted:
        return True
    if mode == "official":
        return False
    if mode == "seed":
        return set(gold) == set(predicted)
    return len(gold) == len(predicted) and (Counter(gold) == Counter(predicted) or _nearly_equal(gold, predicted))


def _nearly_equal(gold: Sequence[Any], predicted: Sequence[Any]) -> bool:
    gold_numbers, gold_rest = _split(gold)
    numbers, rest = _split(predicted)
    return (
        len(gold_numbers) == len(numbers)
        and Counter(gold_rest) == Counter(rest)
        and all(map(_is_near, gold_numbers, numbers))
    )


def _is_near(gold: float, predicted: float) -> bool:
    if gold == predicted:
        return True
    is_whole = float(gold).is_integer() and float(predicted).is_integer()
    return not is_whole and isclose(gold, predicted, rel_tol=REL_TOL, abs_tol=1e-9)


def _split(answer: Sequence[Any]) -> tuple[list[float], list[Any]]:
    numbers = sorted(cell for cell in answer if isinstance(cell, (int, float)))
    return numbers, [cell for cell in answer if not isinstance(cell, (int, float))]


def is_vacuous(answer: Sequence[Any], is_count: bool) -> bool:
    """Say whether a gold answer is that of no rows at all: nothing, NULL from an aggregate, or a count of 0."""
    return not answer or answer == [None] or (is_count and answer == [0])


def explain_rows(gold: Sequence[Any], predicted: Sequence[tuple[Any, ...]]) -> Match:
    """Say how a predicted answer that is not equal differs, from the rows alone."""
    if predicted and len(predicted[0]) > 1:
        return Match(False, Reason.EXTRA_COLUMNS, f"{len(predicted[0])} columns, the gold has 1")
    cells = [row[0] for row in predicted]
    if len(gold) == len(cells) == 1:  # most answers
        detail = f"{_short(cells[0])} is not {_short(gold[0])}"
        return Match(False, Reason.VALUES, detail, missing=((gold[0],),), extra=((cells[0],),), missing_n=1, extra_n=1)
    gold_counts, counts = Counter(gold), Counter(cells)
    missing, extra = list((gold_counts - counts).elements()), list((counts - gold_counts).elements())
    if gold_counts == counts:
        reason, detail = Reason.ORDER_ONLY, "the same rows in another order"
    elif not cells:
        reason, detail = Reason.EMPTY_AGAINST_ROWS, f"no rows, the gold has {len(gold)}"
    elif not gold:
        reason, detail = Reason.ROWS_AGAINST_EMPTY, f"{len(cells)} rows, the gold has none"
    elif set(gold_counts) == set(counts):
        reason, detail = Reason.DUPLICATES_ONLY, f"{len(cells)} rows, the gold has {len(gold)} with the same values"
    elif len(cells) != len(gold):
        reason, detail = Reason.ROW_COUNT, f"{len(cells)} rows, the gold has {len(gold)}"
    else:
        reason, detail = Reason.VALUES, f"{_short(extra[0])} is not {_short(missing[0])}"
    return Match(
        is_match=False,
        reason=reason,
        detail=detail,
        missing=tuple((cell,) for cell in missing[:SHOWN]),
        extra=tuple((cell,) for cell in extra[:SHOWN]),
        missing_n=len(missing),
        extra_n=len(extra),
    )


def _short(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 80 else text[:80] + "…"
