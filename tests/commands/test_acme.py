"""``pytest-sqlbench acme`` prints tables and graph of a published folder."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main
from tests.suites.acme.small import write_folder

pytest.importorskip("pyoxigraph")


def test_the_script_loads_into_its_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acme", str(write_folder(tmp_path)), "--as", "sqlite"]) == 0
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(capsys.readouterr().out)
        assert connection.execute("SELECT sum(tonnage) FROM ship").fetchone() == (150.5,)


def test_the_graph_is_n_triples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acme", str(write_folder(tmp_path)), "--as", "graph", "--patches", "policy-holder"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert '<http://e/Ship-1> <http://e/name> "Ask" .' in lines
    assert all(line.endswith(" .") for line in lines)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--patches", "nonsense"], "patches is ['nonsense']. Allowed: all, none, or a list of these"),
        (["--patches", ""], "patches is ['']"),
    ],
)
def test_a_wrong_patch_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["acme", str(write_folder(tmp_path)), *arguments]) == 4
    assert message in capsys.readouterr().err


def test_a_folder_without_the_files_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acme", str(tmp_path)]) == 4
    assert "found 0 files like investigation/*.ttl" in capsys.readouterr().err
