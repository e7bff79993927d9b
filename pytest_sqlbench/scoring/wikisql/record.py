"""Reading a prediction that came as a record: ``{"query": {"sel": 3, "agg": 0, "conds": []}, "error": ""}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_sqlbench.logical_form import Condition, LogicalForm
from pytest_sqlbench.verdict import Reason


@dataclass(frozen=True, slots=True)
class NoForm:
    """Why a prediction has no logical form, and whether it may still be a query."""

    reason: Reason
    detail: str
    is_query: bool = False
    """True for SQL whose shape a logical form cannot say: it is still run."""


MAX_RECORD = 100_000
"""Characters of a record; a longer one is no answer to a WikiSQL question."""


def is_record(answer: object) -> bool:
    """Say whether a structured answer is meant as a logical form."""
    return isinstance(answer, Mapping) and ("query" in answer or "sel" in answer or "error" in answer)


def read_record(answer: object) -> LogicalForm | NoForm:
    """Read the published prediction format, or the bare form inside it.

    A true ``error`` wins over the query, as in the published evaluator. Indices and values are taken as they come:
    one that is out of range fails when the form is run.
    """
    if not isinstance(answer, Mapping):
        return _bad(f"a record must be an object, not {type(answer).__name__}")
    if answer.get("error"):
        return NoForm(Reason.NO_SQL, f"the prediction reports an error: {str(answer['error'])[:200]}")
    query = answer.get("query") if "query" in answer or "sel" not in answer else answer
    if not isinstance(query, Mapping):
        return _bad(f"query must be an object with sel, agg, conds, not {str(query)[:80]!r}")
    if lacking := [key for key in ("sel", "agg", "conds") if key not in query]:
        return _bad(f"query has no {', '.join(lacking)}")
    conditions = query["conds"]
    if not isinstance(conditions, (list, tuple)):
        return _bad(f"conds must be a list, not {type(conditions).__name__}")
    read = []
    for number, item in enumerate(conditions, 1):
        if not isinstance(item, (list, tuple)) or len(item) != 3:
            return _bad(f"condition {number} must be [column, operator, value], not {str(item)[:80]!r}")
        if not (_is_scalar(item[0]) and _is_scalar(item[1])):
            return _bad(f"condition {number}: column and operator must be integers, not {str(item[:2])[:80]!r}")
        read.append(Condition(*item))
    if not (_is_scalar(query["sel"]) and _is_scalar(query["agg"])):
        return _bad("sel and agg must be integers")
    return LogicalForm(query["sel"], query["agg"], tuple(read))


def read_record_text(text: str) -> LogicalForm | NoForm | None:
    """Read a reply that is a record written as JSON; None where it is no JSON object."""
    if len(text) > MAX_RECORD or not text.lstrip().startswith("{"):
        return None
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read_record(answer) if is_record(answer) else None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _bad(detail: str) -> NoForm:
    return NoForm(Reason.BAD_SHAPE, detail)
