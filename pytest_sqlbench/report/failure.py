"""One case that is not right, as text for a terminal: why, the question, both queries and the rows that differ."""

from __future__ import annotations

import re

from pytest_sqlbench.report.cells import fold, show_row
from pytest_sqlbench.report.clauses import describe_components
from pytest_sqlbench.report.query_diff import diff_queries, is_changed
from pytest_sqlbench.report.row_diff import align_rows, show_pair
from pytest_sqlbench.result import QueryFailure, ResultSet
from pytest_sqlbench.verdict import Outcome, Reason, Verdict

SHORT_ROWS, LONG_ROWS = 3, 10
SHORT_TEXT, LONG_TEXT = 600, 4000
SHORT_CLAUSES = 4
INDENT = 11

_HARMLESS = {sign: 0x2400 + sign for sign in range(32) if chr(sign) not in "\t\n\r"}
"""Control characters of a model's text are shown as pictures: a terminal must not obey them."""


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
        lines += _changes(verdict, is_long)
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


def _changes(verdict: Verdict, is_long: bool) -> list[str]:
    """Set both queries into one, clause by clause, with the changed parts marked; only the changed clauses if short."""
    if verdict.facts.get("differences") and not is_long:
        return []  # two logical forms: the headline names every part
    lines = diff_queries(verdict.gold, verdict.sql or "") if verdict.outcome is Outcome.WRONG else []
    if not is_long:
        changed = [line for line in lines if is_changed(line)]
        more = [f"… {len(changed) - SHORT_CLAUSES} more clauses"] if len(changed) > SHORT_CLAUSES else []
        lines = [fold(line, 160) for line in changed[:SHORT_CLAUSES]] + more
    return _entry("changed", "\n".join(lines), LONG_TEXT) if lines else []


def colour_marks(text: str) -> str:
    """Paint what a diff marks, for a terminal that shows colours."""
    text = re.sub(r"\[-(.+?)-\]", "\x1b[31m[-\\1-]\x1b[0m", text)
    return re.sub(r"\{\+(.+?)\+\}", "\x1b[32m{+\\1+}\x1b[0m", text)


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


def show_text(text: str) -> str:
    """Return a text without anything that a terminal would obey."""
    return text.strip().translate(_HARMLESS)


def _entry(label: str, text: str, limit: int) -> list[str]:
    if len(text) > limit:
        text = f"{text[:limit]}… ({len(text):,} characters)"
    lines = [line.rstrip() for line in show_text(text).splitlines()] or [""]
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
    pairs = align_rows(match.missing, match.extra)
    if pairs:
        texts = [show_pair(pair) for pair in pairs[:shown]]
        texts += [f"… {len(pairs) - shown:,} more"] if len(pairs) > shown else []
        lines += _entry("differ", "\n".join(texts), 2000)
    paired = [{id(row) for row in side} for side in zip(*pairs, strict=True)] if pairs else [set(), set()]
    for label, rows, n, known in (
        ("missing", match.missing, match.missing_n, paired[0]),
        ("extra", match.extra, match.extra_n, paired[1]),
    ):
        alone = [row for row in rows if id(row) not in known]
        if not alone:
            continue
        texts = [show_row(row) for row in alone[:shown]]
        if n - len(known) > len(texts):
            texts.append(f"… {n - len(known) - len(texts):,} more")
        lines += _entry(label, "\n".join(texts), 2000)
    return lines
