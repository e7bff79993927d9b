"""How models are asked: read once from options, ini and manifest into one frozen record. Holds no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_sqlbench.case import NOTHING


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a predictor may need to know beside its spec; which fields matter depends on the scheme."""

    base_dir: Path = Path()
    """Relative paths in a spec start here."""
    base_url: str = ""
    """Of an OpenAI-compatible server; empty: ``OPENAI_BASE_URL``, else the public endpoint."""
    key_variable: str = "OPENAI_API_KEY"
    """Name of the environment variable with the key. The key itself is read at each call and kept nowhere."""
    temperature: float | None = 0.0
    """None: the endpoint's own default."""
    max_tokens: int | None = 1024
    """None: the endpoint's own limit."""
    extra_body: Mapping[str, Any] = NOTHING
    """Further fields of the request, as the endpoint wants them."""
    timeout_s: float = 60.0
    """Of one call; a call that takes longer is tried again like any other failure."""
