"""From a model spec, ``scheme:rest``, to the predictor that answers: one module per scheme, loaded when it is named."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction, Predictor
from pytest_sqlbench.predictors.options import ModelOptions

SCHEMES: dict[str, str] = {
    "cmd": "pytest_sqlbench.predictors.command",
    "cmd-lines": "pytest_sqlbench.predictors.command_lines",
    "file": "pytest_sqlbench.predictors.recorded",
    "gold": "pytest_sqlbench.predictors.gold",
    "llm": "pytest_sqlbench.predictors.llm",
    "openai": "pytest_sqlbench.predictors.openai",
    "python": "pytest_sqlbench.predictors.python",
}
"""Scheme to the module that has ``open_predictor(rest, options) -> Predictor``."""

ENTRY_POINTS = "pytest_sqlbench.models"
"""Packages add schemes here: the name is the scheme, the object is a function like ``open_predictor``."""


@runtime_checkable
class BoundToSuites(Protocol):
    """A predictor that must see a suite before its first case: to check a count, or to write prompts."""

    def bind_suite(self, suite: Suite) -> None:
        """Take note of the suite. Raise `UsageError` if the two do not fit together."""


def make_predictor(spec: str, base_dir: Path, options: ModelOptions | None = None) -> Predictor:
    """Make the predictor that a spec names.

    Args:
        spec: ``scheme:rest``, such as ``gold``, ``file:predictions.jsonl`` or ``python:package.module:function``.
        base_dir: Where relative paths in the spec start; it overrides ``options.base_dir``.
        options: How a model is asked; None: the defaults.

    Raises:
        UsageError: The scheme is unknown, or what follows it cannot be used.
    """
    scheme, _, rest = spec.partition(":")
    options = replace(options or ModelOptions(), base_dir=base_dir)
    if scheme in SCHEMES:
        return cast(Predictor, import_module(SCHEMES[scheme]).open_predictor(rest, options))
    found = [point for point in entry_points(group=ENTRY_POINTS) if point.name == scheme]
    if found:
        return cast(Predictor, found[0].load()(rest, options))
    raise UsageError(_unknown(spec, scheme, rest))


def bind_suite(predictor: Predictor, suite: Suite) -> None:
    """Show a suite to a predictor that wants to see it before its cases; nothing happens for the others."""
    if isinstance(predictor, BoundToSuites):
        predictor.bind_suite(suite)


def predict(predictor: Predictor, case: Case, sample: int = 0) -> Prediction:
    """Ask for the n-th answer to a case; a predictor whose `predict` has no ``sample`` is simply asked again."""
    if sample == 0 or "sample" not in signature(predictor.predict).parameters:
        return predictor.predict(case)
    return cast(Any, predictor).predict(case, sample=sample)  # type: ignore[no-any-return]


def known_schemes() -> list[str]:
    """List the schemes of this package and those that installed packages add."""
    return sorted({*SCHEMES, *(point.name for point in entry_points(group=ENTRY_POINTS))})


def _unknown(spec: str, scheme: str, rest: str) -> str:
    known = ", ".join(known_schemes())
    hint = ""
    if rest and "." in scheme:
        hint = f" For a function write 'python:{spec}'."
    elif not rest and "." in scheme:
        hint = f" For recorded predictions write 'file:{spec}'."
    return f"unknown model {spec!r}: no scheme {scheme!r}. Known: {known}.{hint}"
