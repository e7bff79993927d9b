"""Documentation is tested: its files are written, its commands run, and what they print is what it says."""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_sqlbench.options import document_options

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])

MODULES = {"pytest": "pytest", "pytest-sqlbench": "pytest_sqlbench.cli"}
"""Commands that are run, by the module that stands for them; others are for the reader."""

_BLOCK = re.compile(r"^```(\w+)[ \t]*([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A fenced block: ``title`` names the file it is written to, ``console`` blocks are run."""

    language: str
    title: str
    text: str
    line: int

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """Commands after ``$`` and the lines that each should print; ``...`` stands for any lines."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and line.strip():
                found[-1][1].append(line)
        return found


def read_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in _BLOCK.finditer(text):
        title = _TITLE.search(match[2])
        if title or match[1] == "console":
            line = text.count("\n", 0, match.start()) + 1
            blocks.append(Block(match[1], title[1] if title else "", match[3], line))
    return blocks


@pytest.mark.parametrize("page", [page for page in PAGES if read_blocks(page)], ids=lambda page: page.stem)
def test_what_a_page_shows_is_what_happens(page: Path, pytester: pytest.Pytester) -> None:
    for block in read_blocks(page):
        if block.title:
            path = pytester.path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        for command, wanted in block.commands:
            words = shlex.split(command)
            if words[0] not in MODULES:
                continue
            lean = ["-p", "no:hypothesispytest", "-p", "no:anyio"] if words[0] == "pytest" else []
            result = pytester.run(sys.executable, "-m", MODULES[words[0]], *lean, *words[1:])
            assert_lines(result.outlines + result.errlines, wanted, f"{page.name}:{block.line}: {command}")


def assert_lines(printed: list[str], wanted: list[str], where: str) -> None:
    """Check that the wanted lines stand in this order; digits of times may differ, ``...`` ends a line anywhere."""
    remaining = iter(printed)
    for line in wanted:
        if line.strip() == "...":
            continue
        pattern = re.escape(line.rstrip()).replace(re.escape("..."), ".*")
        pattern = re.sub(r"\d+(?:\\\.\d+)?(?=(?:\\ )?m?s\b)", r"[\\d.,]+", pattern)
        if not any(re.fullmatch(pattern, text.rstrip()) for text in remaining):
            raise AssertionError(
                f"{where}: not printed, or not in this order:\n  {line}\nprinted:\n" + "\n".join(printed)
            )


def test_the_table_of_options_is_the_codes() -> None:
    page = ROOT / "docs" / "options.md"
    head, begin, rest = page.read_text(encoding="utf-8").partition("<!-- options -->\n")
    _, end, tail = rest.partition("<!-- end -->")
    table = "\n".join(document_options()) + "\n"
    if os.environ.get("SQLBENCH_WRITE_DOCS"):
        page.write_text(head + begin + table + end + tail, encoding="utf-8")
    assert rest.partition("<!-- end -->")[0] == table, "run SQLBENCH_WRITE_DOCS=1 pytest tests/test_docs.py"


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
