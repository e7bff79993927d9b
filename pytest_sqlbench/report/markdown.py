"""A run as Markdown, for a pull request or a wiki: figures, gates, causes and the first wrong cases. Pure text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_sqlbench.comparison import Comparison
from pytest_sqlbench.gate import GateResult
from pytest_sqlbench.report.causes import count_causes
from pytest_sqlbench.report.github import describe_step, escape, fold_case, table
from pytest_sqlbench.report.summary import describe_fingerprint
from pytest_sqlbench.run import Run
from pytest_sqlbench.triage import Diagnosis
from pytest_sqlbench.verdict import Outcome

SHOWN_WRONG = 30


def render_markdown(
    run: Run,
    diagnoses: Mapping[int, Diagnosis],
    comparison: Comparison | None = None,
    gates: Sequence[GateResult] = (),
    obstacle: str = "",
) -> str:
    """Return the report of a run as Markdown.

    Args:
        run: With at least one verdict.
        diagnoses: Position of a wrong verdict in the run to its causes.
        comparison: With the baseline, if there is one.
        gates: What the rules came to.
        obstacle: Why the gates were not evaluated; empty if they were.
    """
    parts = [describe_step(run, comparison, gates, obstacle).rstrip("\n")]
    if diagnoses:
        total = len(diagnoses)
        rows = [
            (cause.value.replace("_", " "), f"{n:,}", f"{100 * n / total:.1f} %")
            for cause, n in count_causes(diagnoses.values())
        ]
        parts += [f"### Wrong by cause (n={total:,})", table(("cause", "n", "share"), rows)]
    wrong = [place for place, verdict in enumerate(run.verdicts) if verdict.outcome is Outcome.WRONG]
    if wrong:
        parts.append(f"### Wrong: {len(wrong):,}")
        parts += [fold_case(run.verdicts[place], "sql", _cause(diagnoses.get(place))) for place in wrong[:SHOWN_WRONG]]
        if len(wrong) > SHOWN_WRONG:
            parts.append(f"… and {len(wrong) - SHOWN_WRONG:,} more.")
    origin = " ".join(" ".join(describe_fingerprint(run.fingerprint)).split())
    return "\n\n".join([*parts, escape(origin)]) + "\n"


def _cause(diagnosis: Diagnosis | None) -> str:
    if diagnosis is None:
        return ""
    causes = ", ".join(cause.value.replace("_", " ") for cause in diagnosis.causes)
    return f"{causes} ({diagnosis.hint})" if diagnosis.hint else causes
