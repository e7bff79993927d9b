"""``cmd-lines:PROGRAM``: a program of the user's is kept open and answers a line of JSON with a line of JSON."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from pytest_sqlbench.case import Case
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.command import MAX_OUTPUT_BYTES, CommandPredictor, last_line, split_command
from pytest_sqlbench.predictors.failures import CallError, Trying
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.python import read_mapping


class LinesPredictor(CommandPredictor):
    """Keeps one program open: a line of JSON in, a line of JSON out, one case at a time.

    The line that comes back is a string, null, or an object as a Python model may return it. A program that ends or
    falls silent is started anew at the next call.
    """

    def __init__(self, name: str, command: list[str], options: ModelOptions) -> None:
        super().__init__(name, command, options)
        self._timeout_s = options.timeout_s
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the program

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Ask the open program.

        Raises:
            CallError: It cannot be started, has ended, is silent for too long, or answers with something else.
        """
        told = self.tell(case, sample)
        with self._turn:
            if self._process is not None and self._process.poll() is not None:
                self.end(self._process)
                self._process = None
            if self._process is None:
                self._process = self.start(self._errors)
            process = self._process
            try:
                line = _exchange(process, told, self._timeout_s)
            except (OSError, EOFError) as error:
                self._process = None
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
                code = process.poll()
                self.end(process)
                what = str(error) if code is None else f"ended with code {code}: {self._last_error()}"
                raise CallError(f"{self.name}: {what}", Trying.AGAIN) from error
        return self._read(line)

    def close(self) -> None:
        """Kill the program. Closing twice is allowed."""
        super().close()
        with self._turn:
            process, self._process = self._process, None
            if process is not None:
                self.end(process)
            self._errors.close()

    def _last_error(self) -> str:
        self._errors.seek(0)
        return last_line(self._errors.read()[-4000:])

    def _read(self, line: bytes) -> Prediction:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            shown = line[:80].decode("utf-8", "replace")
            raise CallError(f"{self.name}: the answer is not a line of JSON: {shown!r}") from error
        if answer is None or isinstance(answer, str):
            return Prediction(answer)
        if isinstance(answer, Mapping):
            if answer.get("error"):
                raise CallError(f"{self.name}: {answer['error']}")
            return read_mapping(self.name, answer)
        raise CallError(f"{self.name}: answered {type(answer).__name__}, wanted is a string, null or an object")


def open_predictor(rest: str, options: ModelOptions) -> LinesPredictor:
    """Make the runner of ``cmd-lines:``; the program starts with the first case."""
    return LinesPredictor(f"cmd-lines:{rest}", split_command("cmd-lines", rest, options.base_dir), options)


def _exchange(process: subprocess.Popen[bytes], told: bytes, timeout_s: float) -> bytes:
    """Write a line and read one.

    Raises:
        TimeoutError: The program neither reads nor answers in time, or answers without end.
        EOFError: It has closed its output.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    deadline_s = time.monotonic() + timeout_s
    os.set_blocking(process.stdin.fileno(), False)  # a program that does not read must not hold us up
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            ready = selector.select(max(0.0, deadline_s - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no answer within {timeout_s:g} s")
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    told = told[os.write(process.stdin.fileno(), told[:65536]) :]
                    if not told:
                        selector.unregister(process.stdin)
                    continue
                chunk = os.read(process.stdout.fileno(), 65536)
                if not chunk:
                    raise EOFError("closed its output")
                line += chunk
            if len(line) > MAX_OUTPUT_BYTES:
                raise TimeoutError(f"wrote more than {MAX_OUTPUT_BYTES >> 20} MB without the end of a line")
    return line
