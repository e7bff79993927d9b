"""One case that is not right, as text for a terminal: why, the question, both queries and the rows that differ."""

from __future__ import annotations

from pytest_sqlbench.report.cells import fold, show_row
from pytest_sqlbench.report.clauses import describe_components
from pytest_sqlbench.result import QueryFailure, ResultSet
from pytest_sqlbench.verdict import Outcome, Reason, Verdict

SHORT_ROWS, LONG_ROWS = 3, 10
SHORT_TEXT, LONG_TEXT = 600, 4000
INDENT = 11


def describe_failure(verdict: Verdict, is_long: bool = False) -> str:
    """Say why a case is not right, in about ten lines.

    Args:
        verdict: Of any outcome but ``correct``.
        is_long: Show more rows and longer texts (``-v``).
    """
    limit = LONG_TEXT if is_long else SHORT_TEXT
    lines = [headline(verdict)]
    lines += _entry("question", verdict.question, limit)
    lines += _entry("gold", verdict.gold, limit)
    if verdict.sql is not None:
        lines += _entry("predicted", verdict.sql, limit)
    if verdict.reply is not None and (is_long or verdict.sql is None):
        lines += _entry("reply", verdict.reply, limit)
    if verdict.extraction:
        lines += _entry("extracted", ", ".join(verdict.extraction), limit)
    if clauses := describe_components(verdict):
        lines += _entry("clauses", "\n".join(clauses), LONG_TEXT)
    lines += _rows(verdict, LONG_ROWS if is_long else SHORT_ROWS)
    if verdict.near:
        lines += _entry("near miss", f"right under {', '.join(verdict.near)}", limit)
    if verdict.flags:
        lines += _entry("note", ", ".join(flag.replace("_", " ") for flag in verdict.flags), limit)
    return "\n".join(lines)


def headline(verdict: Verdict) -> str:
    """Say outcome, reason and first difference in one line of at most 160 characters."""
    words = {
        Outcome.WRONG: "wrong",
        Outcome.MODEL_ERROR: "no answer from the model",
        Outcome.GOLD_ERROR: "the bench is at fault",
        Outcome.UNSCORABLE: "unscorable",
        Outcome.CORRECT: "correct",
    }
    parts = [words[verdict.outcome]]
    if verdict.reason is not None and verdict.reason not in (Reason.NO_ANSWER, Reason.GOLD_FAILED):
        parts.append(verdict.reason.value.replace("_", " "))
    if verdict.detail:
        parts.append(fold(verdict.detail, 120))
    return ": ".join(parts)[:160]


def _entry(label: str, text: str, limit: int) -> list[str]:
    if len(text) > limit:
        text = f"{text[:limit]}… ({len(text):,} characters)"
    lines = [line.rstrip() for line in text.strip().replace("\0", "␀").splitlines()] or [""]
    return [f"{label:<{INDENT}}{lines[0]}", *(" " * INDENT + line for line in lines[1:])]


def _rows(verdict: Verdict, shown: int) -> list[str]:
    lines: list[str] = []
    gold, predicted = verdict.gold_result, verdict.predicted_result
    if isinstance(gold, ResultSet) and isinstance(predicted, ResultSet):
        lines += _entry(
            "columns",
            f"gold {fold(', '.join(gold.columns), 70)} | predicted {fold(', '.join(predicted.columns), 70)}",
            200,
        )
    if isinstance(predicted, QueryFailure) and predicted.message not in verdict.detail:
        lines += _entry("engine", predicted.message, 200)
    match = verdict.match
    if match is None:
        return lines
    for label, rows, n in (("missing", match.missing, match.missing_n), ("extra", match.extra, match.extra_n)):
        if not rows:
            continue
        texts = [show_row(row) for row in rows[:shown]]
        if n > len(texts):
            texts.append(f"… {n - len(texts):,} more")
        lines += _entry(label, "\n".join(texts), 2000)
    return lines
