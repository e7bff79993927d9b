"""Kept gold results: the same values come back, stale or broken entries never do, and no trouble ends a run."""

from __future__ import annotations

import datetime
import math
import uuid
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_sqlbench.engines.gold_cache import SLOW_MS_APART, FileGoldCache, GoldCache, read_result, write_result
from pytest_sqlbench.result import Cell, ResultSet

UTC = datetime.timezone.utc
SLOW = 6.0


def result(*rows: tuple[Cell, ...], warnings: tuple[str, ...] = ()) -> ResultSet:
    """A result of a slow query."""
    return ResultSet(("a", "a"), list(rows), SLOW, frozenset({"t"}), warnings)


@pytest.mark.parametrize(
    "cell",
    [
        *(None, True, 0, 2**80, "x", "", "\ud800", 1.5, -0.0, math.inf, b"\x00\xff", Decimal("1.10"), Decimal("NaN")),
        datetime.date(2024, 2, 29),
        datetime.time(1, 2, 3, 4),
        datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=UTC),
        datetime.timedelta(days=-1, microseconds=1),
        uuid.UUID(int=5),
        [1, [None, Decimal("2")]],
        (1, "x"),
        {"a": {"b": [1]}, 2: None},
    ],
    ids=repr,
)
def test_every_value_comes_back_as_it_was(cell: Cell) -> None:
    ((back, _),) = read_result(write_result(result((cell, 1)), "q"), "q").rows
    assert (type(back), repr(back)) == (type(cell), repr(cell))


def test_a_whole_result_comes_back() -> None:
    whole = result((1, "x"), (2, None), warnings=("careful",))
    assert read_result(write_result(whole, "q"), "q") == whole


def test_slow_results_are_kept_between_runs(tmp_path: Path) -> None:
    GoldCache(tmp_path, "scope").keep("SELECT 1", result((1, 2)))
    again = GoldCache(tmp_path, "scope")
    assert again.find("SELECT 1") == result((1, 2))
    assert again.find("SELECT 2") is None
    assert GoldCache(tmp_path, "other scope").find("SELECT 1") is None


def test_where_golds_run_in_another_process_faster_ones_are_kept(tmp_path: Path) -> None:
    fast = ResultSet(("a",), [(1,)], 4.0)
    GoldCache(tmp_path, "scope", SLOW_MS_APART).keep("q", fast)
    assert GoldCache(tmp_path, "scope", SLOW_MS_APART).find("q") is not None


@pytest.mark.parametrize(
    "unkept",
    [ResultSet(("a",), [(1,)], 4.0), result((1, 2), warnings=("nondeterministic: random()",))],
    ids=["fast", "unstable"],
)
def test_what_is_fast_or_unstable_is_not_kept(tmp_path: Path, unkept: ResultSet) -> None:
    cache = GoldCache(tmp_path, "scope")
    cache.keep("q", unkept)
    assert cache.find("q") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"query": "q"}', '{"query": "other", "rows": []}', "\x00"])
def test_a_broken_entry_is_no_entry(tmp_path: Path, text: str) -> None:
    GoldCache(tmp_path, "scope").keep("q", result((1, 2)))
    (entry,) = tmp_path.rglob("*.json")
    entry.write_text(text)
    cache = GoldCache(tmp_path, "scope")
    assert cache.find("q") is None
    cache.keep("q", result((1, 2)))
    assert GoldCache(tmp_path, "scope").find("q") == result((1, 2))


def test_a_folder_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("a file stands where the folder should be")
    cache = GoldCache(tmp_path, "scope")
    cache.keep("q", result((1, 2)))
    assert cache.find("q") == result((1, 2))


def test_a_changed_file_has_no_kept_results(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"1")
    find_cache = FileGoldCache(tmp_path / "cache", "sqlite 3", path)
    cache = find_cache()
    assert cache is not None
    cache.keep("q", result((1, 2)))
    assert FileGoldCache(tmp_path / "cache", "sqlite 3", path)().find("q") is not None  # type: ignore[union-attr]
    path.write_bytes(b"22")
    assert find_cache().find("q") is None  # type: ignore[union-attr]
    (tmp_path / "x.db-wal").write_bytes(b"pending")
    path.write_bytes(b"333")
    assert find_cache() is None
