"""``python:MODULE:NAME``: a function, coroutine function or object of the user's answers the cases."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import Case
from pytest_sqlbench.errors import ModelError, UsageError
from pytest_sqlbench.prediction import Prediction, Predictor, Usage
from pytest_sqlbench.predictors.fingerprint import Fingerprint, hash_case, hash_code
from pytest_sqlbench.predictors.loop import EventLoop
from pytest_sqlbench.predictors.options import ModelOptions

Answering = Callable[[Any], Any]

_TEXT_KEYS = ("reply", "sql")
_RECORD_KEYS = frozenset(
    (*_TEXT_KEYS, "prompt_tokens", "completion_tokens", "cost_usd", "latency_ms", "finish_reason", "facts")
)


class PythonPredictor:
    """Calls one callable of the user's per case, or per batch where the callable has a ``batch_size``.

    The callable takes a `Case` (or a list of them) and returns for each a string, None (no prediction), a
    `Prediction`, or a mapping with ``reply`` or ``sql`` and optionally usage. Whatever it raises is a `ModelError`.
    """

    def __init__(self, name: str, answering: Answering) -> None:
        self.name = name
        self._answering = answering
        self.batch_size = _batch_size(name, answering)
        """How many cases one call takes; 1: the callable takes a single case."""
        self._loop = EventLoop()
        self._code = hash_code(_module_of(answering))
        self.fingerprint = self._fingerprint if self._code else None
        """What decides an answer; None: unknown, so answers are kept for one run only."""

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Answer one case; the same callable is asked again for every sample."""
        if self.batch_size > 1:
            return self.predict_batch([case])[0]
        return self._read(self._call(case))

    def predict_batch(self, cases: Sequence[Case]) -> list[Prediction]:
        """Answer several cases in one call.

        Raises:
            ModelError: The callable raised, or did not return one answer per case.
        """
        answers = self._call(list(cases))
        if isinstance(answers, (str, bytes, Mapping)) or not isinstance(answers, Sequence):
            raise ModelError(f"{self.name}: a batch returned {type(answers).__name__}, a list is wanted")
        if len(answers) != len(cases):
            raise ModelError(f"{self.name}: a batch of {len(cases)} cases returned {len(answers)} answers")
        return [self._read(answer) for answer in answers]

    def close(self) -> None:
        """Cancel coroutines that still run. Closing twice is allowed."""
        self._loop.close()

    def _fingerprint(self, case: Case) -> Fingerprint:
        version = str(getattr(self._answering, "version", ""))
        return Fingerprint(json.dumps({"code": self._code[:16], "version": version}), hash_case(case))

    def _call(self, argument: Any) -> Any:
        try:
            answer = self._answering(argument)
            if inspect.isawaitable(answer):
                # one loop for all calls, so that a client of the user's may keep its connections
                return self._loop.run(_awaited(answer))
            return answer
        except ModelError:
            raise
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            raise ModelError(f"{self.name}: {type(error).__name__}: {error}") from error

    def _read(self, answer: Any) -> Prediction:
        if answer is None or isinstance(answer, str):
            return Prediction(reply=answer)
        if isinstance(answer, Prediction):
            return answer
        if isinstance(answer, Mapping):
            return read_mapping(self.name, answer)
        wanted = "a string, None, a Prediction or a mapping with 'reply' or 'sql'"
        raise ModelError(f"{self.name}: returned {type(answer).__name__}, wanted is {wanted}")


def open_predictor(rest: str, options: ModelOptions) -> Predictor:
    """Import what the spec names, from the path or relative to ``options.base_dir``.

    Raises:
        UsageError: The spec is not ``MODULE:NAME``, the module cannot be imported, or it has no such callable.
    """
    module_name, _, attribute = rest.rpartition(":")
    if not module_name or not attribute:
        raise UsageError(f"model 'python:{rest}' names no callable. Write 'python:package.module:function'.")
    module = _load(module_name, options.base_dir)
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise UsageError(f"model 'python:{rest}': {module_name} has no {attribute!r}")
    return adopt(f"python:{rest}", found)


def adopt(name: str, value: object) -> Predictor:
    """Make a predictor of what a user gives: a predictor, a class of one, or a callable.

    Raises:
        UsageError: It is none of these.
    """
    if inspect.isclass(value):
        try:
            value = value()
        except Exception as error:  # the user's code may raise anything
            raise UsageError(f"model {name!r}: {type(error).__name__}: {error}") from error
    if callable(getattr(value, "predict", None)):
        if isinstance(getattr(value, "name", None), str):
            return value  # type: ignore[return-value]  # both members were just seen
        return PythonPredictor(name, value.predict)  # type: ignore[attr-defined]  # seen above
    if callable(value):
        return PythonPredictor(name, value)
    raise UsageError(f"model {name!r} is {type(value).__name__}. Allowed: a callable, or an object with predict(case).")


def _load(module_name: str, base_dir: Path) -> Any:
    try:
        if module_name.endswith(".py"):
            return _load_file(base_dir / module_name)
        folder = str(base_dir.resolve())
        if folder not in sys.path:
            sys.path.append(folder)  # last, so that it hides nothing
        return importlib.import_module(module_name)
    except Exception as error:  # a module of the user's may raise anything
        raise UsageError(f"model 'python:{module_name}' does not import: {type(error).__name__}: {error}") from error


def _load_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None, "a .py file always has a loader"
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)  # as for every import: dataclasses and pickle look there
    spec.loader.exec_module(module)
    return module


def _module_of(answering: Answering) -> str:
    return str(getattr(answering, "__module__", "") or type(answering).__module__)


def _batch_size(name: str, answering: Answering) -> int:
    size = getattr(answering, "batch_size", 1)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise UsageError(f"model {name!r}: batch_size is {size!r}. Allowed: a whole number from 1.")
    return size


def read_mapping(name: str, answer: Mapping[str, Any]) -> Prediction:
    """Read an answer that is a mapping; raise `ModelError` for unknown keys, or where there is no reply in it."""
    key = next((key for key in _TEXT_KEYS if key in answer), None)
    if key is None and answer.get("facts") is None:
        raise ModelError(f"{name}: the answer has neither 'reply' nor 'sql': {', '.join(map(str, answer)) or 'empty'}")
    if unknown := sorted(map(str, answer.keys() - _RECORD_KEYS)):
        known = ", ".join(sorted(_RECORD_KEYS))
        raise ModelError(f"{name}: the answer has unknown keys {', '.join(unknown)}. Known: {known}.")
    text = answer[key] if key else None
    usage = Usage(answer.get("prompt_tokens"), answer.get("completion_tokens"), answer.get("cost_usd"))
    return Prediction(
        reply=None if text is None else str(text),
        usage=None if usage == Usage() else usage,
        latency_ms=answer.get("latency_ms"),
        finish_reason=str(answer.get("finish_reason") or ""),
        facts=answer.get("facts"),
    )


async def _awaited(answer: Any) -> Any:
    return await answer
