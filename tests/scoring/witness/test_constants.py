from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_sqlbench.scoring.witness.constants import find_clues, vary
from pytest_sqlbench.scoring.witness.form import has_same_form
from pytest_sqlbench.scoring.witness.tables import Column, Schema, Table


def make_table(name: str, *columns: str) -> Table:
    return Table(name, name, tuple(map(Column, columns)))


SCHEMA = Schema({"emp": make_table("emp", "id", "name", "age"), "dept": make_table("dept", "id", "emp_id", "title")})


@pytest.mark.parametrize(
    "sql, constants",
    [
        ("SELECT 1 FROM emp WHERE age > 30", {("emp", "age"): [30]}),
        ("SELECT 1 FROM emp WHERE -2.5 <= age", {("emp", "age"): [2.5]}),
        ("SELECT 1 FROM emp WHERE age = -3", {("emp", "age"): [-3, 3]}),
        ("SELECT 1 FROM emp e WHERE e.name LIKE '%it''s%'", {("emp", "name"): ["%it's%"]}),
        ("SELECT 1 FROM emp WHERE age NOT IN (1, 2)", {("emp", "age"): [1, 2, 1, 2]}),
        ("SELECT 1 FROM emp WHERE age BETWEEN 3 AND 5", {("emp", "age"): [3, 5]}),
        ('SELECT 1 FROM emp WHERE name = "Ann"', {("emp", "name"): ["Ann"]}),
        ("SELECT 1 FROM emp WHERE lower(name) = 'ann'", {("emp", "name"): ["ann"]}),
        ("SELECT 'x' FROM emp -- age > 7", {}),
    ],
)
def test_constants_stand_by_their_columns(sql: str, constants: dict[object, object]) -> None:
    found = find_clues([sql], SCHEMA).by_column
    assert {name: list(dict.fromkeys(values)) for name, values in found.items()} == {
        name: list(dict.fromkeys(values))
        for name, values in constants.items()  # type: ignore[call-overload]
    }


@pytest.mark.parametrize(
    "sql, pair",
    [
        ("SELECT 1 FROM emp AS a JOIN dept b ON a.id = b.emp_id", (("emp", "id"), ("dept", "emp_id"))),
        ("SELECT 1 FROM emp WHERE emp.id IN (SELECT emp_id FROM dept)", (("emp", "id"), ("dept", "emp_id"))),
        ("SELECT name FROM emp EXCEPT SELECT title FROM dept", (("emp", "name"), ("dept", "title"))),
    ],
)
def test_columns_that_are_compared_are_joined(sql: str, pair: object) -> None:
    assert pair in find_clues([sql], SCHEMA).joined


@pytest.mark.parametrize(
    "sql, reads_all",
    [
        ("SELECT * FROM emp", True),
        ("SELECT e.* FROM emp e", True),
        ("SELECT age, * FROM emp", True),
        ("SELECT COUNT(*) FROM emp", False),
        ("SELECT age * 2 FROM emp", False),
        ("SELECT name FROM emp NATURAL JOIN dept", True),
    ],
)
def test_stars_that_stand_for_columns(sql: str, reads_all: bool) -> None:
    assert find_clues([sql], SCHEMA).reads_all is reads_all


@given(st.text(alphabet="selctFROMemp'\"()=,.*- 12\n", max_size=60))
def test_any_text_can_be_read(sql: str) -> None:
    find_clues([sql], SCHEMA)


@pytest.mark.parametrize(
    "constant, near",
    [
        (3, {3, 2, 4, 5}),
        ("a%", {"a%", "a", "azz", "az", "za"}),
        ("2020-01-09", {"2020-01-00"}),
        ("Ann", {"aNN", "Annz"}),
    ],
)
def test_values_around_a_constant(constant: object, near: set[object]) -> None:
    assert near <= set(vary(constant))


@pytest.mark.parametrize(
    "sql, other, answer",
    [
        ("SELECT a FROM t", "select  A\nfrom T ; -- done", True),
        ("SELECT a FROM t WHERE b <> 'x'", "SELECT a FROM t WHERE b != 'x'", True),
        ("SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'X'", False),
        ("SELECT a FROM t", "SELECT a, b FROM t", False),
    ],
)
def test_same_form(sql: str, other: str, answer: bool) -> None:
    assert has_same_form(sql, other) is answer
