"""Reads the options about models: how they are asked, how hard, and where answers are kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.options import read_choice, read_number, read_option
from pytest_sqlbench.predictors.options import APIS, ModelOptions

if TYPE_CHECKING:
    from pytest_sqlbench.predictors.answers import Reading
    from pytest_sqlbench.predictors.calling import CallOptions

DEFAULT_STORE = Path(".sqlbench") / "predictions.db"


def read_model_options(config: pytest.Config) -> ModelOptions:
    """Read how a model is asked; raise `pytest.UsageError` for values that cannot be."""
    said = {
        "base_url": read_option(config, "sqlbench_base_url"),
        "key_variable": read_option(config, "sqlbench_key_variable"),
        "api": read_option(config, "sqlbench_api") and read_choice(config, "sqlbench_api", APIS, "chat"),
        "temperature": _number(config, "sqlbench_temperature", float, 0),
        "max_tokens": _number(config, "sqlbench_max_tokens", int, 1),
        "stop": tuple(read_option(config, "sqlbench_stop") or ()) or None,
        "extra_body": _extra_body(config),
        "prompt": _path_text(config, "sqlbench_prompt"),
        "prompt_rows": _number(config, "sqlbench_prompt_rows", int, 0),
        "prompt_limit": _number(config, "sqlbench_prompt_limit", int, 1),
        "prices": _path(config, "sqlbench_prices"),
        "timeout_s": _number(config, "sqlbench_model_timeout", float, 0.01),
    }
    given = {name: value for name, value in said.items() if value is not None}
    return ModelOptions(**given, given=frozenset(given))


def read_call_options(config: pytest.Config) -> CallOptions:
    """Read how hard a model is asked; raise `pytest.UsageError` for values that cannot be."""
    from pytest_sqlbench.predictors.calling import CallOptions

    said = {
        "concurrency": _number(config, "sqlbench_concurrency", int, 1),
        "retries": _number(config, "sqlbench_retries", int, 0),
        "timeout_s": _number(config, "sqlbench_model_timeout", float, 0.01),
        "requests_per_minute": _number(config, "sqlbench_rpm", int, 1),
        "tokens_per_minute": _number(config, "sqlbench_tpm", int, 1),
        "max_cost_usd": _number(config, "sqlbench_max_cost", float, 0),
        "failures_in_a_row": _number(config, "sqlbench_max_failures", int, 1),
    }
    return CallOptions(**{name: value for name, value in said.items() if value is not None})


def read_reading(config: pytest.Config) -> Reading:
    """Read what the store is for; raise `pytest.UsageError` for two answers at once."""
    from pytest_sqlbench.predictors.answers import Reading

    refreshes, is_offline = config.getoption("sqlbench_refresh"), config.getoption("sqlbench_offline")
    if refreshes and is_offline:
        raise pytest.UsageError("--sqlbench-refresh and --sqlbench-offline exclude each other")
    return Reading.REFRESH if refreshes else Reading.OFFLINE if is_offline else Reading.CACHE


def find_store(config: pytest.Config) -> Path | None:
    """Return where answers are kept; None: in memory only, as ``--sqlbench-store=none`` says."""
    said = read_option(config, "sqlbench_store") or os.environ.get("SQLBENCH_STORE")
    if said == "none":
        return None
    if said:
        return _base(config, "sqlbench_store") / said
    return config.rootpath / DEFAULT_STORE


def _number(config: pytest.Config, name: str, kind: Any, least: float) -> Any:
    if read_option(config, name) is None:
        return None
    return kind(read_number(config, name, kind, 0, least=least))


def _extra_body(config: pytest.Config) -> dict[str, Any] | None:
    text = read_option(config, "sqlbench_extra_body")
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise pytest.UsageError(f"--sqlbench-extra-body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise pytest.UsageError(f"--sqlbench-extra-body is {text!r}, wanted a JSON object")
    return value


def _base(config: pytest.Config, name: str) -> Path:
    """Return where a relative path starts: here for the command line, beside the ini file for an ini key."""
    is_given = config.getoption(name) is not None
    return config.invocation_params.dir if is_given or config.inipath is None else config.inipath.parent


def _path(config: pytest.Config, name: str) -> Path | None:
    said = read_option(config, name)
    return None if said is None else _base(config, name) / said


def _path_text(config: pytest.Config, name: str) -> str | None:
    path = _path(config, name)
    return None if path is None else str(path.absolute())
