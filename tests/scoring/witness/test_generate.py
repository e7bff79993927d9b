from __future__ import annotations

from pytest_sqlbench.scoring.witness.constants import find_clues
from pytest_sqlbench.scoring.witness.generate import Generator, Instance
from pytest_sqlbench.scoring.witness.tables import Column, Reference, Schema, Table

EMP = Table(
    "emp",
    "Emp",
    (
        Column("id", "integer", is_nullable=False, has_nulls=False, is_unique=True, is_row_number=True),
        Column("name", "text", is_nullable=False, has_nulls=False),
        Column("age", "integer", samples=(33, 44)),
    ),
)
PET = Table(
    "pet",
    "Pet",
    (Column("emp_id", "integer", has_nulls=False), Column("kind", "text", checked=("cat", "dog"))),
    (Reference(("emp_id",), "emp", ("id",)),),
)
SCHEMA = Schema({"emp": EMP, "pet": PET})
SQL = "SELECT Emp.name, Pet.kind FROM Pet JOIN Emp ON Pet.emp_id = Emp.id WHERE Emp.age > 30"


def instances(n: int = 60, seed: int = 0, sql: str = SQL) -> list[Instance]:
    generator = Generator(SCHEMA, find_clues([sql], SCHEMA), seed)
    return [generator.draw(number) for number in range(n)]


def test_the_same_seed_gives_the_same_rows() -> None:
    assert instances(seed=3) == instances(seed=3) != instances(seed=4)


def test_tables_come_after_those_they_refer_to() -> None:
    assert list(instances(1)[0]) == ["emp", "pet"]


def test_keys_are_unique_and_never_null() -> None:
    for instance in instances():
        keys = [row[0] for row in instance["emp"]]
        assert len(set(keys)) == len(keys)
        assert all(isinstance(key, int) for key in keys)
        assert all(row[1] is not None for row in instance["emp"])


def test_references_lead_to_rows() -> None:
    for instance in instances():
        assert {row[0] for row in instance["pet"]} <= {row[0] for row in instance["emp"]}


def test_values_come_from_around_constants_data_and_checks() -> None:
    made = instances()
    ages = {row[2] for instance in made for row in instance["emp"]}
    assert {30, 31, 29, 33, 44, None} <= ages
    assert {"cat", "dog"} <= {row[1] for instance in made for row in instance["pet"]}


def test_tables_are_empty_in_some_instances_and_repeat_values_in_most() -> None:
    made = instances()
    assert any(not instance["emp"] for instance in made)
    assert sum(len({row[1] for row in one["emp"]}) < len(one["emp"]) for one in made) > len(made) / 3


def test_columns_that_nobody_reads_get_no_values() -> None:
    generator = Generator(SCHEMA, find_clues(["SELECT COUNT(*) FROM Emp"], SCHEMA), 0)
    assert [[column.name for column in columns] for _, columns in generator.tables] == [["id", "name"]]
