"""No text can make the scorer crash or take long; time is CPU time of this process."""

from __future__ import annotations

import contextlib
import time

import pytest

from pytest_sqlbench import pcm_score
from pytest_sqlbench.errors import UnscorableGold
from pytest_sqlbench.scoring.pcm.cleaning import MAX_CHARACTERS
from pytest_sqlbench.scoring.pcm.cursor import MAX_CHAIN

GOLD = "select a, f(b) from t join u on t.a = u.b where a = 1 and b = 2 group by a order by a"
DEADLINE_S = 2.0


def filled(piece: str, start: str = "", end: str = "") -> str:
    """Repeat a piece up to the greatest length that is read."""
    return start + piece * ((MAX_CHARACTERS - len(start) - len(end)) // len(piece)) + end


def numbered(piece: str, count: int, by: str) -> str:
    return by.join(piece.replace("#", str(number)) for number in range(count))


HOSTILE = {
    "megabyte": "select " + "a, " * 350_000 + "b from t",
    "long_list": filled("a,", "select ", "b from t"),
    "parentheses": "select " + "(" * 5000 + "a" + ")" * 5000 + " from t",
    "spaced_parentheses": "select " + "( " * 5000 + "a" + ") " * 5000 + " from t",
    "nested_conditions": "select a from t where " + "( " * 50 + "a = 1" + ") " * 50,
    "nested_calls": "select " + "f( " * 50 + "a" + ") " * 50 + " from t",
    "nested_sub_queries": "select a from (" * 5000 + "t" + ") x" * 5000,
    "nested_ambiguous_sub_queries": "select " + "( " * 25 + "(select a from t)" + " + 1) " * 25 + " from t",
    "nested_ambiguous_joins": "select a from " + "( " * 25 + "(select a from t) a" + " join b on a.x = b.x) " * 25,
    "nested_partitions": "select " + "rank() over (partition by ( " * 12 + "a, b" + "), b)" * 12 + " from t",
    "chain_of_20000": "select a from t where " + " and ".join(["a = 1"] * 20_000),
    "longest_chain": "select a from t where " + numbered("a# = 1", MAX_CHAIN, " and "),
    "longest_chains": numbered(f"select # from t where {numbered('b# = 1', 400, ' or ')}", 8, " union "),
    "long_sum": filled("+a", "select a", " from t"),
    "long_cast": filled("::int", "select a", " from t"),
    "many_calls": "select " + numbered("f#(a#)", 3500, ",") + " from t",
    "many_joins": "select a from t " + numbered("join t# on t#.a = t.b", 1200, " "),
    "many_brackets": numbered("[a#]", 6000, ""),
    "open_brackets": filled("[", "", "]"),
    "nested_brackets": "[a " * 12_000 + "]" * 9_000,
    "parameters": filled("##a## ", "select "),
    "dashes": filled("--x ", "a\n"),
    "declares": filled("declare x ", "", ";"),
    "open_comments": filled("/*"),
    "quotes": filled("' "),
    "dots": filled("a.", "select ", "a from t"),
    "casts_open": filled("cast(", "select "),
    "cases_open": filled("case when ", "select "),
    "in_open": filled("a in (", "select a from t where "),
    "nots": filled("not ", "select a from t where "),
    "withs": filled("with a as ("),
    "digits": filled("9", "select "),
    "exponent": "select a from t where a = 1e999",
    "null_character": "select \0 from t",
    "surrogate": "select \ud800 from t",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_gets_an_answer_in_time(text: str) -> None:
    began = time.process_time()
    score = pcm_score(GOLD, text)
    assert 0.0 <= score.f1 <= 1.0
    assert time.process_time() - began < DEADLINE_S


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_gold_is_scored_or_unscorable_in_time(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(UnscorableGold):
        assert 0.0 <= pcm_score(text, GOLD).f1 <= 1.0
    assert time.process_time() - began < DEADLINE_S


def test_limit_of_a_chain_is_exact() -> None:
    """Up to `MAX_CHAIN` operators a condition is read, beyond that it is not."""
    longest = "select a from t where " + " and ".join(["b = 1"] * (MAX_CHAIN + 1))
    assert pcm_score(longest, longest).em == 1.0
    assert not pcm_score(GOLD, longest + " and b = 1").predicted_parsed
