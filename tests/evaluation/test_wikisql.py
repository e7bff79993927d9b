"""Judging WikiSQL: three shapes, three modes, reasons and flags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Outcome, Reason, Verdict, from_record, to_record
from tests.suites.wikisql_files import QUESTIONS, TABLES, write_split


class Bench:
    """A small suite and its judge."""

    def __init__(self, manifest: Path, settings: Settings | None = None) -> None:
        self.suite = load_suite(manifest)
        self._judge = open_judge(self.suite, settings or Settings())

    def judge(self, number: int, reply: str | None = None, facts: object = None) -> Verdict:
        """Judge the case of a line, 1-based."""
        return self._judge.judge(self.suite.cases[number - 1], Prediction(reply, facts=facts))

    def close(self) -> None:
        self._judge.close()


@pytest.fixture(params=["tables", "database"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """The official mode, over the tables file and over the database."""
    manifest = write_split(tmp_path, database=TABLES if request.param == "database" else None)
    with closing(Bench(manifest)) as found:
        yield found


def record(sel: int, agg: int = 0, *conds: list[Any]) -> dict[str, Any]:
    return {"query": {"sel": sel, "agg": agg, "conds": list(conds)}, "error": ""}


def test_gold_against_gold_is_right_in_every_shape(bench: Bench) -> None:
    for number, case in enumerate(bench.suite.cases, 1):
        for verdict in (bench.judge(number, case.gold[0]), bench.judge(number, None, case.facts["gold_facts"])):
            assert (verdict.outcome, dict(verdict.scores)) == (Outcome.CORRECT, {"acc_ex": 1.0, "acc_lf": 1.0})


@pytest.mark.parametrize(
    "number, reply, facts, reason, detail, flags",
    [
        (1, None, None, Reason.MISSING_PREDICTION, "", ()),
        (
            1,
            None,
            record(2, 0, [1, 0, 42]),
            Reason.WRONG_COLUMN,
            "selected column 'School/Club Team' is not 'Player'",
            (),
        ),
        (
            1,
            "SELECT COUNT(Player) FROM table WHERE col1 = 42",
            None,
            Reason.WRONG_AGGREGATE,
            "aggregate COUNT is not none",
            (),
        ),
        (1, None, record(0, 0, [1, 1, 42]), Reason.WRONG_OPERATOR, "condition 'No.' > 42: operator is not =", ()),
        (1, None, record(0, 0, [1, 0, 9]), Reason.WRONG_VALUE, "condition 'No.' = 9: value is not 42", ()),
        (
            1,
            None,
            record(0, 0, [3, 0, 42]),
            Reason.WRONG_CONDITION_COLUMN,
            "condition 'Points' = 42: column is not 'No.'",
            (),
        ),
        (1, None, record(0), Reason.WRONG_CONDITION, "condition 'No.' = 42 is missing", ()),
        (1, None, record(7), Reason.NO_SUCH_COLUMN, "no column 7: the table has 4", ()),
        (
            1,
            None,
            record(0, 0, [1, 0, "x"]),
            Reason.RUNTIME_ERROR,
            "value 'x' for a number column: no number in 'x'; condition 'No.' = 'x': value is not 42",
            (),
        ),
        (
            1,
            None,
            {"query": None, "error": "no column"},
            Reason.NO_SQL,
            "the prediction reports an error: no column",
            (),
        ),
        (1, None, {"query": {"sel": 0}}, Reason.BAD_SHAPE, "query has no agg, conds", ()),
        (1, "I do not know.", None, Reason.NO_SQL, "the reply holds no single statement", ()),
        (1, "SELECT Nope FROM table", None, Reason.NO_SUCH_COLUMN, "no such column: Nope", ()),
        (1, "SELECT Player FROM elsewhere", None, Reason.NO_SUCH_TABLE, "no such table: elsewhere", ()),
        (1, 'SELECT Player, "No." FROM table', None, Reason.EXTRA_COLUMNS, "2 columns, the gold has 1", ("no_form",)),
        (
            4,
            None,
            record(0, 0, [1, 0, "A"], [1, 0, "b"]),
            Reason.WRONG_CONDITION,
            "condition 'Year ' = 'b' is too many",
            ("duplicate_bind",),
        ),
    ],
)
def test_a_wrong_prediction_says_why(
    bench: Bench, number: int, reply: str | None, facts: object, reason: Reason, detail: str, flags: tuple[str, ...]
) -> None:
    verdict = bench.judge(number, reply, facts)
    assert (verdict.outcome, verdict.score) == (Outcome.WRONG, 0.0)
    assert (verdict.reason, verdict.detail, verdict.flags) == (reason, detail, flags)
    assert from_record(to_record(verdict)).reason is reason


def test_right_rows_from_another_form_are_flagged(bench: Bench) -> None:
    verdict = bench.judge(1, None, record(0, 0, [1, 1, 10]))
    assert (verdict.outcome, verdict.flags) == (Outcome.CORRECT, ("right_by_rows_only",))
    assert dict(verdict.scores) == {"acc_ex": 1.0, "acc_lf": 0.0}


def test_sql_without_a_form_is_run_and_its_form_is_not_scored(bench: Bench) -> None:
    verdict = bench.judge(
        2, "```sql\nSELECT COUNT(DISTINCT Player) FROM `table_1_77_2` WHERE `School/Club Team` = 'DUKE';\n```"
    )
    assert (verdict.outcome, verdict.flags, dict(verdict.scores)) == (Outcome.CORRECT, ("no_form",), {"acc_ex": 1.0})
    assert dict(verdict.facts) == {"shape": "sql", "acc_lf": "n/a (shape)"}
    assert verdict.extraction == ("fence", "semicolon") or verdict.extraction[0].startswith("fence")


def test_pseudo_sql_that_is_also_sql_is_settled_by_the_engine(bench: Bench) -> None:
    as_sql = bench.judge(1, "SELECT Player FROM table WHERE Points = 3 OR Points = 4")
    as_pseudo = bench.judge(1, "SELECT Player FROM table WHERE School/Club Team = this or that")
    assert (as_sql.outcome, as_sql.facts["shape"]) == (Outcome.CORRECT, "sql")
    assert (as_pseudo.reason, as_pseudo.facts["shape"]) == (Reason.WRONG_CONDITION_COLUMN, "pseudo")


def test_a_vacuous_gold_is_flagged(bench: Bench) -> None:
    verdict = bench.judge(5, None, record(0, 1, [1, 0, "y"]))
    assert (verdict.outcome, verdict.flags) == (Outcome.CORRECT, ("vacuous", "right_by_rows_only"))


def test_a_vacuous_gold_can_be_refused(tmp_path: Path) -> None:
    with closing(Bench(write_split(tmp_path, policy="{vacuous: fail}"))) as bench:
        assert bench.judge(5, bench.suite.cases[4].gold[0]).reason is Reason.VACUOUS


def test_modes_disagree_where_they_should(tmp_path: Path) -> None:
    predictions = [
        (3, record(3, 4, [2, 0, "duke"])),
        (1, record(0, 0, [1, 1, 40], [1, 2, 50])),
        (1, record(0, 0, [3, 1, "1,000"])),
    ]
    found = {}
    for mode in ("official", "strict", "seed"):
        (tmp_path / mode).mkdir()
        with closing(Bench(write_split(tmp_path / mode, mode=mode))) as bench:
            found[mode] = [bench.judge(number, None, facts) for number, facts in predictions]
            assert all(verdict.policy.startswith(f"wikisql {mode}, lf ") for verdict in found[mode])
    assert [[verdict.outcome.value for verdict in found[mode]] for mode in found] == [
        ["correct", "wrong", "wrong"],
        ["correct", "correct", "wrong"],
        ["correct", "correct", "wrong"],
    ]
    assert found["official"][1].reason is Reason.DUPLICATE_BIND
    assert found["official"][1].near == ("strict",)
    # "1,200" is a text in the published databases, and every text is greater than every number
    assert found["official"][2].predicted_result.rows == [("bo short",), ("cy wide",)]  # type: ignore[union-attr]
    assert found["strict"][2].predicted_result.rows == [("bo short",)]  # type: ignore[union-attr]


def test_the_seed_policy_of_a_run_chooses_the_mode(tmp_path: Path) -> None:
    settings = Settings(policy=find_preset("seed"))
    with closing(Bench(write_split(tmp_path), settings)) as bench:
        assert bench.judge(1, bench.suite.cases[0].gold[0]).policy == "wikisql seed, lf text"


def test_acc_lf_can_be_the_metric(tmp_path: Path) -> None:
    with closing(Bench(write_split(tmp_path, metric="acc_lf"))) as bench:
        by_rows = bench.judge(1, None, record(0, 0, [1, 1, 10]))
        no_form = bench.judge(1, 'SELECT DISTINCT Player FROM table WHERE "No." = 42')
        assert (by_rows.outcome, by_rows.score, by_rows.reason) == (Outcome.WRONG, 0.0, Reason.WRONG_OPERATOR)
        assert (no_form.outcome, no_form.score) == (Outcome.UNSCORABLE, None)
        assert bench.judge(1, "no idea").score == 0.0


def test_an_unknown_name_in_double_quotes_is_strictly_an_error(tmp_path: Path) -> None:
    reply = 'SELECT DISTINCT "Nope" FROM table'
    for mode, reason in (("official", Reason.VALUES), ("strict", Reason.NO_SUCH_COLUMN)):
        (tmp_path / mode).mkdir()
        with closing(Bench(write_split(tmp_path / mode, mode=mode))) as bench:
            assert bench.judge(1, reply).reason is reason


def test_a_gold_that_cannot_run_is_trouble_of_the_bench(tmp_path: Path) -> None:
    questions = [{**QUESTIONS[0], "sql": {"sel": 0, "agg": 0, "conds": [[1, 0, "none"]]}}]
    with closing(Bench(write_split(tmp_path, questions=questions))) as bench:
        verdict = bench.judge(1, "SELECT Player FROM table")
        assert (verdict.outcome, verdict.reason, verdict.score) == (Outcome.GOLD_ERROR, Reason.GOLD_FAILED, None)


@pytest.mark.parametrize("value", [10**30, "\ud800", [1], {"a": 1}, True, "x" * 200_000, float("nan")])
def test_no_value_of_a_prediction_crashes(bench: Bench, value: object) -> None:
    for column in (0, 1):
        assert bench.judge(1, None, record(0, 0, [column, 0, value])).outcome is Outcome.WRONG


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE table",
        "SELECT 1; SELECT 2",
        "WITH",
        "SELECT load_extension('x') FROM table",
        "\0",
        "SELECT '\ud800'",
    ],
)
def test_no_text_of_a_prediction_crashes_or_changes_anything(bench: Bench, text: str) -> None:
    assert bench.judge(1, text).outcome is Outcome.WRONG
    assert bench.judge(1, bench.suite.cases[0].gold[0]).outcome is Outcome.CORRECT


def test_the_metric_needs_a_wikisql_suite(tmp_path: Path) -> None:
    manifest = tmp_path / "own.yaml"
    manifest.write_text("sqlbench: 1\nmetric: acc_ex\ncases:\n- {id: a, question: q, gold: SELECT 1}\n")
    with pytest.raises(UsageError, match="is for suites of format 'wikisql'"):
        open_judge(load_suite(manifest), Settings())
