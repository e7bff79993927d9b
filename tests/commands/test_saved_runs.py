"""compare, merge, list and show: the plugin's judgement of saved runs, without pytest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_sqlbench.baseline import load_run, save_run
from pytest_sqlbench.cli import main
from pytest_sqlbench.run import Fingerprint, Run, SuiteFacts
from tests.verdicts import make_samples, make_verdict, make_verdicts

ORIGIN = Fingerprint(plugin="1.0", model="gold", suites={"orders": SuiteFacts(cases=10)})
OLD = Run(tuple(make_verdicts("c" * 8 + "ww")), ORIGIN)
NEW = Run(tuple(make_verdicts("w" * 7 + "ccw", gold="SELECT 3", sql="SELECT 2", question="How many?")), ORIGIN)


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".sqlbench"
    save_run(OLD, folder / "main.json", is_committed=True)
    save_run(NEW, folder / "0001_abc.json", is_committed=False)
    return folder


@pytest.mark.parametrize(
    "gates,code,line",
    [
        ((), 0, ""),
        (("--compare-fail=regressions:7",), 0, "GATE met: 7 regressions (allowed 7)"),
        (("--compare-fail=p:0.05",), 0, "GATE met: accuracy -60.00 points (n=10, p=0.0703) is no drop beyond chance"),
        (
            ("--compare-fail=p:0.1", "--fail-under=10"),
            1,
            "GATE MISSED: accuracy -60.00 points (n=10, p=0.0703) is a drop",
        ),
        (("--fail-under=50",), 1, "GATE MISSED: accuracy 20 % (n=10) is under 50 %"),
    ],
)
def test_compare(capsys: pytest.CaptureFixture[str], gates: tuple[str, ...], code: int, line: str) -> None:
    assert main(["compare", "main", "0001_abc", *gates]) == code
    out = capsys.readouterr().out
    assert "compared with .sqlbench/main.json\n" in out
    assert "orders  10  80.0 %  20.0 %   -60.0" in out
    assert line in out


@pytest.mark.parametrize(
    "args,message",
    [
        (("compare", "nope", "main"), "no saved run called 'nope' in .sqlbench (saved: 0001_abc, main)"),
        (("compare", "main", "x/y.json"), "no saved run at x/y.json"),
        (("compare", "main", "main", "--compare-fail=accuracy:9"), "cannot read the gate 'accuracy:9': write 9%"),
        (("show", "nope"), "no case 'nope' in .sqlbench/0001_abc.json (10 cases)"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], args: tuple[str, ...], message: str) -> None:
    assert main(args) == 4
    captured = capsys.readouterr()
    assert captured.err.startswith(f"pytest-sqlbench: {message}")
    assert (captured.out, captured.err.count("\n")) == ("", 1)


def test_unlike_runs_are_refused(capsys: pytest.CaptureFixture[str], storage: Path) -> None:
    save_run(replace(NEW, fingerprint=replace(ORIGIN, extraction="off")), storage / "raw.json", is_committed=True)
    assert main(["compare", "main", "raw"]) == 4
    assert "cannot be compared with this run: extraction was none and is off" in capsys.readouterr().err


def test_merge_joins_shards_and_gates_them(capsys: pytest.CaptureFixture[str], storage: Path) -> None:
    for name, part in (("a", NEW.verdicts[:4]), ("b", NEW.verdicts[4:])):
        save_run(replace(NEW, verdicts=part), Path(f"{name}.json"), is_committed=False)
    args = ["merge", "a.json", "b.json", "--output=all.json", "--save=next", "--compare=main"]
    assert main([*args, "--compare-fail=regressions:7", "--fail-under=20"]) == 0
    out = capsys.readouterr().out
    assert "orders  10    20.0 %" in out
    assert "GATE met: 7 regressions (allowed 7)" in out
    assert replace(load_run(Path("all.json")), name="") == NEW
    assert load_run(storage / "next.json").verdicts == tuple(make_verdicts("w" * 7 + "ccw"))


def test_merge_without_a_shard_is_never_green(capsys: pytest.CaptureFixture[str]) -> None:
    save_run(replace(OLD, verdicts=OLD.verdicts[:4]), Path("a.json"), is_committed=False)
    assert main(["merge", "a.json", "--fail-under=50"]) == 1
    out = capsys.readouterr().out
    assert "missing: 6 cases of orders" in out
    assert "GATE not evaluated: cases without a verdict in this run: 6 of orders" in out
    assert main(["merge", "a.json", "--fail-under=50", "--gate-partial"]) == 0


@pytest.mark.parametrize("gate,code", [("--fail-under=50", 1), ("--compare-fail=errors:1", 0)])
def test_merge_does_not_hide_errors(capsys: pytest.CaptureFixture[str], gate: str, code: int) -> None:
    save_run(replace(OLD, verdicts=tuple(make_verdicts("m" + "c" * 9))), Path("a.json"), is_committed=False)
    assert main(["merge", "a.json", gate]) == code
    assert ("GATE met, but 1 case got no verdict" in capsys.readouterr().out) is (code == 1)


def test_list(capsys: pytest.CaptureFixture[str], storage: Path) -> None:
    assert main(["list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "run        n  accuracy  95 % interval  samples  missing  model",
        "0001_abc  10    20.0 %    5.7 to 51.0        1            gold",
        "main      10    80.0 %   49.0 to 94.3        1            gold",
    ]


def test_list_names_broken_files(capsys: pytest.CaptureFixture[str], storage: Path) -> None:
    (storage / "bad.json").write_text("{")
    assert main(["list"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith(".sqlbench/bad.json:1: not JSON")
    assert main(["list", "--storage=empty"]) == 0
    assert capsys.readouterr().out == "no saved run in empty\n"


@pytest.mark.parametrize("name", ["0000", "orders[0000]", "cases/orders.yaml::orders[0000]"])
def test_show(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["show", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("orders[0000] in .sqlbench/0001_abc.json (gold)\nwrong: values\n")
    assert "SELECT 3" in out


def test_show_says_that_a_committed_run_keeps_no_texts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "0009", "--run=main"]) == 0
    assert "a committed run keeps no texts" in capsys.readouterr().out


def test_show_prints_every_sample(capsys: pytest.CaptureFixture[str], storage: Path) -> None:
    save_run(Run(tuple(make_samples(["cw"]))), storage / "sampled.json", is_committed=False)
    assert main(["show", "0000", "--run=sampled"]) == 0
    assert "\nsample 0\ncorrect" in (out := capsys.readouterr().out)
    assert "\nsample 1\nwrong: values" in out


def test_an_id_of_two_suites_is_not_guessed_at(capsys: pytest.CaptureFixture[str], storage: Path) -> None:
    save_run(Run((make_verdict("a", "c"), make_verdict("a", "c", "shop"))), storage / "two.json", is_committed=True)
    assert main(["show", "a", "--run=two"]) == 4
    assert "'a' is several cases of .sqlbench/two.json: orders[a], shop[a]" in capsys.readouterr().err
