"""``cmd:PROGRAM``: a program of the user's answers, started for every call."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.failures import CallError, Trying
from pytest_sqlbench.predictors.fingerprint import Fingerprint, hash_case, hash_files, hash_text
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.prompt import PromptBook

MAX_OUTPUT_BYTES = 64 * 2**20


class CommandPredictor:
    """Starts a program for every call: the case as JSON on its standard input, the reply on its standard output."""

    def __init__(self, name: str, command: list[str], options: ModelOptions) -> None:
        self.name = name
        self._command = command
        self._options = options
        self._book = PromptBook(options)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_closed = False
        self._files = hash_files(path for path in map(options.base_dir.joinpath, command) if path.is_file())

    def bind_suite(self, suite: Suite) -> None:
        """Take note of the suite, for the prompts of its cases."""
        self._book.add_suite(suite)

    def fingerprint(self, case: Case) -> Fingerprint:
        """Say what decides the answer: the command line, the files that it names, and what it is told."""
        said = {"command": hash_text(*self._command)[:16], "files": self._files[:16]}
        return Fingerprint(json.dumps(said), hash_text(hash_case(case), self._book.write(case).hash))

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Run the program once.

        Raises:
            CallError: It cannot be started, ends with another code than 0, or takes too long.
        """
        told = self.tell(case, sample)
        process = self.start(subprocess.PIPE)
        try:
            output, errors = process.communicate(told, timeout=self._options.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise CallError(f"{self.name}: no answer within {self._options.timeout_s:g} s", Trying.AGAIN) from error
        finally:
            self.end(process)
        if process.returncode != 0:
            raise CallError(f"{self.name}: ended with code {process.returncode}: {last_line(errors)}")
        if len(output) > MAX_OUTPUT_BYTES:
            raise CallError(f"{self.name}: wrote more than {MAX_OUTPUT_BYTES >> 20} MB")
        return Prediction(output.decode("utf-8", "replace"))

    def close(self) -> None:
        """Kill every program that runs, with what it started. Closing twice is allowed."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for process in running:
            kill_group(process)  # whoever reads its pipes sees them end, and tidies up

    def tell(self, case: Case, sample: int) -> bytes:
        """Return what the program reads of a case: one line of JSON."""
        told = {
            "suite": case.suite,
            "id": case.id,
            "question": case.question,
            "evidence": case.evidence,
            "dialect": case.dialect,
            "database": case.database,
            "prompt": self._book.write(case).text,
            "sample": sample,
        }
        return json.dumps(told).encode() + b"\n"

    def start(self, stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
        """Start the program; raise `CallError` if that cannot be done."""
        pipe = subprocess.PIPE
        with self._lock:
            if self._is_closed:
                raise CallError("cancelled")
            try:
                process = subprocess.Popen(
                    self._command,
                    stdin=pipe,
                    stdout=pipe,
                    stderr=stderr,
                    cwd=self._options.base_dir,
                    start_new_session=True,  # so that whatever it starts can be ended with it
                )
            except OSError as error:
                raise CallError(f"{self.name}: cannot be started: {error.strerror}", Trying.HOPELESS) from error
            self._running.add(process)
            return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a program that may still run, and let go of its pipes."""
        kill_group(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5.0)
        with self._lock:
            self._running.discard(process)


def open_predictor(rest: str, options: ModelOptions) -> CommandPredictor:
    """Make the runner of ``cmd:``; the command line is split as a shell would, and no shell is started."""
    return CommandPredictor(f"cmd:{rest}", split_command("cmd", rest, options.base_dir), options)


def split_command(scheme: str, rest: str, base_dir: Path) -> list[str]:
    """Split a command line and find its program; raise `UsageError` if there is none."""
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"model '{scheme}:{rest}' is no command line: {error}") from error
    if not command:
        raise UsageError(f"model '{scheme}:' names no program. Write '{scheme}:./generate.sh --flag'.")
    if "/" in command[0] or os.sep in command[0]:
        program = (base_dir / command[0]).absolute()
        if not program.is_file():
            raise UsageError(f"model '{scheme}:{rest}': no such program: {program}")
        if not os.access(program, os.X_OK):
            raise UsageError(f"model '{scheme}:{rest}': {program} is not executable (chmod +x)")
        command[0] = str(program)
    return command


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and whatever it started."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def last_line(output: bytes) -> str:
    """Return the last line that says something: most programs end with why they failed."""
    lines = output.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no word on standard error")
