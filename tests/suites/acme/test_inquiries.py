"""The questions come out as published: 44 of them, 43 in the paper, each in one quadrant and in both languages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.inquiries import QUADRANTS, read_inquiries
from tests.suites.acme import published

QUESTION = """\
@prefix q: <http://models.data.world/benchmarks/QandA#> .
@prefix t: <https://templates.data.world/> .
@prefix dct: <http://purl.org/dc/terms/> .
t:IQ_1 a q:Inquiry ; q:prompt "How  many?", "How\\nmany?" ; q:expects t:query-1, t:query-2 .
t:query-1 q:inLanguage q:SQL ; q:queryText "SELECT 1" ; dct:title "LQLS: one" .
"""
SPARQL = 't:query-2 q:inLanguage q:SPARQL ; q:queryText "ASK {}" ; dct:title "LQLS: one" .\n'


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "questions.ttl"
    path.write_text(text, encoding="utf-8")
    return path


def test_prompts_that_differ_in_white_space_are_one(tmp_path: Path) -> None:
    (inquiry,) = read_inquiries(_write(tmp_path, QUESTION + SPARQL))
    assert (inquiry.id, inquiry.question, inquiry.quadrant) == ("IQ_1", "How many?", "LQLS")
    assert [query.text for query in (*inquiry.sql, *inquiry.sparql)] == ["SELECT 1", "ASK {}"]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "no QandA:Inquiry"),
        (QUESTION + SPARQL.replace("LQLS", "HQHS"), "IQ_1 has 2 quadrants"),
        (QUESTION + SPARQL.replace("LQLS", "easy"), "begins with none of LQLS, HQLS, LQHS, HQHS"),
        (QUESTION + SPARQL.replace("SPARQL", "SQL"), "IQ_1 has 2 SQL and 0 SPARQL queries"),
        (QUESTION.replace("How  many?", "Who?") + SPARQL, "IQ_1 has 2 prompts"),
    ],
    ids=["no_question", "two_quadrants", "no_quadrant", "one_language", "two_prompts"],
)
def test_a_question_that_lacks_something_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        read_inquiries(_write(tmp_path, text))


@pytest.mark.parametrize("questions, counts", [("paper43", (12, 11, 10, 10)), ("all44", (13, 11, 10, 10))])
def test_quadrants_of_the_published_questions(questions: str, counts: tuple[int, ...]) -> None:
    found = Counter(inquiry.quadrant for inquiry in read_inquiries(published.turtle(), questions))
    assert tuple(found[quadrant] for quadrant in QUADRANTS) == counts


def test_a_number_does_not_move_with_the_question_set() -> None:
    everything = {inquiry.id: inquiry.number for inquiry in read_inquiries(published.turtle(), "all44")}
    papers = {inquiry.id: inquiry.number for inquiry in read_inquiries(published.turtle(), "paper43")}
    assert sorted(set(range(44)) - set(papers.values())) == [39]
    assert all(everything[id] == number for id, number in papers.items())
