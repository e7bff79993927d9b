"""Cells, rows and texts cut to a width, for terminals and tables. One line each, whatever is inside."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_sqlbench.result import Cell, Row


def fold(text: str, width: int) -> str:
    """Put a text on one line of at most ``width`` characters; what is cut is marked by an ellipsis."""
    line = " ".join(text[: 4 * width].replace("\0", "␀").split())
    return line if len(line) <= width else line[: width - 1] + "…"


def show_cell(cell: Cell, width: int = 40) -> str:
    """Show one cell: NULL for None, texts in quotes, anything else as Python shows it."""
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return "'" + fold(cell, width).replace("'", "''") + "'"
    if isinstance(cell, bytes):
        return f"x'{cell[:16].hex()}'" + ("…" if len(cell) > 16 else "")
    return fold(str(cell), width)


def show_row(row: Row, width: int = 110) -> str:
    """Show one row in brackets, cut to a width."""
    return fit_cells(map(show_cell, row), len(row), width)


def fit_cells(texts: Iterable[str], count: int, width: int) -> str:
    """Put as many of ``count`` cells in brackets as the width holds, and say how many more there are."""
    shown: list[str] = []
    used = 2
    for index, text in enumerate(texts):
        if used + len(text) > width:
            shown.append(f"… {count - index} more columns")
            break
        shown.append(text)
        used += len(text) + 2
    return f"({', '.join(shown)})"
