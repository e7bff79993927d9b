"""The paper's table: per quadrant and language, with n and interval, averaged over questions."""

from __future__ import annotations

from dataclasses import replace

from pytest_sqlbench.report.quadrants import QUADRANTS, describe_quadrants
from pytest_sqlbench.report.summary import describe_summary
from pytest_sqlbench.verdict import Verdict
from tests.verdicts import make_samples, make_verdicts

COUNTS = (12, 11, 10, 10)


def _column(language: str, letters: tuple[str, ...], suite: str = "acme") -> list[Verdict]:
    found: list[Verdict] = []
    for quadrant, row in zip(QUADRANTS, letters, strict=True):
        for verdict in make_verdicts(row, suite, difficulty=quadrant, tags=(language,)):
            found.append(replace(verdict, case=f"{quadrant}-{verdict.case}-{language}"))
    return found


def test_sql_stands_beside_sparql_with_n_and_interval() -> None:
    sql = _column("sql", ("cccwwwwwwwww", "ccccwwwwwww", "wwwwwwwwww", "wwwwwwwwww"))
    sparql = _column("sparql", ("ccccccccwwww", "cccccccwwww", "ccccwwwwww", "ccccwwwwww"))
    assert describe_quadrants(sql + sparql) == [
        "AOEA of acme   n     SQL  95 % interval   n  SPARQL  95 % interval",
        "LQLS          12  25.0 %    8.9 to 53.2  12  66.7 %   39.1 to 86.2",
        "HQLS          11  36.4 %   15.2 to 64.6  11  63.6 %   35.4 to 84.8",
        "LQHS          10   0.0 %    0.0 to 27.8  10  40.0 %   16.8 to 68.7",
        "HQHS          10   0.0 %    0.0 to 27.8  10  40.0 %   16.8 to 68.7",
        "all           43  16.3 %    8.1 to 30.0  43  53.5 %   38.9 to 67.5",
    ]


def test_a_question_counts_with_the_share_of_its_samples() -> None:
    samples = make_samples(["cw", "cc", "ww", "ww"], "acme", difficulty="LQLS", tags=("sql",))
    lines = describe_quadrants(samples)
    assert lines[1].split()[:4] == ["LQLS", "4", "37.5", "%"]
    assert lines[2].split() == ["HQLS", "0", "n/a"]
    assert lines[5].split()[:4] == ["all", "4", "37.5", "%"]


def test_the_mean_over_questions_gives_the_papers_figures() -> None:
    # the published quadrants weigh by their 12, 11, 10 and 10 questions, not equally
    for rates, overall in (((25.5, 37.4, 0, 0), 16.7), ((71.1, 66.9, 35.7, 38.5), 54.2)):
        assert round(sum(rate * n for rate, n in zip(rates, COUNTS, strict=True)) / 43, 1) == overall


def test_suites_without_quadrants_have_no_table() -> None:
    assert describe_quadrants(make_verdicts("cw", difficulty="hard", tags=("sql",))) == []
    assert describe_quadrants(make_verdicts("cw", difficulty="LQLS", tags=("orders",))) == []
    assert describe_quadrants(make_verdicts("uu", difficulty="LQLS", tags=("sql",))) == []


def test_the_summary_shows_the_table() -> None:
    lines = describe_summary(make_verdicts("cw", "acme", difficulty="LQLS", tags=("sql",)))
    assert [line.split()[0] for line in lines[2:8]] == ["AOEA", "LQLS", "HQLS", "LQHS", "HQHS", "all"]
