"""How models are asked: read once from options, ini and manifest into one frozen record. Holds no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import NOTHING, Suite
from pytest_sqlbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a predictor may need to know beside its spec; which fields matter depends on the scheme."""

    base_dir: Path = Path()
    """Relative paths in a spec start here."""
    base_url: str = ""
    """Of an OpenAI-compatible server; empty: ``OPENAI_BASE_URL``, else the public endpoint."""
    key_variable: str = "OPENAI_API_KEY"
    """Name of the environment variable with the key. The key itself is read at each call and kept nowhere."""
    api: str = "chat"
    """``chat``, or ``completion`` for base models that go on from where the prompt ends."""
    temperature: float | None = 0.0
    """None: the endpoint's own default."""
    max_tokens: int | None = 1024
    """None: the endpoint's own limit."""
    stop: tuple[str, ...] = ()
    """Texts at which the model stops."""
    extra_body: Mapping[str, Any] = NOTHING
    """Further fields of the request; null takes a field away."""
    timeout_s: float = 60.0
    """Of one call; a call that takes longer is tried again like any other failure."""
    prompt: str = ""
    """Path of a prompt template; empty: the suite's, else the default of the language."""
    prompt_rows: int = 0
    """Sample rows of each table that the prompt shows."""
    prompt_limit: int = 400_000
    """Characters above which a prompt is refused."""
    descriptions: Mapping[str, str] = NOTHING
    """What a table or a column (``table.column``) means, shown beside the schema."""
    prices: Path | None = None
    """A file of prices that come before those that ship."""
    cache_dir: Path | None = None
    """Where databases are built, if a prompt needs one."""
    given: frozenset[str] = frozenset()
    """Fields that the user set by option or ini: a manifest does not change them."""

    def for_suite(self, suite: Suite) -> ModelOptions:
        """Return the options with what the suite's manifest says under ``model:``, where no option says otherwise."""
        said = suite.settings.get("model", {})
        return replace(self, **{name: value for name, value in said.items() if name not in self.given})


MANIFEST_KEYS: Mapping[str, type | tuple[type, ...]] = {
    "base_url": str,
    "key_variable": str,
    "api": str,
    "temperature": (int, float, type(None)),
    "max_tokens": (int, type(None)),
    "stop": list,
    "extra_body": dict,
    "prompt_rows": int,
    "prompt_limit": int,
    "descriptions": dict,
}
"""What a manifest may say under ``model:``, and of which type."""

APIS = ("chat", "completion")


def read_model_settings(said: object) -> dict[str, Any]:
    """Check what a manifest says under ``model:``; keys are the names of `ModelOptions`.

    Raises:
        UsageError: An unknown key or a value of another type; the message lists what is allowed.
    """
    if not isinstance(said, Mapping):
        raise UsageError(f"model is {said!r}, wanted a mapping with {', '.join(MANIFEST_KEYS)}")
    settings: dict[str, Any] = {}
    for key, value in said.items():
        if key not in MANIFEST_KEYS:
            raise UsageError(f"unknown key {key!r} under model. Known: {', '.join(MANIFEST_KEYS)}.")
        if not isinstance(value, MANIFEST_KEYS[key]) or isinstance(value, bool):
            raise UsageError(f"model {key} is {value!r}, which is of the wrong type")
        settings[key] = tuple(str(item) for item in value) if isinstance(value, list) else value
    if settings.get("api", "chat") not in APIS:
        raise UsageError(f"model api is {settings['api']!r}. Allowed: {', '.join(APIS)}.")
    assert settings.keys() <= {item.name for item in fields(ModelOptions)}
    return settings
