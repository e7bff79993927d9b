"""Rows in reports: one, or two aligned, cut to a width."""

from __future__ import annotations

from pytest_sqlbench.report.cells import show_row
from pytest_sqlbench.report.row_diff import show_pair


def test_a_row_that_fits_is_shown_whole() -> None:
    assert show_row(("a", 1, None), 20) == "('a', 1, NULL)"


def test_a_row_that_does_not_fit_says_how_many_columns_are_left() -> None:
    assert show_row(tuple(range(100)), 12) == "(0, 1, 2, 3, … 96 more columns)"


def test_a_pair_marks_what_differs_and_is_cut_alike() -> None:
    assert show_pair((("a", 1, 2), ("a", 3, 2)), 40) == "('a', [-1-]{+3+}, 2)"
    assert show_pair((("a", 1, 2), ("a", 3, 2)), 15) == "('a', … 2 more columns)"
