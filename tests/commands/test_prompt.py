"""The command line shows the prompt of a case, and says what is near where there is no such case."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.cli import main

MANIFEST = """\
sqlbench: 1
name: shop
database: {schema: 'CREATE TABLE item (name TEXT)', rows: {item: [{name: pen}]}}
cases:
  - {id: names, question: Which names?, gold: SELECT name FROM item}
"""


@pytest.fixture(autouse=True)
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with one suite."""
    (tmp_path / "shop.yaml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["shop.yaml::names", "shop.yaml::shop[names]"])
def test_the_prompt_of_a_case_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", name, "--prompt-rows=1"]) == 0
    assert capsys.readouterr().out == (
        "Write one SQLite query that answers the question. Reply with the query only.\n\n"
        "CREATE TABLE item (name TEXT);\n\n-- first rows of item:\n-- name\n-- pen\n\nQuestion: Which names?\n"
    )


def test_the_hash_alone_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", "shop.yaml::names", "--hash", "--api=completion"]) == 0
    assert len(capsys.readouterr().out.strip()) == 64


@pytest.mark.parametrize(
    "name, message",
    [
        ("shop.yaml::name", "there is no case 'name'. Did you mean 'names'?"),
        ("shop.yaml::zzz", "there is no case 'zzz'. It has 1 others."),
        ("shop.yaml", "'shop.yaml' names no case. Write SUITE.yaml::ID."),
        ("none.yaml::a", "none.yaml: there is no such suite"),
    ],
)
def test_a_case_that_is_not_there_is_one_line(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompt", name]) == 4
    assert message in capsys.readouterr().err
