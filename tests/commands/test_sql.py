"""``pytest-sqlbench sql`` and ``show``: one case with everything known, and its database."""

from __future__ import annotations

import io
import sqlite3
import subprocess
from pathlib import Path

import pytest

from pytest_sqlbench.baseline import save_run
from pytest_sqlbench.cli import main
from pytest_sqlbench.commands.sql import make_view
from pytest_sqlbench.run import Fingerprint, Run
from pytest_sqlbench.verdict import Outcome, Reason, Verdict

MANIFEST = """\
sqlbench: 1
name: shop
database:
  schema: CREATE TABLE item (name TEXT, price REAL);
  rows:
    item: [{name: pen, price: 1.5}, {name: pad, price: 3.0}]
cases:
  - {id: dear, question: Which?, gold: SELECT name FROM item WHERE price > 2}
"""
SQL = "SELECT name FROM item WHERE price > 1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("shop.yaml").write_text(MANIFEST)
    verdict = Verdict(
        "shop", "dear", Outcome.WRONG, reason=Reason.ROW_COUNT, question="Which?", sql=SQL, where="shop.yaml:8",
        gold="SELECT name FROM item WHERE price > 2", scores={"pcm_em": 0.5}, tokens=7, cost_usd=0.5, tags=("t",),
    )  # fmt: skip
    save_run(Run((verdict,), Fingerprint(model="m")), Path(".sqlbench/0001_abc.json"), is_committed=False)
    save_run(Run((verdict,), Fingerprint(model="m")), Path(".sqlbench/old.json"), is_committed=True)
    return tmp_path


@pytest.mark.parametrize("name", ["dear", "shop[dear]", "shop.yaml::dear", "shop.yaml::shop[dear]"])
def test_both_queries_are_ready_and_nothing_is_written(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("\\g\n\\p\nDELETE FROM item\nSELECT count(*) FROM item\n\\q\nSELECT 9")
    )
    assert main(["sql", name]) == 0
    out = capsys.readouterr().out
    assert f"predicted  {SQL}\n" in out
    assert "name\n('pad')\n1 rows\nname\n('pen')\n('pad')\n2 rows\ndenied: " in out
    assert out.endswith("(2)\n1 rows\n")


def test_a_case_that_is_nowhere_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in (("gone", "no case 'gone'"), ("shop.yaml::gone", "there is no case 'gone'")):
        assert main(["sql", name]) == 4
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "query",
    ["SELECT 1;\n.shell touch hacked", "SELECT 1 --\n.shell touch hacked", "SELECT /*\n*/ 1", "DELETE FROM item", ""],
)
def test_a_query_that_could_be_more_is_no_view(query: str) -> None:
    assert make_view("predicted", query) == ""


@pytest.mark.parametrize(
    "query", ["SELECT 1\n/\n.shell touch hacked", "SELECT 1\ngo\n.shell touch hacked", "SELECT '\n.x"]
)
def test_the_shell_obeys_no_model(query: str, folder: Path) -> None:
    first = folder / "views.sql"
    first.write_text(make_view("predicted", query))
    sqlite3.connect(folder / "some.db").close()
    command = ["sqlite3", "-readonly", "-safe", "-init", str(first), str(folder / "some.db")]
    try:
        subprocess.run(command, input="", capture_output=True, text=True, timeout=20, check=False)
    except FileNotFoundError:
        pytest.skip("the sqlite3 shell is not installed")
    assert not (folder / "hacked").exists()


def test_show_tells_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "dear"]) == 0
    out = capsys.readouterr().out
    assert "WHERE price > [-2-] {+1+}\n" in out
    for line in ("cause      filter value", "scores     pcm_em 0.500", "call       7 tokens, $0.5000", "tags       t",
                 "database   main", "written at shop.yaml:8", "history    old wrong"):  # fmt: skip
        assert f"\n{line}\n" in out
