"""Diffs of queries and rows as a failed case shows them."""

from __future__ import annotations

import pytest

from pytest_sqlbench.report.failure import colour_marks, describe_failure
from pytest_sqlbench.report.query_diff import diff_queries
from pytest_sqlbench.report.row_diff import align_rows, show_pair
from pytest_sqlbench.verdict import Match, Outcome, Reason, Verdict

GOLD = "SELECT a.x, SUM(b.y) FROM t AS a JOIN u AS b ON b.id = a.id WHERE a.y BETWEEN 1 AND 2 GROUP BY a.x LIMIT 3"


@pytest.mark.parametrize(
    "predicted, wanted",
    [
        (GOLD.replace("BETWEEN 1", "between 5"), ["WHERE a.y BETWEEN [-1-] {+5+} AND 2"]),
        (GOLD.replace(" LIMIT 3", ""), ["[-LIMIT 3-]"]),
        (GOLD.replace("JOIN", "LEFT JOIN"), ["{+LEFT+} JOIN u ON b.id = a.id"]),
        (GOLD.replace("SUM", "AVG"), ["SELECT a.x, [-SUM-] {+AVG+} (b.y)"]),
        (GOLD.replace("b.y", "a.y"), ["SELECT a.x, SUM( [-b.y-] {+a.y+} )"]),
        (GOLD.replace("GROUP BY a.x", "GROUP BY a.x HAVING 1"), ["{+HAVING 1+}"]),
    ],
)
def test_only_what_differs_is_marked(predicted: str, wanted: list[str]) -> None:
    assert [line for line in diff_queries(GOLD, predicted) if "[-" in line or "{+" in line] == wanted


@pytest.mark.parametrize(
    "predicted",
    [
        GOLD,
        GOLD.lower(),
        GOLD.replace(" AS ", " "),
        GOLD.replace("JOIN", "INNER\nJOIN") + ";",
        "SELECT t.x, SUM(u.y) FROM t JOIN u ON u.id = t.id WHERE t.y BETWEEN 1 AND 2 GROUP BY x LIMIT 3",
    ],
)
def test_aliases_qualifiers_and_case_are_no_difference(predicted: str) -> None:
    assert diff_queries(GOLD, predicted) == []


@pytest.mark.parametrize("predicted", ["", "INSERT 1", "(" * 9999, "SELECT " + "x, " * 500, "\0'\"", "."])
def test_any_text_can_be_compared(predicted: str) -> None:
    assert diff_queries(GOLD, predicted) == []


def test_rows_are_aligned_by_the_column_that_tells_most_of_them_apart() -> None:
    gold = [("pen", 1, 1.5), ("pad", 1, 3.0), ("cup", 1, 4.0)]
    predicted = [("pad", 1, 30.0), ("pen", 1, None), ("jug", 1, 5.0)]
    pairs = align_rows(gold, predicted)
    assert [show_pair(pair) for pair in pairs] == ["('pen', 1, [-1.5-]{+NULL+})", "('pad', 1, [-3.0-]{+30.0+})"]


@pytest.mark.parametrize(
    "missing, extra",
    [([("a", 1)], []), ([("a",)], [("b",)]), ([("a", 1)], [("a", 1, 2)]), ([("a", 1), ("a", 2)], [("a", 3)])],
)
def test_rows_without_a_key_are_not_aligned(missing: list[tuple[object, ...]], extra: list[tuple[object, ...]]) -> None:
    assert align_rows(missing, extra) == []


def wrong(sql: str) -> Verdict:
    match = Match(False, Reason.VALUES, missing=(("pen", 1.5), ("cup", 2)), extra=(("pen", 2.5),), missing_n=9)
    return Verdict("s", "c", Outcome.WRONG, reason=Reason.VALUES, gold=GOLD, sql=sql, match=match)


def test_a_failed_case_shows_changed_clauses_and_aligned_rows() -> None:
    text = describe_failure(wrong(GOLD.replace("LIMIT 3", "LIMIT 4")))
    assert "changed    LIMIT [-3-] {+4+}\n" in text
    assert "differ     ('pen', [-1.5-]{+2.5+})\nmissing    ('cup', 2)\n           … 7 more" in text
    assert "extra" not in text
    assert "FROM t AS a" not in text.partition("changed")[2]
    assert "FROM t" in describe_failure(wrong(GOLD.replace("LIMIT 3", "LIMIT 4")), is_long=True).partition("changed")[2]


def test_a_terminal_does_not_obey_a_model() -> None:
    text = describe_failure(wrong("SELECT '\x1b[2J\x07'"))
    assert "\x1b" not in text
    assert "SELECT '␛[2J␇'" in text


def test_marks_are_painted() -> None:
    assert colour_marks("a [-1-] {+2+}") == "a \x1b[31m[-1-]\x1b[0m \x1b[32m{+2+}\x1b[0m"
