"""What GitHub shows: tables, folded cases that cannot break out, annotations at the right line."""

from __future__ import annotations

from pytest_sqlbench.comparison import compare_runs
from pytest_sqlbench.gate import GateResult
from pytest_sqlbench.report.github import annotate, describe_step
from pytest_sqlbench.run import Fingerprint, Run
from tests.verdicts import make_verdict, make_verdicts

OLD = Run((*make_verdicts("ccw"), make_verdict("gone", "c")), Fingerprint(model="gold"), "main.json")
REGRESSED = make_verdict(
    "0000",
    "w",
    where="cases/orders.yaml:12",
    question="How many <b>orders</b> | are *late*?",
    gold="SELECT 3",
    sql="SELECT 2 -- ```\n</details><script>alert(1)</script>",
    detail="row 1, column 1: 2 is not 3",
)
NEW = Run((REGRESSED, *make_verdicts("ccc")[1:]), Fingerprint(model="file:a_b.jsonl"))
FOUND = compare_runs(OLD, NEW)
MET, MISSED = GateResult(True, "accuracy 66.67 % (n=3) reaches 50 %"), GateResult(False, "1 regressions (allowed 0)")


def test_the_step_summary() -> None:
    text = describe_step(NEW, FOUND, [MET, MISSED])
    assert text.startswith(
        "## ❌ text-to-SQL: file:a&#95;b.jsonl\n\n- ✅ accuracy 66.67 % (n=3) reaches 50 %\n- ❌ 1 regr"
    )
    assert "| orders | 3 | 66.7 % | 20.8 to 93.9 | 0 |" in text
    assert "| orders | 3 | 66.7 % | 66.7 % | +0.0 | " in text
    assert "1 removed." in text
    assert "### Regressed: 1\n\n<details><summary><code>orders&#91;0000&#93;</code> wrong: values: row 1" in text


def test_what_a_model_wrote_cannot_leave_its_block() -> None:
    text = describe_step(NEW, FOUND, [])
    assert "````sql\nSELECT 2 -- ```\n</details><script>alert(1)</script>\n````\n\n</details>" in text
    assert "**Question** How many &#60;b&#62;orders&#60;/b&#62; &#124; are &#42;late&#42;?" in text


def test_the_summary_is_small_however_many_regress() -> None:
    old = Run(tuple(make_verdicts("c" * 500)))
    new = Run(tuple(make_verdicts("w" * 500, sql="x" * 9000, gold="y" * 9000, question="z" * 9000)))
    text = describe_step(new, compare_runs(old, new), [])
    assert len(text.encode()) < 300_000
    assert "… and 470 more." in text


def test_a_run_without_baseline_or_gate_has_a_table() -> None:
    text = describe_step(Run((*make_verdicts("cm"), *make_verdicts("u", "other"))), None, [], "interrupted")
    assert text.startswith("## text-to-SQL: no model\n\nThe gate was not evaluated: interrupted.\n\n| suite | n |")
    assert "| orders | 2 | 50.0 % | 9.5 to 90.5 | 1 |\n| other | 0 | n/a |  | 0 |\n| all | 2 |" in text


def test_annotations_point_at_the_case() -> None:
    lines = annotate([MET, MISSED], FOUND.regressed, lambda verdict: (f"sub/{verdict.where.rpartition(':')[0]}", 12))
    assert lines == [
        "::error title=sqlbench gate missed::1 regressions (allowed 0)",
        "::warning file=sub/cases/orders.yaml,line=12,title=regressed%3A orders[0000]::"
        "wrong: values: row 1, column 1: 2 is not 3%0AHow many <b>orders</b> | are *late*?",
    ]


def test_met_gates_and_unknown_places_make_no_noise() -> None:
    assert annotate([MET], (), lambda verdict: ("", 0)) == []
    assert annotate([], FOUND.regressed, lambda verdict: ("", 0))[0].startswith("::warning title=regressed%3A ")


def test_at_most_ten_cases_are_annotated() -> None:
    found = compare_runs(Run(tuple(make_verdicts("c" * 30))), Run(tuple(make_verdicts("w" * 30))))
    assert len(annotate([MISSED], found.regressed, lambda verdict: ("", 0))) == 11
