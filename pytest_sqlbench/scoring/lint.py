"""What may be wrong with a gold, its question and its suite: the findings, and those that texts alone show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.scoring.sql_doubts import find_doubts
from pytest_sqlbench.scoring.words import scan_words


class Severity(str, Enum):
    """How bad a finding is."""

    ERROR = "error"
    """The case cannot be scored."""
    WARNING = "warning"
    """The gold may be wrong, or right answers may be called wrong."""
    NOTE = "note"
    """Worth knowing; nothing has to be done."""


RULES: dict[str, tuple[Severity, str]] = {
    "gold_fails": (Severity.ERROR, "the gold does not run"),
    "gold_differs_from_itself": (Severity.ERROR, "the gold run twice does not match itself"),
    "arbitrary_cut": (Severity.WARNING, "LIMIT cuts through rows that tie, or there is no ORDER BY"),
    "blank_evidence": (Severity.WARNING, "the evidence holds spaces only"),
    "blank_question": (Severity.WARNING, "the question is empty"),
    "compares_with_null": (Severity.WARNING, "= NULL or <> NULL is never true"),
    "constant_aggregate": (Severity.WARNING, "COUNT of an expression that is never NULL counts every row"),
    "duplicate_question": (Severity.WARNING, "two cases ask the same of one database, with other golds"),
    "empty": (Severity.WARNING, "the gold returns no row: every empty prediction is right"),
    "golds_disagree": (Severity.WARNING, "two golds of one case give other rows of the same shape"),
    "order_dependent": (Severity.WARNING, "the result changes with the order in which rows are stored"),
    "relative_date": (Severity.WARNING, "the gold depends on today's date"),
    "slow": (Severity.WARNING, "the gold takes long"),
    "text_sort": (Severity.WARNING, "numbers stored as text are ordered as text"),
    "unstable": (Severity.WARNING, "the gold calls a function that changes from run to run"),
    "golds_differ_in_shape": (Severity.NOTE, "golds of one case return other columns"),
    "misquoted": (Severity.NOTE, "a double-quoted text is read as a string by grace of SQLite"),
    "null_only": (Severity.NOTE, "the gold returns NULL and nothing else"),
    "noisy_fractions": (Severity.NOTE, "sums of fractions change in their last digits with the order of rows"),
    "repeated_question": (Severity.NOTE, "two cases ask the same of one database, with the same gold"),
    "repeated_rows": (Severity.NOTE, "the gold repeats rows: a DISTINCT may be missing"),
    "ties": (Severity.NOTE, "rows tie under ORDER BY; their order is not compared"),
    "unparsed": (Severity.NOTE, "the gold's text was not understood, so not all checks were made"),
}
"""Name of a finding to its severity and what it means; the documentation prints this table."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one case that a person should look at."""

    suite: str
    case: str
    rule: str
    """A key of `RULES`."""
    detail: str = ""
    """What was found in this case, one line."""
    line: int = 0

    @property
    def severity(self) -> Severity:
        """As `RULES` has it."""
        return RULES[self.rule][0]

    @property
    def key(self) -> str:
        """What names it in a baseline of accepted findings: ``suite/case rule``."""
        return f"{self.suite}/{self.case} {self.rule}"


def lint_text(case: Case) -> list[Finding]:
    """Return what the texts of a case show, without running anything."""
    found: list[Finding] = []

    def add(rule: str, detail: str = "") -> None:
        if all((finding.rule, finding.detail) != (rule, detail) for finding in found):
            found.append(Finding(case.suite, case.id, rule, detail, case.line))

    if not case.question.strip():
        add("blank_question")
    if case.evidence and not case.evidence.strip():
        add("blank_evidence")
    for gold in case.gold:
        if moment := _relative_date(gold):
            add("relative_date", moment)
        for rule, detail in find_doubts(gold, case.dialect):
            add(rule, detail)
    return found


_TODAY = frozenset(
    "current_date current_time current_timestamp now getdate curdate sysdate today localtimestamp".split()
)
_NOW = re.compile(r"\(\s*'(now|today)'", re.IGNORECASE)


def _relative_date(sql: str) -> str:
    if found := _NOW.search(sql):
        return f"'{found[1]}'"
    folded = sql.lower()
    if not any(word in folded for word in _TODAY):
        return ""
    for word in scan_words(sql):
        is_call = sql[word.end :].lstrip().startswith("(")
        if word.text in _TODAY and (is_call or word.text.startswith("current_")):
            return word.text
    return ""


def lint_suite(suite: Suite) -> list[Finding]:
    """Return what only the cases of a suite together show: questions that stand twice."""
    first: defaultdict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for case in suite.cases:
        if case.question.strip():
            first[case.database, _fold(case.question), _fold(case.evidence)].append(case)
    found: list[Finding] = []
    for cases in first.values():
        for case in cases[1:]:
            is_same = [*map(_fold, case.gold)] == [*map(_fold, cases[0].gold)]
            rule = "repeated_question" if is_same else "duplicate_question"
            if case.engine == cases[0].engine:
                found.append(Finding(case.suite, case.id, rule, f"as case {cases[0].id}", case.line))
    return found


def _fold(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" ?.!;")


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the highest severity; None without findings."""
    found = {finding.severity for finding in findings}
    return next((severity for severity in Severity if severity in found), None)
