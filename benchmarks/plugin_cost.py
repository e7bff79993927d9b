"""What the plugin costs a case, as ratios against empty pytest items that are collected the same way.

    python benchmarks/plugin_cost.py [--large]

CPU seconds (user and system, children included) of whole pytest processes; best of ``--repeat`` runs in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

EMPTY = """
import json, pytest

class Lines(pytest.File):
    def collect(self):
        base = self.nodeid
        for line in self.path.open():
            name = f"big[{json.loads(line)['id']}]"
            yield Empty.from_parent(self, name=name, nodeid=f"{base}::{name}")

class Empty(pytest.Item):
    def runtest(self):
        pass

    @property
    def location(self):
        return self.parent.nodeid, 0, self.name

    def reportinfo(self):
        return self.path, 0, self.name

def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".jsonl":
        return Lines.from_parent(parent, path=file_path)
"""

QUIET = ["-q", "-p", "no:hypothesispytest", "-p", "no:anyio"]


def write_suite(folder: Path, n: int) -> None:
    """Write a suite of n small queries over one table, and predictions of which every fifth is wrong."""
    (folder / f"big{n}.yaml").write_text(
        "sqlbench: 1\nname: big\n"
        "database:\n  schema: CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT);\n  rows: {t: t.csv}\n"
        f"data: cases{n}.jsonl\n"
    )
    (folder / "t.csv").write_text("id,a,b\n" + "".join(f"{i},{i % 7},x{i % 13}\n" for i in range(1, 51)))
    with (folder / f"cases{n}.jsonl").open("w") as cases, (folder / f"wrong{n}.jsonl").open("w") as wrong:
        for i in range(n):
            gold = f"SELECT id, b FROM t WHERE a = {i % 7} AND id < {10 + i % 40}"
            question = f"Which rows have {i % 7} for a and an id below {10 + i % 40}?"
            entry = {"id": f"q{i:05d}", "question": question, "gold": gold, "difficulty": ("easy", "hard")[i % 2]}
            cases.write(json.dumps(entry) + "\n")
            wrong.write(json.dumps({"id": f"q{i:05d}", "reply": gold if i % 5 else "SELECT id, b FROM t"}) + "\n")


def measure(folder: Path, arguments: list[str]) -> tuple[float, float]:
    """Run pytest; return its CPU seconds and its peak memory in megabytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *QUIET, *arguments], cwd=folder, stdout=subprocess.DEVNULL, env=environment
    )
    _, _, usage = os.wait4(process.pid, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also run 80,000 cases, for the memory")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        empty = folder / "empty"
        empty.mkdir()
        (empty / "conftest.py").write_text(EMPTY)
        best: dict[tuple[str, int], float] = {}
        start = min(measure(folder, ["--version"])[0] for _ in range(arguments.repeat))
        for n in (5_000, 10_000):
            write_suite(folder, n)
            os.link(folder / f"cases{n}.jsonl", empty / f"cases{n}.jsonl")
            runs = {
                "empty items": (empty, [f"cases{n}.jsonl"]),
                "all right": (folder, [f"big{n}.yaml", "--sqlbench-model=gold"]),
                "20 % wrong": (folder, [f"big{n}.yaml", f"--sqlbench-model=file:wrong{n}.jsonl"]),
            }
            for _ in range(arguments.repeat):
                for label, (where, words) in runs.items():
                    cpu, _ = measure(where, words)
                    best[label, n] = min(cpu, best.get((label, n), cpu))
        report(best, start)
        if arguments.large:
            write_suite(folder, 80_000)
            cpu, peak = measure(folder, ["big80000.yaml", "--sqlbench-model=gold"])
            print(f"80,000 cases: {cpu:.1f} s CPU, {peak:.0f} MB at most")


def report(best: dict[tuple[str, int], float], start: float) -> None:
    """Print seconds, microseconds a case, and the two ratios that matter."""
    print(f"{'':14}{'5,000':>10}{'10,000':>10}{'growth':>9}{'µs a case':>11}{'ratio to empty':>16}")
    floor = best["empty items", 10_000]
    for label in ("empty items", "all right", "20 % wrong"):
        half, whole = best[label, 5_000], best[label, 10_000]
        each = 1e6 * (whole - start) / 10_000
        print(f"{label:14}{half:>8.2f} s{whole:>8.2f} s{whole / half:>9.2f}{each:>11.0f}{whole / floor:>16.2f}")
    above = 1e6 * (best["all right", 10_000] - floor) / 10_000
    print(f"a right case costs {above:.0f} µs above an empty item")


if __name__ == "__main__":
    main()
