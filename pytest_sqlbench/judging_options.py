"""Reads the options about judging: what a query may use, how results are compared, what else is tried."""

from __future__ import annotations

import pytest

from pytest_sqlbench.errors import SqlbenchError
from pytest_sqlbench.options import read_choice, read_number, read_option
from pytest_sqlbench.policy import find_preset, parse_presets
from pytest_sqlbench.result import Limits
from pytest_sqlbench.settings import Settings


class usage_errors:  # noqa: N801 - reads as a phrase after ``with``
    """Turns our errors into pytest's `UsageError`: one line and exit code 4."""

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """Raise `pytest.UsageError` instead of an error of ours."""
        if isinstance(error, SqlbenchError):
            raise pytest.UsageError(str(error)) from None


def read_settings(config: pytest.Config) -> Settings:
    """Read how predictions are judged; raise `pytest.UsageError` for values that cannot be."""
    limits = Limits(
        timeout_s=read_number(config, "sqlbench_timeout", float, 10.0, least=0.01),
        rows=int(read_number(config, "sqlbench_max_rows", int, 100_000, least=1)),
        result_bytes=int(read_number(config, "sqlbench_max_mb", float, 64, least=0.01) * 2**20),
        memory_bytes=int(read_number(config, "sqlbench_memory_mb", float, 1024, least=64) * 2**20),
    )
    policy = read_option(config, "sqlbench_policy")
    witnesses, seed = _read_witnesses(config)
    with usage_errors():
        return Settings(
            limits=limits,
            gold_timeout_s=read_number(config, "sqlbench_gold_timeout", float, 60.0, least=0.01),
            policy=find_preset(policy) if policy is not None else None,
            witnesses=witnesses,
            seed=seed,
            also=parse_presets(read_option(config, "sqlbench_also") or ""),
            extraction=read_choice(config, "sqlbench_extract", ("full", "fences", "off"), "full"),  # type: ignore[arg-type]
            runs_in_process=bool(config.getoption("sqlbench_inprocess")),
            allows_superuser=bool(config.getoption("sqlbench_allow_superuser")),
            repeats_queries=int(read_number(config, "sqlbench_repeat_query", int, 1, least=1)),
        )


def _read_witnesses(config: pytest.Config) -> tuple[int, int]:
    value = str(read_option(config, "sqlbench_witness") or "0")
    number, _, seed = value.partition(":")
    if not number.isdecimal() or not (seed or "0").isdecimal():
        raise pytest.UsageError(f"--sqlbench-witness is {value!r}, wanted a whole number, or N:SEED as in 30:7")
    return int(number), int(seed or 0)
