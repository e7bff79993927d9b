"""Writes a prediction in the dialect of its case, where the suite says that models answer in another one."""

from __future__ import annotations

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.scoring.sqltext import translate
from pytest_sqlbench.verdict import Verdict, amend


def write_statement(sql: str, case: Case, suite: Suite, verdict: Verdict) -> tuple[str, Verdict]:
    """Return what is to run, and the verdict with a note of it.

    Nothing changes unless the suite has the setting ``transpile_from``. `Verdict.sql` stays what the model wrote; what
    runs is ``facts["ran"]``. A text that does not parse runs as it is.
    """
    source = suite.settings.get("transpile_from")
    if not source or case.dialect in (source, "sparql"):
        return sql, verdict
    written = translate(sql, source, case.dialect)
    if written is None:
        return sql, amend(verdict, extraction=(*verdict.extraction, f"not translated from {source}"))
    steps = (*verdict.extraction, f"translated from {source}")
    return written, amend(verdict, extraction=steps, facts={**verdict.facts, "ran": written})
