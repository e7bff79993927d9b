"""The ACME paper's table: accuracy per quadrant of question and schema, SQL beside SPARQL. Lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sqlbench.report.tables import align, show_rate
from pytest_sqlbench.run import accuracy, split_by_suite
from pytest_sqlbench.verdict import Outcome, Verdict

QUADRANTS = ("LQLS", "HQLS", "LQHS", "HQHS")
"""Low or high complexity of the question (Q) and of the schema (S), in the paper's order; a case's difficulty."""

LANGUAGES = {"sql": "SQL", "sparql": "SPARQL"}
"""Tag of a case to the heading of its column."""


def describe_quadrants(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of each suite whose cases have quadrants; nothing where there is none.

    A cell is the average overall execution accuracy (AOEA): per question the share of its samples that are right,
    then the mean over questions. ``all`` is the mean over all questions, not over the four quadrants.

    Source: Sequeda, Allemang and Jacob 2023, arXiv 2311.07509, section 5.
    """
    lines: list[str] = []
    for suite, group in split_by_suite(verdicts).items():
        scored = [one for one in group if one.difficulty in QUADRANTS and one.outcome is not Outcome.UNSCORABLE]
        columns = {tag: [one for one in scored if tag in one.tags] for tag in LANGUAGES}
        columns = {tag: part for tag, part in columns.items() if part}
        if columns:
            lines += _table(suite, columns)
    return lines


def _table(suite: str, columns: dict[str, list[Verdict]]) -> list[str]:
    head = [f"AOEA of {suite}"]
    for tag in columns:
        head += ["n", LANGUAGES[tag], "95 % interval"]
    rows = [head]
    for name in (*QUADRANTS, "all"):
        row = [name]
        for group in columns.values():
            row += _cells([one for one in group if name in (one.difficulty, "all")])
        rows.append(row)
    return align(rows)


def _cells(group: Sequence[Verdict]) -> list[str]:
    if not group:
        return ["0", "n/a", ""]
    score = accuracy(group)
    return [f"{score.n:,}", *show_rate(score)]
