from __future__ import annotations

from pathlib import Path

from pytest_sqlbench.policy import PRESETS
from pytest_sqlbench.scoring.lint import RULES

PAGE = Path(__file__).parent.parent.parent / "docs" / "policies.md"


def test_the_page_lists_every_finding() -> None:
    rows = [f"| `{rule}` | {severity.value} | {meaning} |" for rule, (severity, meaning) in RULES.items()]
    listed = PAGE.read_text(encoding="utf-8").partition("<!-- findings -->")[2].partition("<!-- end -->")[0]
    assert listed.strip().splitlines()[2:] == rows


def test_the_page_lists_every_preset() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in PRESETS if f"| `{name}` |" not in text] == []
