"""The same suites on four engines: the verdicts are the same, for the gold and for three models that are wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.engines.build_server import fill_server
from pytest_sqlbench.suites.registry import load_suite
from tests.engines.servers import connect_mariadb

ROOT = Path(__file__).parents[2]
SUITES = sorted((ROOT / "cases").glob("*.yaml"))
ENGINES = ("sqlite", "duckdb", "postgres", "mysql")
HOOKS = """
import json, os
from pathlib import Path

def pytest_sqlbench_verdict(config, case, verdict):
    with open(Path(__file__).parent / f"verdicts.{os.getpid()}", "a") as file:
        file.write(json.dumps([case.suite, case.id, verdict.outcome.value, verdict.detail]) + "\\n")
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, postgres_url: str, mariadb_url: str) -> Path:
    """The suites with all engines named, and their tables on both servers."""
    import psycopg

    pytest.importorskip("duckdb")
    project = tmp_path_factory.mktemp("project")
    places = []
    with (
        psycopg.connect(postgres_url, autocommit=True) as postgres,
        connect_mariadb(mariadb_url) as mariadb,
        mariadb.cursor() as cursor,
    ):
        postgres.execute("CREATE ROLE judge LOGIN")
        cursor.execute("CREATE USER judge@'%'")
        for manifest in SUITES:
            suite = load_suite(manifest)
            (database,) = suite.databases.values()
            postgres.execute(f"CREATE DATABASE {suite.name}")
            place = f"{postgres_url.rsplit('/', 1)[0]}/{suite.name}"
            fill_server(database, place)
            with psycopg.connect(place, autocommit=True) as inside:
                inside.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO judge")
            cursor.execute(f"CREATE DATABASE {suite.name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
            fill_server(database, mariadb_url + suite.name)
            cursor.execute(f"GRANT SELECT ON {suite.name}.* TO judge@'%'")
            places.append(f"{suite.name}={place.replace('postgres@', 'judge@')}")
            places.append(f"{suite.name}={mariadb_url.replace('root@', 'judge@')}{suite.name}")
            text = manifest.read_text().replace("dialect: sqlite", f"dialect: sqlite\nengines: [{', '.join(ENGINES)}]")
            (project / manifest.name).write_text(text)
            (project / suite.name).symlink_to(manifest.parent / suite.name)
    (project / "conftest.py").write_text(HOOKS)
    (project / "pytest.ini").write_text(
        "[pytest]\nsqlbench_database =\n" + "".join(f"    {place}\n" for place in places)
    )
    return project


def judge(project: Path, spec: str) -> dict[tuple[str, str], dict[str, str]]:
    """Run a model; return the outcome of each case by engine."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", f"--sqlbench-model={spec}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command += ["--sqlbench-transpile-gold"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, env=environment, timeout=500)
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    verdicts: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for path in project.glob("verdicts.*"):
        for line in path.read_text().splitlines():
            suite, name, outcome, detail = json.loads(line)
            case, _, engine = name.partition("@")
            verdicts[suite, case][engine] = outcome if outcome != "gold_error" else f"gold_error: {detail}"
        path.unlink()
    return verdicts


def _unlike(verdicts: dict[tuple[str, str], dict[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    return {
        case: found for case, found in verdicts.items() if len(set(found.values())) > 1 or len(found) != len(ENGINES)
    }


def test_the_gold_is_right_everywhere(project: Path) -> None:
    verdicts = judge(project, "gold")
    assert _unlike(verdicts) == {}
    assert {outcome for found in verdicts.values() for outcome in found.values()} == {"correct"}
    assert len(verdicts) >= 80


@pytest.mark.parametrize("turn", [0, 1, 2], ids=["first", "second", "third"])
def test_a_wrong_model_is_as_wrong_everywhere(project: Path, turn: int) -> None:
    replies: dict[str, dict[str, str]] = defaultdict(dict)
    for manifest in SUITES:
        wrong: dict[str, list[str]] = defaultdict(list)
        for line in (ROOT / "tests" / "wrong_queries" / f"{manifest.stem}.jsonl").read_text().splitlines():
            entry = json.loads(line)
            wrong[entry["id"]].append(entry["sql"])
        for case in load_suite(manifest).cases:
            queries = [*wrong[case.id], "SELECT 1", case.gold[0]]
            for engine in ENGINES:
                replies[manifest.stem][f"{case.id}@{engine}"] = queries[min(turn, len(queries) - 1)]
    (project / "model.py").write_text(
        f"REPLIES = {json.dumps(replies)}\n\n\ndef answer(case):\n    return REPLIES[case.suite][case.id]\n"
    )
    verdicts = judge(project, "python:model:answer")
    assert _unlike(verdicts) == {}
