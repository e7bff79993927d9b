"""The page on SEDE says what the code does: its example runs, and its table holds the tested values."""

from __future__ import annotations

import doctest
from pathlib import Path

from tests.scoring.pcm.test_quirks import ROWS

PAGE = Path(__file__).parent.parent / "docs" / "sede.md"


def test_example_runs() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted == 3
    assert found.failed == 0


def shown(value: str) -> str:
    return "unreadable" if value == "-" else "1" if float(value) == 1 else f"{float(value):.3f}"


def test_table_has_every_quirk_with_both_values() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = {line.split("|")[1].strip(): line.split("|")[-3:-1] for line in lines if line.startswith("| ")}
    for claim, _, _, official, other in ROWS:
        both = [cell.strip() for cell in cells[claim.replace("_", " ")]]
        assert both == [shown(official), shown(other)], claim
