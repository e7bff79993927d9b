"""What all guards share: rows packed within limits, and texts that are refused."""

from __future__ import annotations

import pickle

import pytest

from pytest_sqlbench.engines.guards.answers import RefusedError, check_text, fail, pack_rows

PIECES: list[list[tuple[object, ...]]] = [[(1,), (2,)], [(3,)]]


def test_rows_are_packed_piece_by_piece() -> None:
    chunks = pack_rows(PIECES, 3, 1000, lambda: False)
    assert [pickle.loads(chunk) for chunk in chunks] == PIECES


@pytest.mark.parametrize(
    "max_rows, max_bytes, is_late, status",
    [(2, 1000, False, "rows"), (3, 30, False, "bytes"), (3, 1000, True, "timeout")],
    ids=["one_row_too_many", "too_many_bytes", "too_late"],
)
def test_a_limit_that_is_met_ends_the_query(max_rows: int, max_bytes: int, is_late: bool, status: str) -> None:
    with pytest.raises(RefusedError) as found:
        pack_rows(PIECES, max_rows, max_bytes, lambda: is_late)
    assert found.value.args[0] == status


def test_a_deadline_holds_for_a_query_without_rows_too() -> None:
    with pytest.raises(RefusedError, match="too slow"):
        pack_rows([], 1, 1, lambda: True)


@pytest.mark.parametrize("query", ["SELECT 1\0", "SELECT '\ud800'"], ids=["null_character", "no_unicode"])
def test_unreadable_texts_are_refused(query: str) -> None:
    with pytest.raises(RefusedError) as found:
        check_text(query)
    assert found.value.args[0] == "syntax"


def test_a_message_is_one_short_line() -> None:
    assert fail("error", "a\n b " + "c" * 600, 2.0) == ("error", "a b " + "c" * 496, (), [], [], 2.0, (), ())
