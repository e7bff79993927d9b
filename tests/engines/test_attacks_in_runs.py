"""The hostile corpora as predictions of a model, in a real run: serial and with two workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.evaluation.execution import REASONS
from pytest_sqlbench.result import Status
from pytest_sqlbench.verdict import Reason
from tests.engines.attacks import ENDS, OK, digest, read_attacks
from tests.engines.servers import build_postgres, connect_mariadb
from tests.engines.test_mysql import BENCH
from tests.shared_data import shared

STATUSES: dict[Reason, Status] = {
    **{reason: status for status, reason in REASONS.items()},
    Reason.NO_SQL: Status.NO_RESULT_SET,
    Reason.SEVERAL_STATEMENTS: Status.DENIED,
}
HOOKS = """
import json, os
from pathlib import Path

def pytest_sqlbench_verdict(config, case, verdict):
    from pytest_sqlbench.engines.sandbox import _SANDBOXES
    peak = 0
    for sandbox in _SANDBOXES.values():
        try:
            status = Path(f"/proc/{sandbox.pid}/status").read_text()
        except OSError:
            continue
        peak = max(peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")))
        for link in Path(f"/proc/{sandbox.pid}/fd").iterdir():
            assert "socket:" not in os.readlink(link)
    reason = verdict.reason.value if verdict.reason else None
    entry = dict(case=case.id, reason=reason, flags=verdict.flags, ms=verdict.predicted_ms)
    entry.update(peak=peak, said=verdict.detail)
    with open(Path(__file__).parent / f"verdicts.{os.getpid()}", "a") as file:
        file.write(json.dumps(entry) + "\\n")
"""


@pytest.fixture(params=[(), ("-n", "2")], ids=["serial", "two_workers"])
def workers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The arguments for xdist."""
    return request.param  # type: ignore[no-any-return]


def run_corpus(
    tmp_path: Path, name: str, engine: str, place: str, scratch: Path, workers: tuple[str, ...]
) -> list[str]:
    """Run a corpus as predictions; return what did not end as it has to."""
    attacks = read_attacks(shared(f"attacks/{name}.jsonl"), scratch)
    project = tmp_path / "project"
    project.mkdir()
    cases = [{"id": attack.id, "question": attack.id, "gold": "SELECT count(*) FROM singer"} for attack in attacks]
    (project / "attacks.yaml").write_text(
        f"sqlbench: 1\nname: attacks\nengine: {engine}\ndatabase: {place}\ndata: cases.jsonl\n"
    )
    (project / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    replies = {attack.id: attack.sql for attack in attacks}
    (project / "replies.json").write_text(json.dumps(replies))
    (project / "conftest.py").write_text(HOOKS)
    options = ["--sqlbench-model=file:replies.json", "--sqlbench-timeout=1", "--sqlbench-extract=off"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *workers, "attacks.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-3000:]
    verdicts: dict[str, Any] = {}
    for path in project.glob("verdicts.*"):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            verdicts[entry["case"]] = entry
    assert verdicts.keys() == replies.keys()
    return [fault for attack in attacks for fault in _faults(attack, verdicts[attack.id])]


def _faults(attack: Any, entry: dict[str, Any]) -> list[str]:
    reason = Reason(entry["reason"]) if entry["reason"] else None
    end = STATUSES.get(reason, OK) if reason is not None else OK
    faults = []
    if end not in ENDS[attack.expect]:
        faults.append(f"{attack.id} ended as {end} ({entry['said']}), wanted {attack.expect}")
    if entry["ms"] > 3000:
        faults.append(f"{attack.id} took {entry['ms']} ms")
    if attack.expect == "flag" and "nondeterministic" not in entry["flags"]:
        faults.append(f"{attack.id} is not flagged")
    if entry["peak"] * 1024 > (1024 + 200) * 2**20:
        faults.append(f"{attack.id} took {entry['peak']} kB")
    return faults


@pytest.mark.parametrize("name, file", [("sqlite", "t.db"), ("duckdb", "t.duckdb")])
def test_embedded_engines(tmp_path: Path, name: str, file: str, workers: tuple[str, ...]) -> None:
    if name == "duckdb":
        pytest.importorskip("duckdb", minversion="2.0", reason="the corpus is for DuckDB 2")
    scratch = tmp_path / "scratch"
    subprocess.run([sys.executable, str(shared("attacks/setup.py")), str(scratch)], check=True)
    for other in scratch.iterdir():
        if other.name != file:
            other.unlink()
    before = digest(scratch)
    assert run_corpus(tmp_path, name, name, str(scratch / file), scratch, workers) == []
    assert digest(scratch) == before


def test_postgres(tmp_path: Path, postgres_url: str, workers: tuple[str, ...]) -> None:
    place, reader = build_postgres(postgres_url, shared("attacks/setup_postgres.sql").read_text())
    from tests.engines.test_postgres import _dump

    before = _dump(place)
    assert run_corpus(tmp_path, "postgres", "postgres", reader, tmp_path, workers) == []
    assert _dump(place) == before


def test_mariadb(tmp_path: Path, mariadb_url: str, workers: tuple[str, ...]) -> None:
    with connect_mariadb(mariadb_url) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS boats")
        for statement in filter(str.strip, BENCH.split(";")):
            cursor.execute(statement)
    from tests.engines.test_mysql import _dump

    before = _dump(mariadb_url)
    url = mariadb_url.replace("root@", "bench_ro@") + "bench"
    assert run_corpus(tmp_path, "mysql", "mysql", url, tmp_path, workers) == []
    assert _dump(mariadb_url) == before
