"""How near to the ideal a run with a slow endpoint comes: 200 cases at 0.5 s a call over real HTTP, 32 at once.

    python benchmarks/model_calls.py

prints wall time, CPU time and calls of a first run, a second one, ``--lf``, and both runs under ``-n 2``. The ideal is
seven rounds of 0.5 s. Start-up of pytest itself is measured beside it, since a busy machine makes everything slower.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.predictors.endpoint import Call, Endpoint, answering, serving

LEAN = ["-p", "no:hypothesispytest", "-p", "no:anyio", "-q"]


def write_suite(folder: Path, n: int) -> None:
    """Write a suite whose questions tell their golds."""
    cases = "".join(f"  - {{id: c{i:05d}, question: 'Q{i:05d}?', gold: SELECT {i}}}\n" for i in range(n))
    (folder / "big.yaml").write_text(
        f"sqlbench: 1\nname: big\ndatabase: {{schema: CREATE TABLE t (a)}}\ncases:\n{cases}", encoding="utf-8"
    )
    (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")


def answer(call: Call) -> str:
    """Answer rightly."""
    found = re.search(r"Q(\d+)\?", call.prompt)
    assert found is not None
    return f"SELECT {int(found[1])}"


def measure(folder: Path, endpoint: Endpoint, label: str, *args: str) -> None:
    """Run pytest once and print what it took."""
    calls, began_s = len(endpoint.calls), time.monotonic()
    used_s = _children_s()
    # without compiled modules on disk every start compiles everything anew, which measures something else
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", *LEAN, *args]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall_s = time.monotonic() - began_s
    tail = result.stdout.strip().splitlines()[-1] if result.stdout.strip() else result.stderr[-200:]
    print(
        f"{label:24} wall {wall_s:6.2f} s   CPU {_children_s() - used_s:5.2f} s   "
        f"calls {len(endpoint.calls) - calls:4}   {tail}",
        flush=True,
    )


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--concurrency", type=int, default=32)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, serving(answering(answer, args.seconds)) as endpoint:
        folder = Path(name)
        write_suite(folder, args.cases)
        rounds = -(-args.cases // args.concurrency)
        print(f"{args.cases} cases, {args.seconds:g} s a call, {args.concurrency} at once: {rounds * args.seconds:g} s")
        asked = ["big.yaml", "--sqlbench-model=openai:m", f"--sqlbench-base-url={endpoint.url}"]
        asked.append(f"--sqlbench-concurrency={args.concurrency}")
        measure(folder, endpoint, "pytest, one empty test", "test_nothing.py")
        measure(folder, endpoint, "gold", "big.yaml", "--sqlbench-model=gold")
        measure(folder, endpoint, "first", *asked)
        measure(folder, endpoint, "second", *asked)
        measure(folder, endpoint, "--lf", *asked, "--lf")
        measure(folder, endpoint, "pytest -n 2, empty", "test_nothing.py", "-n", "2")
        measure(folder, endpoint, "first, -n 2", *asked, "-n", "2", "--sqlbench-refresh")
        measure(folder, endpoint, "second, -n 2", *asked, "-n", "2")
        print(f"most calls under way at once: {endpoint.most_under_way}")


if __name__ == "__main__":
    main()
