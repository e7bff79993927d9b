"""5,000 cases over one PostgreSQL with four workers, 200 timeouts among them: nothing is lost and nothing is left.

    python benchmarks/load_postgres.py [--cases 5000] [--workers 4] [--late 200]

Starts a server of its own (the programs of PostgreSQL have to be installed), runs the plugin, and prints one line of
JSON: verdicts by outcome and reason, and the server's connections and processes before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.engines.servers import run_postgres  # noqa: E402 - the repository's root is not on the path of a script

HOOKS = """
import json, os
from pathlib import Path

def pytest_sqlbench_verdict(config, case, verdict):
    reason = verdict.reason.value if verdict.reason else ""
    with open(Path(__file__).parent / f"verdicts.{os.getpid()}", "a") as file:
        file.write(json.dumps([case.id, verdict.outcome.value, reason]) + "\\n")
"""


def write_project(folder: Path, url: str, cases: int, late: int) -> None:
    """Write a suite of small queries; every so many-th prediction sleeps, or burns time, beyond its deadline."""
    every = cases // late
    with open(folder / "cases.jsonl", "w") as suite, open(folder / "replies.jsonl", "w") as replies:
        for i in range(cases):
            gold = f"SELECT name, price FROM item WHERE id % {i % 97 + 2} = 1 ORDER BY id LIMIT 20"
            reply = gold
            if i % every == 0:
                burn = "SELECT count(*) FROM item a, item b, item c, item d"
                reply = f"SELECT pg_sleep(30), {i}" if i % (2 * every) else burn
            suite.write(json.dumps({"id": f"c{i}", "question": "?", "gold": gold}) + "\n")
            replies.write(json.dumps({"id": f"c{i}", "sql": reply}) + "\n")
    (folder / "load.yaml").write_text(
        f"sqlbench: 1\nname: load\nengine: postgres\ndialect: postgres\ndatabase: {url}\ndata: cases.jsonl\n"
    )
    (folder / "conftest.py").write_text(HOOKS)


def _sessions(admin: Any) -> list[tuple[Any, ...]]:
    query = "SELECT pid, state, left(query, 60) FROM pg_stat_activity WHERE usename = 'judge' ORDER BY pid"
    return admin.execute(query).fetchall()  # type: ignore[no-any-return]


def _processes(admin: Any) -> int:
    """Count the server's processes, so that one without a session is found too."""
    backend = admin.info.backend_pid
    parent = int(Path(f"/proc/{backend}/stat").read_text().rsplit(")", 1)[1].split()[1])
    stats = (path.read_text().rsplit(")", 1)[1].split()[1] for path in Path("/proc").glob("[0-9]*/stat"))
    return sum(1 for ppid in stats if int(ppid) == parent)


def main() -> int:
    """Run the load and print what is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--cases", 5000), ("--workers", 4), ("--late", 200)):
        parser.add_argument(name, type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, run_postgres() as url, psycopg.connect(url, autocommit=True) as admin:
        folder = Path(name)
        admin.execute("CREATE ROLE judge LOGIN; CREATE TABLE item(id int PRIMARY KEY, name text, price numeric(8, 2))")
        admin.execute("INSERT INTO item SELECT i, 'item ' || i, i * 1.25 FROM generate_series(1, 2000) i; ANALYZE item")
        admin.execute("GRANT SELECT ON item TO judge")
        write_project(folder, url.replace("postgres@", "judge@"), args.cases, args.late)
        processes = _processes(admin)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(args.workers), "load.yaml"]
        command += ["--sqlbench-model=file:replies.jsonl", "--sqlbench-timeout=0.5", "--sqlbench-show-wrong=0"]
        start = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
        took_s = time.monotonic() - start
        time.sleep(2)
        left = _sessions(admin)
        verdicts: Counter[str] = Counter()
        ids: set[str] = set()
        for path in folder.glob("verdicts.*"):
            for line in path.read_text().splitlines():
                case, outcome, reason = json.loads(line)
                ids.add(case)
                verdicts[f"{outcome} {reason}".strip()] += 1
        report = {
            **{"cases": args.cases, "workers": args.workers, "exit_code": done.returncode, "took_s": round(took_s)},
            **{"verdicts": dict(verdicts), "cases_with_a_verdict": len(ids), "sessions_left": left},
            **{"processes_before": processes, "processes_after": _processes(admin)},
            "summary": [line for line in done.stdout.splitlines() if line.startswith("load")][:1],
        }
    print(json.dumps(report, default=str))
    is_well = len(ids) == args.cases and not left and verdicts["wrong timeout"] == args.late
    if not is_well:
        print(done.stdout[-3000:], done.stderr[-2000:], file=sys.stderr)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
