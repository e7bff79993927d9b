"""Models of the llm library answer through it; here one of a plugin that needs no network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.errors import ModelError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.registry import make_predictor
from tests.predictors.cases import make_suite

llm = pytest.importorskip("llm", reason="needs the extra llm")

SUITE = make_suite("a")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Install a plugin with the model ``offline``; yield the prompts that it was given."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    monkeypatch.setattr("llm.plugins.LLM_LOAD_PLUGINS", "")  # whatever else is installed
    seen: list[Any] = []

    class Offline(llm.Model):  # type: ignore[misc, name-defined]
        model_id = "offline"

        class Options(llm.Options):  # type: ignore[misc, name-defined]
            temperature: float | None = None

        def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:
            seen.append(prompt)
            if "explode" in prompt.prompt:
                raise RuntimeError("no weights")
            response.set_usage(input=7, output=2)
            yield "SELECT 1"

    class Plugin:
        @llm.hookimpl  # type: ignore[untyped-decorator]
        def register_models(self, register: Any) -> None:
            register(Offline())

    from llm.plugins import pm

    pm.register(Plugin(), "offline-test")
    yield seen
    pm.unregister(name="offline-test")


def test_a_plugins_model_is_asked_with_the_options_that_it_takes(plugin: list[Any]) -> None:
    predictor: Any = make_predictor("llm:offline", Path(), ModelOptions(temperature=0.5, max_tokens=9))
    predictor.bind_suite(SUITE)
    assert predictor.predict(SUITE.cases[0]) == Prediction("SELECT 1", Usage(7, 2))
    assert "What is a?" in plugin[0].prompt
    assert plugin[0].options.temperature == 0.5
    assert predictor.fingerprint(SUITE.cases[0]).parameters == '{"temperature": 0.5}'


def test_what_a_plugin_raises_is_a_model_error(plugin: list[Any], tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("explode")
    predictor: Any = make_predictor("llm:offline", tmp_path, ModelOptions(prompt="t.txt"))
    predictor.bind_suite(SUITE)
    with pytest.raises(ModelError, match="llm:offline: RuntimeError: no weights"):
        predictor.predict(SUITE.cases[0])


def test_a_model_that_no_plugin_knows_is_told_with_the_nearest(plugin: list[Any]) -> None:
    with pytest.raises(UsageError, match=r"llm knows no model 'ofline'\. Did you mean 'offline'\?"):
        make_predictor("llm:ofline", Path())


def test_a_plugin_that_does_not_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise ModuleNotFoundError("No module named 'llama_cpp'")

    monkeypatch.setattr("llm.load_plugins", load)
    with pytest.raises(
        UsageError, match="llm cannot load its plugins: ModuleNotFoundError: No module named 'llama_cpp'"
    ):
        make_predictor("llm:SmolLM2", Path())
