"""Wrong predictions with a known mutation are diagnosed as that mutation."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.triage import Cause, diagnose
from pytest_sqlbench.verdict import Outcome, Reason, Verdict

ROOT = Path(__file__).parent.parent
SUITES = ("bikes", "clinic", "library", "shop")


def read_labelled() -> list[tuple[str, Cause]]:
    """Return (label, primary cause) of every labelled wrong prediction."""
    found = []
    for name in SUITES:
        suite = load_suite(ROOT / "cases" / f"{name}.yaml")
        for line in (ROOT / "tests" / "wrong_queries" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            case = suite.find_case(entry["id"])
            reason = Reason.NO_SUCH_COLUMN if entry["label"] == "hallucinated_name" else Reason.VALUES
            verdict = Verdict(name, case.id, Outcome.WRONG, reason=reason, gold=case.gold[0], sql=entry["sql"])
            diagnosis = diagnose(verdict, case.gold)
            assert diagnosis is not None
            found.append((entry["label"], diagnosis.primary))
    return found


def test_nine_of_ten_labelled_mutations_are_found_and_none_is_other() -> None:
    labelled = read_labelled()
    missed = Counter((label, cause.value) for label, cause in labelled if label != cause.value)
    assert len(labelled) >= 120
    assert sum(missed.values()) <= 0.1 * len(labelled), missed
    assert Cause.OTHER not in {cause for _, cause in labelled}


def test_the_documented_table_is_what_is_measured() -> None:
    labelled = read_labelled()
    right = Counter(label for label, cause in labelled if label == cause.value)
    lines = ["| mutation | n | primary cause is right |", "|---|---|---|"]
    lines += [f"| `{label}` | {n} | {right[label]} |" for label, n in sorted(Counter(a for a, _ in labelled).items())]
    lines.append(
        f"| all | {len(labelled)} | {sum(right.values())} ({100 * sum(right.values()) / len(labelled):.1f} %) |"
    )
    page = ROOT / "docs" / "triage.md"
    head, begin, rest = page.read_text(encoding="utf-8").partition("<!-- labelled -->\n")
    table, end, tail = rest.partition("<!-- end -->")
    if os.environ.get("SQLBENCH_WRITE_DOCS"):
        page.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")
    assert table == "\n".join(lines) + "\n", "run SQLBENCH_WRITE_DOCS=1 pytest tests/test_triage.py"


def test_case_of_a_value_is_a_difference_and_case_of_a_name_is_none() -> None:
    gold = "SELECT title FROM books WHERE genre = 'Poetry'"
    for sql, cause in ((gold.replace("P", "p"), Cause.FILTER_VALUE), (gold.replace("genre", "GENRE"), Cause.OTHER)):
        diagnosis = diagnose(Verdict("s", "c", Outcome.WRONG, reason=Reason.VALUES, gold=gold, sql=sql))
        assert diagnosis is not None
        assert diagnosis.primary is cause


GOLD = "SELECT a.x FROM t AS a JOIN u AS b ON b.id = a.id WHERE a.y = 1 AND a.z > 2 ORDER BY a.x LIMIT 3"


@pytest.mark.parametrize(
    "sql, cause",
    [
        ("SELECT a.x FROM t a, u b WHERE a.id = b.id AND a.y = 1 AND a.z > 2 ORDER BY a.x LIMIT 3", Cause.OTHER),
        ("SELECT x FROM t JOIN u ON t.id = u.id WHERE y = 1 AND 2 < z ORDER BY x LIMIT 3", Cause.OTHER),
        (GOLD.replace("a.y = 1", "a.y = 2"), Cause.FILTER_VALUE),
        (GOLD.replace("a.z > 2", "a.z >= 2"), Cause.FILTER_OPERATOR),
        (GOLD.replace("a.z > 2", "a.w > 2"), Cause.FILTER_COLUMN),
        (GOLD.replace(" AND a.z > 2", ""), Cause.FILTER_MISSING),
        (GOLD.replace("SELECT a.x", "SELECT b.x"), Cause.COLUMN),
        (GOLD.replace("LIMIT 3", "LIMIT 4"), Cause.LIMIT),
        (GOLD.replace("ORDER BY a.x", "ORDER BY a.x DESC"), Cause.ORDERING),
        (GOLD.replace("SELECT a.x", "SELECT DISTINCT a.x"), Cause.DISTINCT),
        ("SELECT (((", Cause.OTHER),
        ("", Cause.OTHER),
    ],
)
def test_one_change_has_its_cause(sql: str, cause: Cause) -> None:
    diagnosis = diagnose(Verdict("s", "c", Outcome.WRONG, reason=Reason.VALUES, gold=GOLD, sql=sql))
    assert diagnosis is not None
    assert diagnosis.primary is cause


def test_a_hallucinated_name_has_its_nearest() -> None:
    verdict = Verdict(
        "s", "c", Outcome.WRONG, reason=Reason.NO_SUCH_COLUMN, detail="no such column: a.custmer", sql="x"
    )
    diagnosis = diagnose(verdict, names=["customer", "city"])
    assert diagnosis is not None
    assert diagnosis.hint == "there is no 'custmer'; the nearest name is 'customer'"


def test_only_wrong_cases_have_a_cause() -> None:
    assert diagnose(Verdict("s", "c", Outcome.CORRECT)) is None
    assert diagnose(Verdict("s", "c", Outcome.GOLD_ERROR)) is None


def test_nothing_that_a_model_writes_raises() -> None:
    for sql in ("SELECT " + "(" * 5000, "\0", "SELECT 1 " * 3000, "WITH a AS (SELECT 1) SELECT * FROM a, a b, a c"):
        verdict = Verdict("s", "c", Outcome.WRONG, reason=Reason.VALUES, gold="SELECT 1", sql=sql)
        assert diagnose(verdict) is not None


@pytest.mark.parametrize(
    "parts, detail, causes",
    [
        (["wrong_aggregate"], "aggregate MAX is not none", (Cause.AGGREGATE,)),
        (["wrong_column", "wrong_value"], "…", (Cause.FILTER_VALUE, Cause.COLUMN)),
        (["wrong_condition"], "condition 'No.' = 3 is missing", (Cause.FILTER_MISSING,)),
        (["wrong_condition"], "condition 'No.' = 3 is too many", (Cause.FILTER_EXTRA,)),
    ],
)
def test_parts_of_a_logical_form_are_causes_without_any_parsing(
    parts: list[str], detail: str, causes: tuple[Cause, ...]
) -> None:
    facts = {"differences": parts}
    verdict = Verdict("web", "dev-00001", Outcome.WRONG, reason=Reason(parts[0]), detail=detail, sql="(", facts=facts)
    diagnosis = diagnose(verdict)
    assert diagnosis is not None
    assert (diagnosis.primary, diagnosis.causes, diagnosis.hint) == (causes[0], causes, detail)
