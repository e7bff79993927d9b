"""Tables are typed from the DDL or from their cells, and load into three engines with the same values."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.acme.patches import AGREEMENT_HEADER
from pytest_sqlbench.suites.acme.tables import Column, Table, read_tables, write_script
from tests.suites.acme import published

DDL = """
CREATE TABLE Claim
(
\tClaim_Identifier int  NOT NULL ,
\tAmount decimal(15,2)  NULL ,
\tOpened datetime  NULL ,
\t PRIMARY KEY (Claim_Identifier ASC)
)

CREATE TABLE Note
(
\tText varchar(20)  NULL
)"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.ddl").write_text(DDL, encoding="utf-8")
    (tmp_path / "Claim.csv").write_bytes(b"Claim_Identifier,Amount,Opened\r\n1,15000,2019-01-31\r\n2,,")
    (tmp_path / "Note.csv").write_bytes(b"Text\r\nit's\r\n007")
    (tmp_path / "Extra.csv").write_bytes(b"A,B,C,A\r\n1,0.5,2020-01-01,x\r\n2,3,,")
    return tmp_path


def _read(folder: Path) -> dict[str, Table]:
    return {table.name: table for table in read_tables(folder / "small.ddl", folder, {})}


def test_types_come_from_the_ddl(folder: Path) -> None:
    assert _read(folder)["Claim"] == Table(
        "Claim",
        (Column("Claim_Identifier", "int"), Column("Amount", "decimal(15,2)"), Column("Opened", "datetime")),
        (("1", "15000", "2019-01-31"), ("2", None, None)),
    )


def test_types_are_inferred_where_the_ddl_has_none_and_repeated_names_are_numbered(folder: Path) -> None:
    assert _read(folder)["Extra"].columns == (
        Column("A", "bigint"),
        Column("B", "decimal(18,6)"),
        Column("C", "datetime"),
        Column("A_1", "varchar(5000)"),
    )


def test_a_header_can_be_corrected(folder: Path) -> None:
    tables = read_tables(folder / "small.ddl", folder, {"Extra": {0: "Id"}})
    assert [column.name for column in tables[1].columns] == ["Id", "B", "C", "A"]


def test_sqlite_divides_amounts_as_numbers_and_keeps_text(folder: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as connection, connection:
        connection.executescript(write_script(_read(folder).values(), "sqlite"))
        assert connection.execute("SELECT amount / 20000 FROM claim").fetchall() == [(0.75,), (None,)]
        assert connection.execute("SELECT text FROM note").fetchall() == [("it's",), ("007",)]
    connection.close()


def test_names_are_quoted_only_where_they_must() -> None:
    table = Table("T", (Column("Loss Ratio", "int"), Column("Plain", "datetime")), ())
    assert write_script([table], "postgres") == 'CREATE TABLE T (\n    "Loss Ratio" int,\n    Plain timestamp\n);\n'


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("Claim.csv", b"Claim_Identifier,Amount\r\n1", r"Claim\.csv:2: 1 cells where the header has 2"),
        ("Claim.csv", b"Amount\r\n1\r\n1,000", r"Claim\.csv:3: 2 cells"),
        ("Claim.csv", b"Amount\r\n12e3", r"Claim\.csv:2: Amount is '12e3', which is no decimal\(15,2\)"),
        ("Claim.csv", b"", r"Claim\.csv:1: no header line"),
        ("small.ddl", b"-- empty", r"small\.ddl: no CREATE TABLE"),
        ("small.ddl", b"CREATE TABLE Party (\n X int NULL )", "no CSV file for these tables of small.ddl: party"),
    ],
    ids=["short_row", "long_row", "no_number", "no_header", "no_table", "no_csv"],
)
def test_bad_input_is_one_line(folder: Path, name: str, content: bytes, message: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(CaseError, match=message):
        _read(folder)


def test_the_published_folder_loads() -> None:
    tables = read_tables(published.ddl(), published.folder() / "data", AGREEMENT_HEADER)
    by_name = {table.name: table for table in tables}
    assert len(tables) == 29
    assert len(by_name["FireClaim"].rows) == 820
    assert [column.name for column in by_name["Agreement"].columns][::4] == [
        "Agreement_Identifier",
        "Agreement_Type_Code",
    ]
