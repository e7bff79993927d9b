"""Why the wrong cases of a run are wrong, as one paragraph of the summary and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_sqlbench.report.tables import wrap
from pytest_sqlbench.triage import Cause, Diagnosis

SHOWN_CAUSES = 8


def count_causes(diagnoses: Iterable[Diagnosis]) -> list[tuple[Cause, int]]:
    """Count primary causes, the most frequent first; equal ones in the order of `Cause`."""
    counts = Counter(diagnosis.primary for diagnosis in diagnoses)
    order = list(Cause)
    return sorted(counts.items(), key=lambda pair: (-pair[1], order.index(pair[0])))


def describe_causes(diagnoses: Iterable[Diagnosis], wrong: int) -> list[str]:
    """Return the lines of the summary.

    Args:
        diagnoses: Of the wrong cases, or of the first of them.
        wrong: How many wrong cases there are in all.
    """
    known = list(diagnoses)
    if not known:
        return []
    counts = count_causes(known)
    cells = [f"{cause.value.replace('_', ' ')} {n:,}" for cause, n in counts[:SHOWN_CAUSES]]
    more = f" (and {len(counts) - SHOWN_CAUSES} more)" if len(counts) > SHOWN_CAUSES else ""
    part = f" (of the first {len(known):,} of {wrong:,} wrong)" if len(known) < wrong else ""
    return wrap("causes", cells, more + part)
