"""Cleaning, step by step, with its bugs."""

from __future__ import annotations

import pytest

from pytest_sqlbench.scoring.pcm.cleaning import MAX_CHARACTERS, MAX_NAME, clean
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

ROWS = [
    ("brackets_become_strings", "select a as [Post Link] from t", 'select a as "post_link" from t'),
    ("brackets_in_a_string_lose_only_the_brackets", "select 'a[b c]d'", 'select "ab_cd"'),
    ("empty_brackets_stay", "select a[] from t", "select a[] from t"),
    ("every_occurrence_follows_the_first", "select [a b], '[a b]'", 'select "a_b", ""a_b""'),
    ("top_takes_its_default", "select top ##n:int?50## a", "select top (50)a"),
    ("top_takes_100_without_default", "select TOP (##n##) a", "select top (100) a"),
    ("parameter_becomes_a_string", "where b = ##Id:int## and", 'where b = "##id:int##" and'),
    ("parameter_in_a_string_stays", "where b = 'x##Id##y'", 'where b = "x##id##y"'),
    ("parameter_with_odd_default_stays_bare", "where b = ##d?1-2##", "where b = ##d?1-2##"),
    ("line_comment_eats_its_line_end", "a--c\nfrom", "afrom"),
    ("comment_at_the_start_is_text", "-- title\nselect a", "title select a"),
    ("rest_of_the_last_line_is_dropped", "select a -- b", "select a"),
    ("dashes_in_a_string_cut_it", "select 'x--y'", 'select "x'),
    ("block_comment_is_dropped", "select /* b */ a", "select a"),
    ("starred_block_comment_stays", "select /* b * c */ a", "select /* b * c */ a"),
    ("second_line_of_declare_is_left", "declare @a int,\n@b int\nselect a", "@b int select a"),
    ("declare_without_semicolon_becomes_select", "declare @a int select b", "selecta int select b"),
    ("unicode_prefix_is_dropped_twice", "in ( N'a', N'b', N'c')", 'in ( "a", "b", n"c")'),
    ("last_statement_is_kept", "use x; select a;", " select a"),
    ("format_with_a_space_stays", "select format(a), format (b)", "select convert(a), format (b)"),
    ("foreign_letters_become_spaces", "select é from t", "select from t"),
    ("two_backticks_are_a_quote", "select ``a``", 'select "a"'),
]


@pytest.mark.parametrize(("text", "cleaned"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_text_is_cleaned(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    ["", " \n", ";", "select a;;", "select " + "(" * 20, "a" * (MAX_CHARACTERS + 1), f"[{'a' * MAX_NAME}]"],
    ids=["nothing", "spaces", "semicolon", "two_semicolons", "parentheses", "too_long", "long_name"],
)
def test_text_is_given_up(text: str) -> None:
    with pytest.raises(Unreadable):
        clean(text)
