"""Programs answer by JSON on their pipes; one that fails, hangs or talks nonsense is an error with its words."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.errors import ModelError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.answers import Answers
from pytest_sqlbench.predictors.calling import CallOptions
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.registry import make_predictor
from pytest_sqlbench.predictors.store import Store
from tests.predictors.cases import make_suite

SUITE = make_suite("a", "b")
CASE = SUITE.cases[0]

Maker = Callable[..., Any]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Maker]:
    """Write a Python program, and make the predictor that runs it."""
    made = []

    def make(code: str, scheme: str = "cmd", timeout_s: float = 20.0) -> Any:
        path = tmp_path / "program.py"
        path.write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n{code}\n")
        path.chmod(0o755)
        predictor: Any = make_predictor(f"{scheme}:./program.py --flag", tmp_path, ModelOptions(timeout_s=timeout_s))
        predictor.bind_suite(SUITE)
        made.append(predictor)
        return predictor

    yield make
    for predictor in made:
        predictor.close()


ECHO = "for line in sys.stdin: print(json.dumps({'sql': 'SELECT ' + json.loads(line)['id'], 'prompt_tokens': os.getpid()}), flush=True)"  # noqa: E501


def test_a_program_is_told_the_case_and_its_output_is_the_reply(program: Maker) -> None:
    predictor = program("told = json.load(sys.stdin); print(json.dumps([told, sys.argv[1:]]))")
    told, arguments = json.loads(predictor.predict(CASE, sample=2).reply)
    assert arguments == ["--flag"]
    assert told.pop("prompt").startswith("Write one SQLite query")
    assert told == {
        "suite": "shop",
        "id": "a",
        "question": "What is a?",
        "evidence": "",
        "dialect": "sqlite",
        "database": "",
        "sample": 2,
    }


def test_an_open_program_answers_line_by_line(program: Maker) -> None:
    predictor = program(ECHO, "cmd-lines")
    found = [predictor.predict(case) for case in SUITE.cases]
    assert [one.reply for one in found] == ["SELECT a", "SELECT b"]
    assert found[0].usage == found[1].usage


@pytest.mark.parametrize(
    "line, expected",
    [
        ('"SELECT 1"', Prediction("SELECT 1")),
        ("null", Prediction(None)),
        ('{"sql": "SELECT 1", "cost_usd": 0.5}', Prediction("SELECT 1", Usage(cost_usd=0.5))),
    ],
)
def test_a_line_may_hold_what_a_function_may_return(line: str, expected: Prediction, program: Maker) -> None:
    assert program(f"for _ in sys.stdin: print({line!r}, flush=True)", "cmd-lines").predict(CASE) == expected


@pytest.mark.parametrize(
    "scheme, code, message",
    [
        ("cmd", "sys.exit('no luck\\n')", r"cmd:\./program\.py --flag: ended with code 1: no luck"),
        ("cmd", "os.kill(os.getpid(), 9)", "ended with code -9: no word on standard error"),
        ("cmd", "time.sleep(60)", r"no answer within 1 s"),
        ("cmd", "subprocess.Popen(['sleep', '60'])", r"no answer within 1 s"),
        ("cmd-lines", "sys.stdin.readline(); sys.exit('no luck')", "ended with code 1: no luck"),
        (
            "cmd-lines",
            "sys.stdin.readline(); print('half', end='', flush=True); time.sleep(60)",
            "no answer within 1 s",
        ),
        ("cmd-lines", "time.sleep(60)", "no answer within 1 s"),
        ("cmd-lines", "for _ in sys.stdin: print('hello', flush=True)", "the answer is not a line of JSON: 'hello"),
        ("cmd-lines", "for _ in sys.stdin: print('[1]', flush=True)", "answered list, wanted is a string"),
        ("cmd-lines", 'for _ in sys.stdin: print(\'{"error": "quota"}\', flush=True)', "--flag: quota"),
        ("cmd-lines", "for _ in sys.stdin: print('{\"text\": 1}', flush=True)", "neither 'reply' nor 'sql'"),
    ],
)
def test_what_a_program_does_wrong_is_a_model_error(scheme: str, code: str, message: str, program: Maker) -> None:
    with pytest.raises(ModelError, match=message):
        program(code, scheme, timeout_s=1.0).predict(CASE)


def test_an_open_program_that_ended_is_started_anew(program: Maker) -> None:
    predictor = program("print(json.dumps(sys.stdin.readline()[:1]), flush=True)", "cmd-lines")
    options = CallOptions(concurrency=1, first_wait_s=0.01)
    answers = Answers(predictor, Store(None), options)
    assert [answers.predict(case).reply for case in SUITE.cases] == ["{", "{"]
    answers.close()


def _is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_closing_kills_what_runs_and_what_it_started(program: Maker, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    predictor = program(
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"print(os.getpid(), child.pid, file=open({str(pids)!r}, 'w'), flush=True)\n"
        "time.sleep(60)"
    )
    threading.Timer(1.0, predictor.close).start()
    begun = time.monotonic()
    with pytest.raises(ModelError):
        predictor.predict(CASE)
    assert time.monotonic() - begun < 5.0
    deadline = time.monotonic() + 20
    while any(map(_is_alive, pids.read_text().split())):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_another_program_text_is_another_fingerprint(program: Maker) -> None:
    first = program("print(1)").fingerprint(CASE)
    assert program("print(1)").fingerprint(CASE) == first
    assert program("print(2)").fingerprint(CASE) != first


@pytest.mark.parametrize(
    "spec, message",
    [
        ("cmd:", "names no program"),
        ("cmd:./nowhere.sh", "no such program: .*nowhere.sh"),
        ("cmd:'x", "is no command line: No closing quotation"),
        ("cmd-lines:./plain.txt", "is not executable"),
    ],
)
def test_a_wrong_command_line_is_told_at_once(spec: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("")
    os.chmod(tmp_path / "plain.txt", 0o644)
    with pytest.raises(UsageError, match=message):
        make_predictor(spec, tmp_path)


def test_a_program_that_is_not_on_the_path_is_a_model_error(tmp_path: Path) -> None:
    predictor: Any = make_predictor("cmd:no-such-program-here", tmp_path)
    predictor.bind_suite(SUITE)
    with pytest.raises(ModelError, match="cannot be started: No such file"):
        predictor.predict(CASE)
