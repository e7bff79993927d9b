"""Models behind a real server on loopback, asked through pytest: calls are made once, errors are not wrong answers."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.plugin.conftest import GOLDS, Project
from tests.predictors import endpoint as manners
from tests.predictors.endpoint import Call, Endpoint, answering, first, refusing, serving

SQL = {case_id: gold for case_id, gold, _ in GOLDS}


def _gold(call: Call) -> str:
    found = re.search(r"Question: Q ([a-z-]+)\?", call.prompt)
    assert found is not None
    return f"```sql\n{SQL[found[1]]};\n```"


RIGHT = answering(_gold)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A server that answers every case rightly."""
    with serving(RIGHT) as running:
        yield running


def _ask(project: Project, endpoint: Endpoint, *args: str) -> pytest.RunResult:
    quick = ("--sqlbench-retries=1", "--sqlbench-concurrency=4", "--sqlbench-model-timeout=20")
    return project.run("cases", "--sqlbench-model=openai:m", f"--sqlbench-base-url={endpoint.url}", *quick, *args)


def test_each_case_is_asked_once_and_later_runs_ask_nothing(
    project: Project, endpoint: Endpoint, workers: tuple[str, ...]
) -> None:
    result = _ask(project, endpoint, *workers)
    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines(["answers     10 calls, 1,000 + 200 tokens, cost unknown"])
    assert len(endpoint.calls) == 10
    laters = [workers] if workers else [(), ("--lf",), ("--sqlbench-offline",), ("--sqlbench-policy=strict",)]
    for more in laters:
        result = _ask(project, endpoint, *more)
        result.assert_outcomes(passed=10)
        result.stdout.fnmatch_lines(["answers     0 calls, 10 from the store"])
    assert len(endpoint.calls) == 10
    assert (project.path / ".sqlbench" / "predictions.db").is_file()


def test_another_parameter_is_another_answer(project: Project, endpoint: Endpoint) -> None:
    for args in ((), ("--sqlbench-temperature=0.7",), ("--sqlbench-prompt-rows=1",), ("--sqlbench-refresh",)):
        _ask(project, endpoint, *args).assert_outcomes(passed=10)
    assert len(endpoint.calls) == 40
    assert endpoint.calls[10].body["temperature"] == 0.7
    assert "-- first rows of item:" in endpoint.calls[20].prompt


def test_a_failing_endpoint_is_an_error_and_not_a_wrong_answer(
    project: Project, endpoint: Endpoint, workers: tuple[str, ...]
) -> None:
    broken = refusing(500, "on fire")

    async def manner(call: Call, writer: manners.Writer) -> None:
        await (broken if "Q no-price?" in call.prompt else RIGHT)(call, writer)

    endpoint.manner = manner
    result = _ask(project, endpoint, *workers)
    result.assert_outcomes(passed=9, errors=1)
    result.stdout.fnmatch_lines(
        ["*no answer from the model: HTTP 500 from http://127.0.0.1:*/v1: on fire (asked 2 times)*"]
    )
    result.stdout.fnmatch_lines(["answers     11 calls (1 of them retries), 1 cases never answered, *"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    endpoint.manner = RIGHT
    _ask(project, endpoint, "--lf").assert_outcomes(passed=1)
    assert len(endpoint.calls) == 12


def test_no_case_is_wrong_because_of_a_hostile_endpoint(
    project: Project, endpoint: Endpoint, workers: tuple[str, ...]
) -> None:
    """Every call meets another manner, drawn by its text and number; each case has a verdict or an error."""
    cases = "".join(f"  - {{id: n{n}, question: 'N{n}?', gold: SELECT {n}}}\n" for n in range(60))
    project.manifest.write_text(f"sqlbench: 1\nname: shop\ndatabase: {{schema: CREATE TABLE t (a)}}\ncases:\n{cases}")
    right = answering(lambda call: f"SELECT {re.search(r'N([0-9]+)', call.prompt)[1]}")  # type: ignore[index]
    hostile = [
        refusing(429, "slow"), refusing(429, "slow", {"Retry-After": "0.1"}), refusing(500, "oops"), manners.reset,
        manners.half, manners.bad_json, manners.no_choices, manners.silent, refusing(401), refusing(404),
    ]  # fmt: skip

    async def manner(call: Call, writer: manners.Writer) -> None:
        chance = random.Random(f"{call.prompt}{call.n}")
        await (right if chance.random() < 0.3 else chance.choice(hostile))(call, writer)

    endpoint.manner = manner
    patient = ("--sqlbench-concurrency=16", "--sqlbench-model-timeout=3", "--sqlbench-max-failures=1000")
    result = _ask(project, endpoint, *patient, "--sqlbench-retries=2", *workers)
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] + outcomes["errors"] == 60
    assert min(outcomes.values()) >= 5
    asked = Counter(call.prompt for call in endpoint.calls)
    assert (len(asked), max(asked.values())) == (60, 3)


@pytest.mark.parametrize(
    "reply, finish_reason, expected",
    [
        ("", "stop", "no sql"),
        ("SELECT name FROM it", "length", "truncated reply"),
        ("SELECT 1; SELECT 2", "stop", "several statements"),
        ("```sql\nSELECT nme FROM item", "stop", "no such column"),
        ("SELECT '\0'", "stop", "*"),
        ("x" * 5_000_000, "stop", "no sql"),
    ],
    ids=["empty", "truncated", "two_statements", "unclosed_fence", "nul", "5MB"],
)
def test_a_bad_reply_is_a_wrong_answer_with_its_reason(
    project: Project, endpoint: Endpoint, reply: str, finish_reason: str, expected: str
) -> None:
    endpoint.manner = answering(lambda call: reply, finish_reason=finish_reason)
    result = _ask(project, endpoint)
    result.assert_outcomes(failed=10)
    result.stdout.fnmatch_lines([f"reasons*{expected} 10*"])


def test_all_calls_that_may_run_at_once_do(project: Project, endpoint: Endpoint, workers: tuple[str, ...]) -> None:
    endpoint.manner = answering(_gold, delay_s=3.0)
    _ask(project, endpoint, "--sqlbench-concurrency=8", *workers).assert_outcomes(passed=10)
    assert (endpoint.most_under_way, len(endpoint.calls)) == (8, 10)


def test_nothing_is_asked_where_the_run_ends_with_its_collection(project: Project, endpoint: Endpoint) -> None:
    project.write("cases/test_broken.py", "import nothing_of_this_name")
    assert _ask(project, endpoint).ret == pytest.ExitCode.INTERRUPTED
    assert endpoint.calls == []


def test_under_x_little_more_is_asked_than_was_judged(project: Project, endpoint: Endpoint) -> None:
    endpoint.manner = answering(lambda call: "SELECT 0", delay_s=0.2)
    _ask(project, endpoint, "-x", "--sqlbench-concurrency=2").assert_outcomes(failed=1)
    assert len(endpoint.calls) <= 4


def test_collecting_asks_nothing_and_makes_no_store(project: Project, endpoint: Endpoint) -> None:
    _ask(project, endpoint, "--collect-only", "-q")
    assert endpoint.calls == []
    assert not (project.path / ".sqlbench").exists()


def test_offline_a_miss_is_an_error_that_names_the_case(project: Project, endpoint: Endpoint) -> None:
    result = _ask(project, endpoint, "--sqlbench-offline")
    result.assert_outcomes(errors=10)
    result.stdout.fnmatch_lines(["*no stored answer of openai:m to shop/names with this prompt*"])
    assert endpoint.calls == []


def test_generate_only_asks_for_the_selected_cases_and_judges_none(project: Project, endpoint: Endpoint) -> None:
    endpoint.manner = first(0, RIGHT, RIGHT)
    result = _ask(project, endpoint, "--sqlbench-generate-only", "-m", "sqlbench_case(difficulty='hard')")
    result.stdout.fnmatch_lines(["sqlbench: 4 of 4 answers are in the store"])
    assert (result.ret, len(endpoint.calls)) == (pytest.ExitCode.OK, 4)
    endpoint.manner = refusing(401, "wrong key")
    result = _ask(project, endpoint, "--sqlbench-generate-only")
    result.stdout.fnmatch_lines(["shop/names: HTTP 401 *: wrong key", "sqlbench: 4 of 10 answers are in the store"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_generate_only_refuses_workers(project: Project, endpoint: Endpoint) -> None:
    result = _ask(project, endpoint, "--sqlbench-generate-only", "-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--sqlbench-generate-only is done by one process: leave -n out" in "\n".join(result.errlines)


def test_the_key_is_in_no_file_and_no_output(
    project: Project, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-2")
    endpoint.manner = refusing(400, "what a strange key sk-very-secret-2")
    result = _ask(project, endpoint, "--junitxml=junit.xml")
    result.assert_outcomes(errors=10)
    written = [path.read_bytes() for path in project.path.rglob("*") if path.is_file()]
    assert not any(b"very-secret" in content for content in [*written, str(result.outlines).encode()])


def test_a_manifest_says_how_its_model_is_asked(project: Project, endpoint: Endpoint) -> None:
    text = project.manifest.read_text().replace("name: shop\n", "name: shop\nmodel: {max_tokens: 77, stop: [';']}\n")
    project.manifest.write_text(text)
    _ask(project, endpoint).assert_outcomes(passed=10)
    assert (endpoint.calls[0].body["max_tokens"], endpoint.calls[0].body["stop"]) == (77, [";"])
    project.manifest.write_text(text.replace("77", "many"))
    result = _ask(project, endpoint)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "shop.yaml:3: model max_tokens is 'many'" in "\n".join(result.errlines)


@pytest.mark.parametrize(
    "args, message",
    [
        (["--sqlbench-concurrency=0"], "--sqlbench-concurrency is '0', wanted a whole number of at least 1"),
        (["--sqlbench-extra-body=[1]"], r"--sqlbench-extra-body is '\[1\]', wanted a JSON object"),
        (["--sqlbench-extra-body={"], "--sqlbench-extra-body is not JSON"),
        (["--sqlbench-api=words"], "--sqlbench-api is 'words'. Allowed: chat, completion"),
        (["--sqlbench-refresh", "--sqlbench-offline"], "exclude each other"),
        (["--sqlbench-prompt=none.txt"], "none.txt: the prompt template cannot be read: No such file"),
        (["--sqlbench-prices=none.json"], "none.json: prices cannot be read: No such file"),
        (["--sqlbench-store=cases/shop.yaml"], "shop.yaml: is not a store of predictions"),
        (["--sqlbench-base-url=nowhere"], "base URL 'nowhere' is none"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_asked(
    project: Project, endpoint: Endpoint, args: list[str], message: str
) -> None:
    result = _ask(project, endpoint, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert re.search(message, "\n".join(result.errlines))
    assert endpoint.calls == []


def test_a_model_of_a_fixture_may_be_a_spec(project: Project, endpoint: Endpoint) -> None:
    project.write(
        "conftest.py",
        "import pytest\n\n@pytest.fixture(scope='session')\ndef sqlbench_model():\n    return 'openai:m'\n",
    )
    project.run("cases", f"--sqlbench-base-url={endpoint.url}").assert_outcomes(passed=10)
    assert len(endpoint.calls) == 10


def test_an_agent_of_a_test_takes_the_models_place(project: Project, endpoint: Endpoint) -> None:
    project.write(
        "test_agent.py",
        "import pytest\nfrom pytest_sqlbench.prediction import Prediction\n\n"
        "@pytest.fixture\ndef sqlbench_predict():\n    return lambda case: Prediction(case.gold[0])\n\n"
        "@pytest.mark.sqlbench('cases/shop.yaml')\n"
        "def test_it(sqlbench_case, sqlbench_predict, sqlbench_check):\n"
        "    sqlbench_check(sqlbench_predict(sqlbench_case))\n",
    )
    url = f"--sqlbench-base-url={endpoint.url}"
    result = project.run("test_agent.py", "--sqlbench-model=openai:m", url)
    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines(["shop * 10 * 100.0 %*"])
    assert endpoint.calls == []


Starter = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(project: Project, endpoint: Endpoint) -> Iterator[Starter]:
    """Start pytest on the project in a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def begin(*args: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pytest", "cases", "--sqlbench-model=openai:m", "-p", "no:hypothesispytest"]
        command += [f"--sqlbench-base-url={endpoint.url}", "--sqlbench-concurrency=4", *args]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, cwd=project.path, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _wait_for(claim: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_kill_9_loses_no_answer_that_was_had(project: Project, endpoint: Endpoint, start: Starter) -> None:
    endpoint.manner = answering(_gold, delay_s=0.5)
    process = start("--sqlbench-concurrency=2")
    _wait_for(lambda: len(endpoint.calls) >= 7)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    before = len(endpoint.calls)
    _ask(project, endpoint).assert_outcomes(passed=10)
    assert len(endpoint.calls) - before <= 10 - 4


def test_a_model_that_ends_the_process_costs_only_its_own_call_again(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.write(
        "model.py",
        "import os, pathlib, time\n\n"
        "def ask(case):\n"
        "    with open('asked', 'a') as file:\n"
        "        file.write(f'{case.id}\\n')\n"
        "    if case.id == 'sums' and not os.environ.get('TAME'):\n"
        "        time.sleep(1)\n"
        "        os._exit(7)\n"
        "    return case.gold[0]\n",
    )
    command = [sys.executable, "-m", "pytest", "cases", "--sqlbench-model=python:model:ask", *workers, "-q"]
    command += ["--sqlbench-concurrency=1", "-p", "no:hypothesispytest"]
    for tame, code in (({}, 7), ({"TAME": "1"}, 0)):
        result = subprocess.run(command, cwd=project.path, env={**os.environ, **tame}, capture_output=True, timeout=120)
        assert result.returncode == code, result.stdout
    asked = Counter((project.path / "asked").read_text().split())
    assert asked == {**dict.fromkeys(SQL, 1), "sums": 2}


def test_a_store_that_cannot_be_written_is_told_and_the_run_goes_on(project: Project, endpoint: Endpoint) -> None:
    (project.path / "kept").write_text("a file where a folder is wanted")
    result = _ask(project, endpoint, "--sqlbench-store=kept/s.db")
    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines(["store       *kept/s.db: *: new answers are not kept"])


def test_two_runs_at_once_share_a_store(project: Project, endpoint: Endpoint, start: Starter) -> None:
    endpoint.manner = answering(_gold, delay_s=0.1)
    both = [start(), start()]
    for process in both:
        assert "10 passed" in process.communicate(timeout=120)[0]
    before = len(endpoint.calls)
    _ask(project, endpoint).assert_outcomes(passed=10)
    assert len(endpoint.calls) == before


def test_exported_predictions_are_replayed_without_the_model(project: Project, endpoint: Endpoint) -> None:
    _ask(project, endpoint).assert_outcomes(passed=10)
    command = [sys.executable, "-m", "pytest_sqlbench.cli", "predictions", "export", "-o", "kept.jsonl"]
    subprocess.run(command, cwd=project.path, check=True)
    lines = [json.loads(line) for line in (project.path / "kept.jsonl").read_text().splitlines()]
    assert [(line["suite"], line["id"]) for line in lines] == sorted(("shop", case_id) for case_id in SQL)
    project.run("cases", "--sqlbench-model=file:kept.jsonl").assert_outcomes(passed=10)
    assert len(endpoint.calls) == 10
