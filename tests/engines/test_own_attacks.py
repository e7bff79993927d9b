"""The repository's own hostile statements, each engine's on a small database of boats."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.result import Engine
from tests.engines.attacks import SETTINGS, Attack, check, digest, read_attacks
from tests.engines.servers import connect_mariadb

CORPORA = Path(__file__).parent / "corpora"
TABLES = (
    "CREATE TABLE boat(id INTEGER PRIMARY KEY, name VARCHAR(20), port VARCHAR(20), length_m DECIMAL(5, 2))",
    "CREATE TABLE trip(id INTEGER PRIMARY KEY, boat_id INTEGER)",
    "CREATE VIEW long_boat AS SELECT name FROM boat WHERE length_m > 10",
    "INSERT INTO boat VALUES (1, 'Ask', 'Oslo', 12.5), (2, 'Embla', 'Oslo', 9), (3, 'Ran', NULL, 30)",
    "INSERT INTO trip VALUES (1, 1), (2, 1), (3, 3)",
)
PROBE = "SELECT name, port, length_m FROM boat ORDER BY id"


def run_all(engine: Engine, attacks: list[Attack]) -> None:
    """Run a corpus; after each statement the engine has to answer as before."""
    want = engine.run_prediction(PROBE).rows  # type: ignore[union-attr]
    faults = []
    for attack in attacks:
        try:
            check(engine, attack)
            assert engine.run_prediction(PROBE).rows == want  # type: ignore[union-attr]
        except AssertionError as error:
            faults.append(str(error))
    engine.close()
    assert faults == []


@pytest.mark.parametrize("name", ["sqlite", "duckdb"])
def test_embedded_engines(tmp_path: Path, name: str) -> None:
    path = tmp_path / "boats.db"
    connection = sqlite3.connect(path) if name == "sqlite" else pytest.importorskip("duckdb").connect(str(path))
    for statement in TABLES:
        connection.execute(statement)
    if name == "sqlite":
        connection.commit()
    connection.close()
    before = digest(tmp_path)
    engine = open_engine(name, Database("boats", path), SETTINGS)
    run_all(engine, read_attacks(CORPORA / f"{name}.jsonl", tmp_path))
    assert digest(tmp_path) == before


def test_postgres(tmp_path: Path, postgres_url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    place = postgres_url.rsplit("/", 1)[0] + "/own_attacks"
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE own_attacks")
        admin.execute("CREATE ROLE own_reader LOGIN")
    with psycopg.connect(place, autocommit=True) as admin:
        for statement in (*TABLES, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO own_reader"):
            admin.execute(statement)
    engine = open_engine("postgres", Database("x", url=place.replace("postgres@", "own_reader@")), SETTINGS)
    run_all(engine, read_attacks(CORPORA / "postgres.jsonl", tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_mariadb(tmp_path: Path, mariadb_url: str) -> None:
    with connect_mariadb(mariadb_url) as connection, connection.cursor() as cursor:
        for statement in ("CREATE DATABASE own_attacks", "USE own_attacks", *TABLES, "CREATE USER own_reader@'%'"):
            cursor.execute(statement)
        cursor.execute("GRANT SELECT ON own_attacks.* TO own_reader@'%'")
    url = mariadb_url.replace("root@", "own_reader@") + "own_attacks"
    engine = open_engine("mysql", Database("x", url=url), SETTINGS)
    run_all(engine, read_attacks(CORPORA / "mysql.jsonl", tmp_path))
    assert list(tmp_path.iterdir()) == []
