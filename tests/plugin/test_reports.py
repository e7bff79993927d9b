"""Reports that a run writes: HTML, Markdown, and the causes in the summary."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import Project

WRONG = {"dear": "SELECT name FROM item WHERE price > 3 ORDER BY price DESC", "first": "SELECT nam FROM item"}


def read_page(path: Path) -> dict[str, Any]:
    """Return what a page shows."""
    found = re.search(r'<script id="data"[^>]*>(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(found[1])
    return content


def test_the_page_holds_every_case_with_cause_and_schema(project: Project, workers: tuple[str, ...]) -> None:
    model = project.predictions(**WRONG)
    result = project.run("cases", f"--sqlbench-model={model}", "--sqlbench-html=out/page.html", *workers)
    result.stdout.fnmatch_lines(["causes *hallucinated name 1, filter value 1", "wrote out/page.html"])
    content = read_page(project.path / "out/page.html")
    causes = {entry["id"]: (entry["cause"], entry["hint"]) for entry in content["cases"] if "cause" in entry}
    assert len(content["cases"]) == 10
    assert causes == {
        "dear": ("filter_value", "price gt 3 is not price gt 2"),
        "first": ("hallucinated_name", "there is no 'nam'; the nearest name is 'name'"),
    }
    assert "CREATE TABLE item" in content["schemas"]["shop"]
    assert not list((project.path / "out").glob(".page*"))


def test_the_page_compares_with_the_baseline(project: Project) -> None:
    project.run("cases", f"--sqlbench-model={project.predictions(count='SELECT 0')}", "--sqlbench-save=old")
    model = project.predictions(**WRONG)
    project.run("cases", f"--sqlbench-model={model}", "--sqlbench-compare=old", "--sqlbench-html=page.html")
    content = read_page(project.path / "page.html")
    assert content["comparison"] == {"name": ".sqlbench/old.json", "regressed": 2, "fixed": 1}
    changes = {entry["id"]: entry["change"] for entry in content["cases"] if "change" in entry}
    assert changes == {"dear": "regressed", "first": "regressed", "count": "fixed"}


def test_markdown_names_causes_and_wrong_cases(project: Project, workers: tuple[str, ...]) -> None:
    model = project.predictions(**WRONG)
    project.run("cases", f"--sqlbench-model={model}", "--sqlbench-markdown=run.md", *workers)
    text = (project.path / "run.md").read_text()
    assert "### Wrong by cause (n=2)" in text
    assert "| filter value | 1 | 50.0 % |" in text
    assert "<code>shop&#91;dear&#93;</code>" in text
    assert "**Cause** filter value (price gt 3 is not price gt 2)" in text


def test_a_path_that_cannot_be_written_is_one_line(project: Project) -> None:
    project.write("file", "")
    result = project.run("cases", "--sqlbench-model=gold", "--sqlbench-html=file/page.html")
    result.stdout.fnmatch_lines(["NOT WRITTEN: cannot write *file/page.html: *"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_interrupted_run_is_reported_as_far_as_it_came(project: Project) -> None:
    project.write(
        "conftest.py",
        "def pytest_sqlbench_verdict(case):\n    if case.id == 'dear':\n        raise KeyboardInterrupt\n",
    )
    options = ("--sqlbench-model=gold", "--sqlbench-html=page.html", "--sqlbench-markdown=run.md")
    result = project.pytester.runpytest_subprocess("cases", *options)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [entry["id"] for entry in read_page(project.path / "page.html")["cases"]] == ["names", "count", "kinds"]
    assert "| shop | 3 |" in (project.path / "run.md").read_text()


def test_a_model_of_a_fixture_is_reported_too(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture\ndef sqlbench_model():\n    return lambda case: 'SELECT nam FROM item'\n",
    )
    project.run("cases", "--sqlbench-html=page.html", *workers)
    content = read_page(project.path / "page.html")
    assert {entry["database"] for entry in content["cases"]} == {"shop"}
    assert content["cases"][0]["hint"] == "there is no 'nam'; the nearest name is 'name'"
