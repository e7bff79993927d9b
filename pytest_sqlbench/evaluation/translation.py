"""Writes a prediction in the dialect of its case, where the suite says that models answer in another one."""

from __future__ import annotations

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.scoring.sqltext import translate
from pytest_sqlbench.verdict import Draft


def write_statement(sql: str, case: Case, suite: Suite, draft: Draft) -> str:
    """Return what is to run, and add a note of it to the draft of the verdict.

    Nothing changes unless the suite has the setting ``transpile_from``. ``sql`` of the verdict stays what the model
    wrote; what runs is ``facts["ran"]``. A text that does not parse runs as it is.
    """
    source = suite.settings.get("transpile_from")
    if not source or case.dialect in (source, "sparql"):
        return sql
    written = translate(sql, source, case.dialect)
    step = f"not translated from {source}" if written is None else f"translated from {source}"
    draft["extraction"] = (*draft["extraction"], step)
    if written is None:
        return sql
    draft["facts"] = {**draft.get("facts", {}), "ran": written}
    return written
