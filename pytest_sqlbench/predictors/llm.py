"""``llm:MODEL``: any model that the llm library and its plugins know."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.failures import CallError, Trying
from pytest_sqlbench.predictors.fingerprint import Fingerprint
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.prompt import PromptBook


class LlmPredictor:
    """Asks one model of the llm library, which finds the key by itself; nothing is logged by it."""

    def __init__(self, rest: str, model: Any, options: ModelOptions) -> None:
        self.name = f"llm:{rest}"
        self._model = model
        self._options = options
        self._book = PromptBook(options)
        self._by_suite: dict[str, ModelOptions] = {}
        self._known = set(getattr(getattr(model, "Options", None), "model_fields", ()))

    def bind_suite(self, suite: Suite) -> None:
        """Take note of the suite, for the prompts of its cases and what its manifest says of the model."""
        self._by_suite[suite.name] = self._options.for_suite(suite)
        self._book.add_suite(suite)

    def fingerprint(self, case: Case) -> Fingerprint:
        """Say what decides the answer: the options that this model takes, and the prompt."""
        return Fingerprint(json.dumps(self._parameters(case), sort_keys=True), self._book.write(case).hash)

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Ask once.

        Raises:
            CallError: The library or its plugin raised.
        """
        prompt = self._book.write(case)
        try:
            response = self._model.prompt(prompt.text, stream=False, **self._parameters(case))
            text = str(response.text())
            usage = _usage_of(response)
        except Exception as error:  # a plugin may raise anything
            name = type(error).__name__
            trying = Trying.HOPELESS if name in ("NeedsKeyException", "AuthenticationError") else Trying.AGAIN
            raise CallError(f"{self.name}: {name}: {error}", trying) from error
        return Prediction(text, usage)

    def _parameters(self, case: Case) -> dict[str, Any]:
        options = self._by_suite.get(case.suite, self._options)
        said = {"temperature": options.temperature, "max_tokens": options.max_tokens, **options.extra_body}
        return {name: value for name, value in said.items() if name in self._known and value is not None}


def open_predictor(rest: str, options: ModelOptions) -> LlmPredictor:
    """Find the model.

    Raises:
        UsageError: No model is named, llm or a plugin of it does not load, or no plugin knows the model.
    """
    if not rest:
        raise UsageError("model 'llm:' names no model. Write 'llm:MODEL'; 'llm models' lists them.")
    try:
        import llm
    except ImportError as error:
        raise UsageError("model 'llm:…' needs the llm library: pip install 'pytest-sqlbench[llm]'") from error
    try:
        model = llm.get_model(rest)
    except llm.UnknownModelError as error:
        near = get_close_matches(rest, [found.model_id for found in llm.get_models()], n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UsageError(
            f"llm knows no model {rest!r}.{hint} 'llm models' lists them; a plugin may be missing."
        ) from error
    except Exception as error:  # the plugins are loaded now, and any of them may raise anything
        raise UsageError(
            f"llm cannot load its plugins: {type(error).__name__}: {error}. Mend or uninstall the plugin, or name those"
            " to load: LLM_LOAD_PLUGINS=llm-one,llm-two"
        ) from error
    return LlmPredictor(rest, model, options)


def _usage_of(response: Any) -> Usage | None:
    try:
        found = response.usage()
    except Exception:  # a plugin may raise anything; only figures are lost
        return None
    prompt, completion = getattr(found, "input", None), getattr(found, "output", None)
    return None if prompt is None and completion is None else Usage(prompt, completion)
