"""What the summary and a failed case say of clauses."""

from __future__ import annotations

from pytest_sqlbench.report.clauses import describe_clause_scores, describe_components
from pytest_sqlbench.report.failure import describe_failure
from pytest_sqlbench.report.summary import describe_summary
from pytest_sqlbench.verdict import Verdict
from tests.verdicts import make_verdict

COMPONENTS = [
    {"name": "select", "matched": ["a"], "missing": [], "extra": []},
    {"name": "where", "matched": ["="], "missing": ["b", "1"], "extra": ["c"]},
    {"name": "order", "matched": [f"c{n}" for n in range(15)], "missing": [], "extra": []},
]


def scored(case: str, letter: str, f1: float, em: float, **more: object) -> Verdict:
    figures = {"pcm_f1": f1, "pcm_em": em, "clause_f1": f1 / 2, "f1_select": f1}
    return make_verdict(case, letter, "sede", metric="pcm_f1", **{"scores": figures, **more})


VERDICTS = [
    scored("1", "c", 1.0, 1.0),
    scored("2", "w", 0.5, 0.0),
    scored("3", "w", 0.0, 0.0, flags=("invalid",)),
    make_verdict("4", "u", "sede", metric="pcm_f1"),
]


def test_suite_shows_means_with_their_n() -> None:
    head, components = describe_clause_scores(VERDICTS)
    assert head.startswith("sede: pcm_f1 0.50000 (95 % ")
    assert head.endswith("), pcm_em 0.33333, clause_f1 0.25000; 3 scored, 1 unscorable, 1 invalid predictions")
    assert components == "  f1 by component: select 0.500 of 3"


def test_summary_holds_them() -> None:
    assert set(describe_clause_scores(VERDICTS)) <= set(describe_summary(VERDICTS))


def test_other_metrics_and_no_verdicts_show_nothing() -> None:
    assert describe_clause_scores([make_verdict("1", "c")]) == []
    assert describe_clause_scores([]) == []


def test_suite_without_a_scorable_gold_has_no_mean() -> None:
    assert describe_clause_scores(VERDICTS[3:]) == ["sede: pcm_f1 n/a, 0 scored, 1 unscorable"]


def test_suite_without_an_answer_has_no_mean() -> None:
    failed = make_verdict("1", "m", "sede", metric="pcm_f1")
    assert describe_clause_scores([failed]) == ["sede: pcm_f1 n/a, no answer was judged, 0 unscorable"]


def test_name_of_the_other_parser_is_in_every_figure() -> None:
    verdict = make_verdict(
        "1", "c", "shop", metric="pcm_f1[sqlglot]",
        scores={"pcm_f1[sqlglot]": 1.0, "pcm_em[sqlglot]": 1.0, "clause_f1[sqlglot]": 1.0},
    )  # fmt: skip
    (line,) = describe_clause_scores([verdict])
    assert line.count("[sqlglot]") == 3


def test_components_stand_side_by_side() -> None:
    verdict = scored("2", "w", 0.5, 0.0, facts={"components": COMPONENTS}, sql="select 1")
    lines = describe_components(verdict)
    assert lines == [
        "select  0.50  matched: a; nested items differ",
        "where   0.00  matched: =; missing: b 1; extra: c",
        "order   0.00  matched: c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 … 3 more; nested items differ",
    ]
    assert all(line in describe_failure(verdict) for line in lines)
