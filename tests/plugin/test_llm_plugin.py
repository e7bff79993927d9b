"""A published plugin of the llm library, which runs offline, answers cases of cases/ through pytest."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

TEMPLATE = """{{"raw": "SELECT COUNT(*) FROM patients", "id": "{id}"}}"""
"""The echo model gives back what stands under ``raw``: every case is answered with this query, by a call of its own."""


@pytest.mark.skipif(find_spec("llm_echo") is None, reason="needs: pip install llm-echo")
def test_a_published_plugin_answers_ten_cases(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_USER_PATH", str(pytester.path / "llm"))
    monkeypatch.setenv("LLM_LOAD_PLUGINS", "llm-echo")
    (pytester.path / "echo.txt").write_text(TEMPLATE)
    args = ["-p", "no:hypothesispytest", str(ROOT / "cases" / "clinic.yaml"), "--rootdir=.", "--sqlbench-limit=10"]
    args += ["--sqlbench-model=llm:echo", "--sqlbench-prompt=echo.txt"]
    result = pytester.runpytest_subprocess(*args)
    result.assert_outcomes(passed=1, failed=9)
    # the plugin counts words
    result.stdout.fnmatch_lines(["clinic  10    10.0 % *", "answers     10 calls, 70 + 40 tokens, cost unknown"])
    again = pytester.runpytest_subprocess(*args)
    again.assert_outcomes(passed=1, failed=9)
    again.stdout.fnmatch_lines(["answers     0 calls, 10 from the store"])
