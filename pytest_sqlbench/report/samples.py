"""What several samples of each case add to the summary: pass@k, pass^k and the cases that are not stable."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sqlbench.report.tables import show_rate, wrap
from pytest_sqlbench.run import pass_at, tally_cases
from pytest_sqlbench.verdict import Verdict

SHOWN_CASES = 10


def describe_samples(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the lines; none where every case has one sample."""
    if not any(verdict.sample for verdict in verdicts):
        return []
    tallies = tally_cases(verdicts).values()
    scorable = [tally for tally in tallies if tally.is_scorable]
    fewest = min((tally.samples for tally in scorable), default=1)
    if fewest < 2:
        return []
    cells = [f"{fewest} for each of {len(scorable):,} cases"]
    for name, all_right in ((f"pass@{fewest}", False), (f"pass^{fewest}", True)):
        rate, interval = show_rate(pass_at(verdicts, fewest, all_right=all_right))
        cells.append(f"{name} {rate} ({interval})")
    flaky = [tally.key for tally in scorable if tally.is_flaky]
    lines = wrap("samples", cells, "")
    if flaky:
        more = f", … {len(flaky) - SHOWN_CASES:,} more" if len(flaky) > SHOWN_CASES else ""
        names = [f"{suite}[{case}]" for suite, case in flaky[:SHOWN_CASES]]
        lines += wrap("flaky", [f"{len(flaky):,}: {names[0]}", *names[1:]], more)
    return lines
