"""Missing and extra rows, aligned by a key where there is one, so that only the cells that differ are marked."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sqlbench.report.cells import fit_cells, show_cell
from pytest_sqlbench.result import Row

Pair = tuple[Row, Row]


def align_rows(missing: Sequence[Row], extra: Sequence[Row]) -> list[Pair]:
    """Pair gold rows that are missing with predicted rows that are too many.

    The key is the column, the first of equals, whose values are distinct on both sides and which most pairs share.

    Returns:
        (gold row, predicted row) in order of the gold; none where the widths differ or no column is a key.
    """
    if not missing or not extra or len({len(row) for row in (*missing, *extra)}) != 1 or len(missing[0]) < 2:
        return []
    best: list[Pair] = []
    for place in range(len(missing[0])):
        sides = [{repr(row[place]): row for row in rows} for rows in (missing, extra)]
        if len(sides[0]) != len(missing) or len(sides[1]) != len(extra):
            continue
        pairs = [(row, sides[1][key]) for key, row in sides[0].items() if key in sides[1]]
        if len(pairs) > len(best):
            best = pairs
    return best


def show_pair(pair: Pair, width: int = 110) -> str:
    """Show two aligned rows as one: ``('pen', [-1.5-]{+2.5+})``."""
    cells = ((show_cell(old), show_cell(new), repr(old) == repr(new)) for old, new in zip(*pair, strict=True))
    marked = (old if is_same else f"[-{old}-]{{+{new}+}}" for old, new, is_same in cells)
    return fit_cells(marked, len(pair[0]), width)
