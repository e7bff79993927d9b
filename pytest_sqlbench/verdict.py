"""What is said of one case: the verdict, its outcome and the reason. Travels between processes as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from operator import attrgetter
from typing import Any

from pytest_sqlbench.case import NOTHING
from pytest_sqlbench.result import QueryFailure, ResultSet, Row, Status


class Outcome(str, Enum):
    """The closed list of what a case can come to."""

    CORRECT = "correct"
    WRONG = "wrong"
    MODEL_ERROR = "model_error"
    """Trouble of the bench: no answer was had."""
    GOLD_ERROR = "gold_error"
    """Trouble of the bench: the gold query itself fails."""
    UNSCORABLE = "unscorable"
    """The metric is not defined for this gold: counted and shown, not in the mean."""


TROUBLE = frozenset({Outcome.MODEL_ERROR, Outcome.GOLD_ERROR})
"""Outcomes that are no answer of the model and fail the session."""


class Reason(str, Enum):
    """Why a case is wrong (or is trouble), mechanically: the first thing that a reader wants to know."""

    # the prediction never ran
    MISSING_PREDICTION = "missing_prediction"
    NO_SQL = "no_sql"
    SEVERAL_STATEMENTS = "several_statements"
    TRUNCATED_REPLY = "truncated_reply"
    # it ran and failed
    REFUSED = "refused"
    SYNTAX = "syntax"
    NO_SUCH_TABLE = "no_such_table"
    NO_SUCH_COLUMN = "no_such_column"
    NO_SUCH_FUNCTION = "no_such_function"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    TOO_MANY_ROWS = "too_many_rows"
    TOO_MANY_BYTES = "too_many_bytes"
    CRASH = "crash"
    NO_RESULT_SET = "no_result_set"
    # it gave rows, and not the right ones
    EMPTY_AGAINST_ROWS = "empty_against_rows"
    ROWS_AGAINST_EMPTY = "rows_against_empty"
    VACUOUS = "vacuous"
    """Both are empty and the policy does not accept that."""
    ORDER_ONLY = "order_only"
    DUPLICATES_ONLY = "duplicates_only"
    EXTRA_COLUMNS = "extra_columns"
    MISSING_COLUMNS = "missing_columns"
    COLUMN_ORDER = "column_order"
    IDENTIFIER_FOR_LABEL = "identifier_for_label"
    OVERLAP = "overlap"
    TYPE_ONLY = "type_only"
    ROUNDING = "rounding"
    ROW_COUNT = "row_count"
    OTHER_INSTANCE = "other_instance"
    """Right on the suite's database and wrong on another one that the suite names."""
    VALUES = "values"
    # scored without rows
    BELOW_THRESHOLD = "below_threshold"
    # logical forms
    WRONG_AGGREGATE = "wrong_aggregate"
    WRONG_COLUMN = "wrong_column"
    WRONG_CONDITION = "wrong_condition"
    """A condition is missing or too many."""
    WRONG_CONDITION_COLUMN = "wrong_condition_column"
    WRONG_OPERATOR = "wrong_operator"
    WRONG_VALUE = "wrong_value"
    RIGHT_FORM = "right_form"
    """The logical form is right and the rows are not."""
    DUPLICATE_BIND = "duplicate_bind"
    """Two conditions on one column share one bound value, as in the published WikiSQL evaluator."""
    BAD_SHAPE = "bad_shape"
    """A structured answer that is no logical form."""
    # trouble of the bench
    NO_ANSWER = "no_answer"
    GOLD_FAILED = "gold_failed"
    GOLD_TIMEOUT = "gold_timeout"
    GOLD_DOUBTFUL = "gold_doubtful"
    """Only where golds are checked: they run, and something about them should be looked at."""
    BENCH_FAILED = "bench_failed"
    """Judging itself raised: a fault of this package."""


@dataclass(frozen=True, slots=True)
class Match:
    """What comparing two result sets says."""

    is_match: bool
    reason: Reason | None = None
    """None exactly when ``is_match``."""
    detail: str = ""
    """The first difference, for a person: ``row 3, column 2: 41 is not 42``."""
    flags: tuple[str, ...] = ()
    """Such as ``vacuous``, ``ties``, ``columns_permuted``."""
    near: tuple[str, ...] = ()
    """Presets under which the two would match."""
    missing: tuple[Row, ...] = ()
    """Gold rows that the prediction lacks, at most ten."""
    extra: tuple[Row, ...] = ()
    """Predicted rows that the gold lacks, at most ten."""
    missing_n: int = 0
    """How many gold rows are lacking in all."""
    extra_n: int = 0
    """How many predicted rows are too many in all."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one case came to, and everything that its report needs. Results are kept for wrong cases only."""

    suite: str
    case: str
    outcome: Outcome
    metric: str = "execution_accuracy"
    score: float | None = None
    """The metric's value, 0 to 1; None for trouble and for unscorable golds."""
    reason: Reason | None = None
    detail: str = ""
    """One line for a person."""
    flags: tuple[str, ...] = ()
    """Such as ``vacuous``, ``no_table_read``, ``nondeterministic``."""
    near: tuple[str, ...] = ()
    """Other policies under which it would be right."""
    scores: Mapping[str, float] = NOTHING
    """Further figures of this case by name, such as ``pcm_em`` or ``acc_lf``."""
    policy: str = ""
    question: str = ""
    gold: str = ""
    """The gold query that was compared (the nearest, where there are several)."""
    sql: str | None = None
    """The statement picked out of the reply; None if there is none."""
    reply: str | None = None
    """The raw reply, where it differs from `sql`."""
    extraction: tuple[str, ...] = ()
    """Steps that turned the reply into the statement."""
    match: Match | None = None
    gold_result: ResultSet | QueryFailure | None = None
    predicted_result: ResultSet | QueryFailure | None = None
    gold_ms: float = 0.0
    predicted_ms: float = 0.0
    model_ms: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    sample: int = 0
    """Which of several predictions for the same case this is."""
    tags: tuple[str, ...] = ()
    """The case's own, so that a run can be sliced where the suite is not at hand."""
    difficulty: str = ""
    where: str = ""
    """Where the case was written, ``cases/orders.yaml:12``; for annotations."""
    digest: str = ""
    """`case.digest_case` of the case that was judged: an edited case is not the same case."""
    facts: Mapping[str, Any] = NOTHING
    """What only one metric knows; plain JSON types."""

    @property
    def is_trouble(self) -> bool:
        """True if the bench, and not the model, is at fault."""
        return self.outcome in TROUBLE


_NAMES = tuple(item.name for item in fields(Verdict))
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_VALUES = attrgetter(*_NAMES)


Draft = dict[str, Any]
"""Fields of a verdict that is still being found out; making one for every step would cost more than comparing."""


def amend(verdict: Verdict, **changes: Any) -> Verdict:
    """Return a verdict with some fields changed: `dataclasses.replace` at a third of its cost.

    Raises:
        KeyError: A verdict has no such field.
    """
    values = list(_VALUES(verdict))
    for name, value in changes.items():
        values[_PLACES[name]] = value
    return Verdict(*values)


_RESULT_FIELDS = ("match", "gold_result", "predicted_result")
_PLAIN_NAMES = tuple(name for name in _NAMES if name not in _RESULT_FIELDS)
_DEFAULTS = tuple(item.default for item in fields(Verdict) if item.name in _PLAIN_NAMES)
_PLAIN_VALUES = attrgetter(*_PLAIN_NAMES)


def to_record(verdict: Verdict) -> dict[str, Any]:
    """Turn a verdict into plain JSON types; empty fields are left out, long texts and results are cut.

    Only str, int, float, bool, None, list and dict with str keys come out, so that it crosses process borders.
    """
    record: dict[str, Any] = {}
    for name, value, default in zip(_PLAIN_NAMES, _PLAIN_VALUES(verdict), _DEFAULTS, strict=True):
        # identity first, and no comparison of mappings: this runs for every field of every case
        if value is not default and (value if default is NOTHING else value != default):
            record[name] = _plain(value)
    if verdict.match is not None and not verdict.match.is_match:
        record["match"] = {
            "missing": [_plain(row) for row in verdict.match.missing],
            "extra": [_plain(row) for row in verdict.match.extra],
            "missing_n": verdict.match.missing_n,
            "extra_n": verdict.match.extra_n,
        }
    for name in ("gold_result", "predicted_result"):
        result = getattr(verdict, name)
        if result is not None:
            record[name] = _result_record(result)
    return record


SHOWN_ROWS = 20
SHOWN_TEXT = 4000


def _result_record(result: ResultSet | QueryFailure) -> dict[str, Any]:
    if isinstance(result, QueryFailure):
        return {"status": result.status.value, "message": result.message}
    return {
        "columns": [str(label) for label in result.columns],
        "rows": [_plain(row) for row in result.rows[:SHOWN_ROWS]],
        "n": result.n,
    }


_AS_IT_IS = frozenset({bool, int, float, type(None)})


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is int and value < -(2**31):
        return str(value)  # execnet, which carries reports between processes, cannot write it as a number
    if kind in _AS_IT_IS or (kind is str and len(value) <= SHOWN_TEXT):
        return value
    if kind is tuple or kind is list:
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        text = value if type(value) is str else str.__str__(value)
        return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}… ({len(text)} characters)"
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return f"x'{value[:64].hex()}'" + ("…" if len(value) > 64 else "")
    return str(value)


def from_record(record: Mapping[str, Any]) -> Verdict:
    """Read a verdict back from `to_record`. Results come back as they were cut; ``match`` rows become tuples.

    Raises:
        ValueError: The record has an unknown key, outcome or reason.
    """
    given = dict(record)
    known = {item.name for item in fields(Verdict)}
    if unknown := sorted(given.keys() - known):
        raise ValueError(f"unknown verdict keys: {', '.join(unknown)}")
    given["outcome"] = Outcome(given["outcome"])
    if given.get("reason") is not None:
        given["reason"] = Reason(given["reason"])
    for name in ("flags", "near", "extraction", "tags"):
        if name in given:
            given[name] = tuple(given[name])
    if "match" in given:
        cut = given["match"]
        given["match"] = Match(
            is_match=False,
            reason=given.get("reason"),
            detail=given.get("detail", ""),
            missing=tuple(tuple(row) for row in cut["missing"]),
            extra=tuple(tuple(row) for row in cut["extra"]),
            missing_n=cut["missing_n"],
            extra_n=cut["extra_n"],
        )
    for name in ("gold_result", "predicted_result"):
        if name in given:
            given[name] = _result_from(given[name])
    return Verdict(**given)


def _result_from(record: Mapping[str, Any]) -> ResultSet | QueryFailure:
    if "status" in record:
        return QueryFailure(Status(record["status"]), record["message"])
    rows = [tuple(row) for row in record["rows"]]
    return ResultSet(tuple(record["columns"]), rows, cut_from=record["n"] if record["n"] > len(rows) else 0)
