"""Reading WikiSQL in its published layout."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.logical_form import Condition, LogicalForm
from pytest_sqlbench.suites.registry import load_suite
from tests.suites.wikisql_files import QUESTIONS, TABLES, write_split


def test_a_case_has_its_form_its_table_and_its_real_headers(tmp_path: Path) -> None:
    suite = load_suite(write_split(tmp_path))
    case = suite.cases[1]
    assert (suite.name, suite.metric, suite.settings["mode"], len(suite.cases)) == ("web", "acc_ex", "official", 5)
    assert (case.id, case.line, case.tags) == ("dev-00002", 2, ("agg-count", "conds-1"))
    assert case.gold == ('SELECT COUNT("Player") FROM "table_1_77_2" WHERE "School/Club Team" = \'Duke\'',)
    assert case.facts["gold_facts"] == LogicalForm(0, 3, (Condition(2, 0, "Duke"),))
    assert case.facts["schema"] == (
        '-- Toronto\nCREATE TABLE "table_1_77_2" ("Player" text, "No." real, "School/Club Team" text, "Points" real);'
    )


def test_cases_of_one_table_share_it(tmp_path: Path) -> None:
    cases = load_suite(write_split(tmp_path)).cases
    assert cases[0].facts["table"] is cases[1].facts["table"]
    assert cases[0].facts["schema"] is cases[1].facts["schema"]


def test_a_database_without_a_tables_file_is_enough(tmp_path: Path) -> None:
    suite = load_suite(write_split(tmp_path, tables=None, database=TABLES))
    assert suite.databases["main"].path == tmp_path / "data" / "dev.db"
    assert suite.cases[0].gold == ('SELECT "col0" FROM "table_1_77_2" WHERE "col1" = 42',)


def test_headers_may_come_without_rows_where_there_is_a_database(tmp_path: Path) -> None:
    headers = [{key: value for key, value in table.items() if key != "rows"} for table in TABLES]
    suite = load_suite(write_split(tmp_path, tables=headers, database=TABLES))
    assert suite.cases[0].facts["table"].headers[1] == "No."


def test_files_may_be_named_one_by_one(tmp_path: Path) -> None:
    write_split(tmp_path)
    manifest = tmp_path / "one.yaml"
    manifest.write_text(
        "sqlbench: 1\nformat: wikisql\ndata: data/dev.jsonl\ntables: data/dev.tables.jsonl\n"
        "mode: strict\nlf_equality: '2018'\nmetric: acc_lf\n"
    )
    suite = load_suite(manifest)
    assert (suite.settings["mode"], suite.settings["lf_equality"], suite.metric) == ("strict", "2018", "acc_lf")


def test_the_seed_policy_is_a_mode(tmp_path: Path) -> None:
    assert load_suite(write_split(tmp_path, policy="seed")).settings["mode"] == "seed"


def _changed(tables: list[dict[str, Any]], **keys: Any) -> list[dict[str, Any]]:
    changed = deepcopy(tables)
    changed[0].update(keys)
    return changed


@pytest.mark.parametrize(
    "files, message",
    [
        pytest.param({"split": "test"}, r"web\.yaml:5: split 'test': no such file", id="no_such_split"),
        pytest.param(
            {"mode": "lenient"}, r"web\.yaml:5: mode is 'lenient'. Allowed: official, strict, seed", id="mode"
        ),
        pytest.param({"lf_equality": "2019"}, r"lf_equality is 2019. Allowed: head, ordered, 2018", id="equality"),
        pytest.param({"tables": None}, r"neither dev\.tables\.jsonl nor dev\.db", id="no_tables"),
        pytest.param({"questions": []}, r"dev\.jsonl: holds no question", id="no_questions"),
        pytest.param(
            {"tables": TABLES[1:]}, r"dev\.jsonl:1: table '1-77-2' is not in .*dev\.tables\.jsonl", id="table"
        ),
        pytest.param(
            {"tables": _changed(TABLES, types=["text"])},
            r"tables\.jsonl:1: table 1-77-2 has 4 headers and 1 types",
            id="types",
        ),
        pytest.param(
            {"tables": _changed(TABLES, types=["text", "real", "text", "blob"])},
            r"type is 'blob'. Allowed: text, real",
            id="kind",
        ),
        pytest.param({"tables": _changed(TABLES, rows=[["x"]])}, r"row 1 has 1 cells, the header has 4", id="cells"),
        pytest.param({"tables": [*TABLES, TABLES[0]]}, r"tables\.jsonl:3: table 1-77-2 stands twice", id="twice"),
        pytest.param({"tables": _changed(TABLES, rows=None)}, r"has no rows, and there is no database", id="no_rows"),
        pytest.param({"database": TABLES[:1]}, r"dev\.db: has no table table_2_5_1", id="table_not_in_database"),
        pytest.param(
            {"database": _changed(TABLES, rows=TABLES[0]["rows"][:2])},
            r"table table_1_77_2 has 2 rows, 3 in dev\.tables\.jsonl",
            id="row_counts",
        ),
        pytest.param(
            {"database": _changed(TABLES, types=["text"] * 4)},
            r"col1 is text, real in dev\.tables\.jsonl",
            id="column_types",
        ),
    ],
)
def test_files_that_do_not_fit_are_named(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_suite(write_split(tmp_path, **files))


@pytest.mark.parametrize(
    "sql, message",
    [
        (None, r"dev\.jsonl:1: sql is 'None'"),
        ({"sel": 4, "agg": 0, "conds": []}, "sel is 4; table 1-77-2 has columns 0 to 3"),
        ({"sel": True, "agg": 0, "conds": []}, "sel is True"),
        ({"sel": 0, "agg": 6, "conds": []}, "agg is 6, wanted 0 to 5"),
        ({"sel": 0, "agg": 0, "conds": [[0, 0]]}, r"condition 1 is '\[0, 0\]'"),
        ({"sel": 0, "agg": 0, "conds": [[9, 0, "x"]]}, "condition 1: column is 9; table 1-77-2 has 4"),
        ({"sel": 0, "agg": 0, "conds": [[0, 3, "x"]]}, "condition 1: operator is 3"),
        ({"sel": 0, "agg": 0, "conds": [[0, 0, None]]}, "condition 1: value is None"),
    ],
)
def test_a_gold_form_out_of_range_is_named(tmp_path: Path, sql: object, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        load_suite(write_split(tmp_path, questions=[{**QUESTIONS[0], "sql": sql}]))


def test_broken_lines_are_named(tmp_path: Path) -> None:
    manifest = write_split(tmp_path)
    questions = tmp_path / "data" / "dev.jsonl"
    questions.write_text(questions.read_text() + "\n{\n")
    with pytest.raises(CaseError, match=r"dev\.jsonl:7: is not JSON"):
        load_suite(manifest)
    questions.write_bytes(b'{"question": "\xff"}\n')
    with pytest.raises(CaseError, match=r"dev\.jsonl:1: is not UTF-8"):
        load_suite(manifest)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    manifest = write_split(tmp_path, tables=None)
    (tmp_path / "data" / "dev.db").write_text("no database at all, just text that goes on for a while " * 20)
    with pytest.raises(CaseError, match=r"dev\.db: cannot be read"):
        load_suite(manifest)
