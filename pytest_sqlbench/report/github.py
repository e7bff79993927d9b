"""A run for GitHub Actions: the step summary as Markdown, and annotations as workflow commands. Pure text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from pytest_sqlbench.comparison import Comparison, Pair
from pytest_sqlbench.gate import GateResult
from pytest_sqlbench.report.cells import fold
from pytest_sqlbench.report.comparison import HEAD, table_rows
from pytest_sqlbench.report.failure import headline
from pytest_sqlbench.report.tables import show_rate
from pytest_sqlbench.run import Run, accuracy, split_by_suite
from pytest_sqlbench.verdict import Verdict

SHOWN_CASES = 30
SHOWN_TEXT = 2000
SHOWN_ANNOTATIONS = 10
"""GitHub shows ten warnings of a step and drops the rest."""

Locate = Callable[[Verdict], tuple[str, int]]
"""From a verdict to the file of its case below the repository, and the line; an empty file where nobody knows."""


def describe_step(
    run: Run, comparison: Comparison | None, gates: Sequence[GateResult], obstacle: str = "", language: str = "sql"
) -> str:
    """Return the step summary.

    Args:
        run: With at least one verdict.
        comparison: With the baseline, if there is one.
        gates: What the rules came to.
        obstacle: Why the gates were not evaluated; empty if they were.
        language: Of the code blocks.
    """
    parts = [f"## {_verdict_word(gates, obstacle)}text-to-SQL: {escape(run.fingerprint.model or 'no model')}"]
    if obstacle:
        parts.append(f"The gate was not evaluated: {escape(obstacle)}.")
    parts += ["\n".join(f"- {'✅' if one.is_met else '❌'} {escape(one.text)}" for one in gates)] if gates else []
    parts.append(table(("suite", "n", "accuracy", "95 % interval", "errors"), _suite_rows(run)))
    if comparison is not None:
        parts += _comparison_parts(comparison, language)
    return "\n\n".join(parts) + "\n"


def _verdict_word(gates: Sequence[GateResult], obstacle: str) -> str:
    if obstacle or not gates:
        return ""
    return "✅ " if all(one.is_met for one in gates) else "❌ "


def _suite_rows(run: Run) -> list[tuple[str, ...]]:
    suites = split_by_suite(run.verdicts)
    groups = [*suites.items(), *([("all", list(run.verdicts))] if len(suites) > 1 else [])]
    rows: list[tuple[str, ...]] = []
    for name, verdicts in groups:
        errors = sum(verdict.is_trouble for verdict in verdicts)
        try:
            score = accuracy(verdicts)
        except ValueError:
            rows.append((name, "0", "n/a", "", f"{errors:,}"))
        else:
            rows.append((name, f"{score.n:,}", *show_rate(score), f"{errors:,}"))
    return rows


def _comparison_parts(comparison: Comparison, language: str) -> list[str]:
    parts = [f"### Compared with {escape(comparison.baseline.name or 'the baseline')}"]
    if comparison.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in comparison.notes))
    if comparison.pairs:
        parts.append(table(HEAD, table_rows(comparison)))
    counts = [
        f"{len(group):,} {word}"
        for word, group in (
            ("new", comparison.new),
            ("removed", comparison.removed),
            ("edited", comparison.edited),
            ("not answered", comparison.unanswered),
            ("flaky", comparison.flaky),
        )
        if group
    ]
    parts += [f"Cases that are not compared or not stable: {', '.join(counts)}."] if counts else []
    if comparison.regressed:
        parts.append(f"### Regressed: {len(comparison.regressed):,}")
        parts += [fold_case(pair.new.shown, language) for pair in comparison.regressed[:SHOWN_CASES]]
        if len(comparison.regressed) > SHOWN_CASES:
            parts.append(f"… and {len(comparison.regressed) - SHOWN_CASES:,} more.")
    return parts


def fold_case(verdict: Verdict, language: str, cause: str = "") -> str:
    """Return one case as a block that opens at a click; everything a model wrote is inert."""
    title = f"<code>{escape(f'{verdict.suite}[{verdict.case}]')}</code> {escape(headline(verdict))}"
    blocks = [f"<details><summary>{title}</summary>", f"**Question** {escape(fold(verdict.question, SHOWN_TEXT))}"]
    blocks += [f"**Cause** {escape(fold(cause, SHOWN_TEXT))}"] if cause else []
    blocks += ["**Gold**", _fence(verdict.gold, language)]
    answer = verdict.sql if verdict.sql is not None else verdict.reply
    blocks += ["**Prediction**", _fence("(none)" if answer is None else answer, language)]
    return "\n\n".join([*blocks, "</details>"])


def annotate(gates: Iterable[GateResult], regressed: Sequence[Pair], locate: Locate) -> list[str]:
    """Return workflow commands: one error for all missed gates, one warning at each of the first regressed cases."""
    missed = [one.text for one in gates if not one.is_met]
    lines = [f"::error title=sqlbench gate missed::{_command_text('; '.join(missed))}"] if missed else []
    for pair in regressed[:SHOWN_ANNOTATIONS]:
        verdict = pair.new.shown
        file, line = locate(verdict)
        place = f"file={_command_value(file)},line={line or 1}," if file else ""
        title = _command_value(f"regressed: {verdict.suite}[{verdict.case}]")
        text = _command_text(f"{headline(verdict)}\n{fold(verdict.question, 300)}")
        lines.append(f"::warning {place}title={title}::{text}")
    return lines


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, the first column to the left and all others to the right."""
    lines = ["| " + " | ".join(head) + " |", "|:--" + "|--:" * (len(head) - 1) + "|"]
    lines += ["| " + " | ".join(escape(cell.strip()) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _fence(text: str, language: str) -> str:
    """Put a text into a code block that nothing inside it can end."""
    shown = text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}… ({len(text):,} characters)"
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown.rstrip()}\n{fence}"


def escape(text: str) -> str:
    """Make a text inert in Markdown, in a table and in HTML, on one line."""
    return re.sub(r"[\\`*_\[\]#|<>&~@$]", lambda found: f"&#{ord(found[0])};", " ".join(text.split()))


def _command_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _command_value(text: str) -> str:
    return _command_text(text).replace(":", "%3A").replace(",", "%2C")
