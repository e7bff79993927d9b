"""How tables and lists are set in a terminal: aligned columns, rates with intervals, cells behind a label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_sqlbench.report.cells import fold
from pytest_sqlbench.run import Score


def show_rate(score: Score) -> tuple[str, str]:
    """Return a rate and its interval in per cent, as in ``("87.5 %", "69.0 to 95.7")``."""
    return f"{100 * score.value:.1f} %", f"{100 * score.low:.1f} to {100 * score.high:.1f}"


def align(rows: Iterable[Sequence[str]]) -> list[str]:
    """Align a table: the first column to the left, all others to the right, two spaces between."""
    table = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines: list[str] = []
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def wrap(label: str, cells: Sequence[str], more: str, width: int = 100) -> list[str]:
    """Set cells behind a label, as many a line as fit, later lines under the first cell."""
    indent = 12
    lines = [f"{label:<{indent}}"]
    for index, cell in enumerate(cells):
        text = fold(cell, width - indent) + ("," if index < len(cells) - 1 else more)
        if len(lines[-1]) > indent and len(lines[-1]) + len(text) + 1 > width:
            lines.append(" " * indent)
        lines[-1] += text if len(lines[-1]) == indent else f" {text}"
    return lines
