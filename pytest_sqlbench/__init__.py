"""Text-to-SQL benchmarks as pytest cases. What is not in ``__all__`` may change at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_sqlbench.library import evaluate_sql, load_suite
    from pytest_sqlbench.scoring.pcm.score import PcmScore, pcm_score

__all__ = ["PcmScore", "evaluate_sql", "load_suite", "pcm_score"]

_HOMES = {
    "PcmScore": "pytest_sqlbench.scoring.pcm.score",
    "evaluate_sql": "pytest_sqlbench.library",
    "load_suite": "pytest_sqlbench.library",
    "pcm_score": "pytest_sqlbench.scoring.pcm.score",
}


def __getattr__(name: str) -> Any:
    # lazily: the plugin must cost nothing where it is installed and unused
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
