"""Hostile statements against the embedded engines: each ends as it has to, and the folder stays as it was."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines import sandbox
from pytest_sqlbench.engines.registry import open_engine
from tests.engines.attacks import LIMITS, SETTINGS, check, digest, peak_memory, read_attacks
from tests.shared_data import shared

FILES = {"sqlite": "t.db", "duckdb": "t.duckdb"}
SLACK_BYTES = 200 * 2**20


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The databases of the corpora, built once."""
    folder = tmp_path_factory.mktemp("attacks")
    subprocess.run([sys.executable, str(shared("attacks/setup.py")), str(folder)], check=True)
    return folder


@pytest.fixture(params=sorted(FILES))
def folder(request: pytest.FixtureRequest, databases: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with one database, which has to be the same afterwards."""
    if request.param == "duckdb":
        pytest.importorskip("duckdb", minversion="2.0", reason="the corpus is for DuckDB 2")
    shutil.copy(databases / FILES[request.param], tmp_path)
    before = digest(tmp_path)
    yield tmp_path
    assert digest(tmp_path) == before


def test_every_statement_of_the_corpus_is_contained(folder: Path) -> None:
    (path,) = folder.iterdir()
    (engine_name,) = (name for name, file in FILES.items() if file == path.name)
    engine = open_engine(engine_name, Database("t", path), SETTINGS)
    failures = []
    process = sandbox.shared_sandbox(engine_name, LIMITS.memory_bytes)
    for attack in read_attacks(shared(f"attacks/{engine_name}.jsonl"), folder):
        try:
            check(engine, attack)
        except AssertionError as error:
            failures.append(str(error))
        assert peak_memory(process.pid) < LIMITS.memory_bytes + SLACK_BYTES
        if len(list(folder.iterdir())) > 1:
            failures.append(f"{attack.id} left a file")
    engine.close()
    gc.collect()
    assert failures == []


def test_the_engine_answers_as_before_after_each_attack(folder: Path) -> None:
    (path,) = folder.iterdir()
    (engine_name,) = (name for name, file in FILES.items() if file == path.name)
    engine = open_engine(engine_name, Database("t", path), SETTINGS)
    probe = "SELECT count(*), min(name), max('ABC' LIKE 'abc') FROM singer"
    want = engine.run_gold(probe)
    for attack in read_attacks(shared(f"attacks/{engine_name}.jsonl"), folder):
        if attack.expect.startswith(("denied", "policy", "flag", "error_or_safe")):
            engine.run_prediction(attack.sql)
            assert engine.run_prediction(probe).rows == want.rows, attack.id  # type: ignore[union-attr]
    engine.close()
