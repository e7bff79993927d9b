"""Missing and extra rows, aligned by a key where there is one, so that only the cells that differ are marked."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_sqlbench.report.cells import show_cell
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
    cells: list[str] = []
    used = 2
    for place, (old, new) in enumerate(zip(*pair, strict=True)):
        texts = show_cell(old), show_cell(new)
        text = texts[0] if repr(old) == repr(new) else f"[-{texts[0]}-]{{+{texts[1]}+}}"
        if used + len(text) > width:
            cells.append(f"… {len(pair[0]) - place} more columns")
            break
        cells.append(text)
        used += len(text) + 2
    return f"({', '.join(cells)})"
