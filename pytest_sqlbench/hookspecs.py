"""Hooks of our own, for a team's ``conftest.py`` and for other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_sqlbench.case import Case
    from pytest_sqlbench.prediction import Predictor
    from pytest_sqlbench.verdict import Verdict


@pytest.hookspec(firstresult=True)
def pytest_sqlbench_make_model(config: pytest.Config, spec: str) -> Predictor | None:
    """Make the model that ``--sqlbench-model=SPEC`` names, or return None for the others to try.

    A predictor has a ``name`` and a method ``predict(case)`` that returns a `Prediction`::

        from pytest_sqlbench.prediction import Prediction

        class Constant:
            name = "constant"

            def predict(self, case):
                return Prediction(reply="SELECT 1")

        def pytest_sqlbench_make_model(config, spec):
            return Constant() if spec == "constant" else None
    """


@pytest.hookspec
def pytest_sqlbench_verdict(config: pytest.Config, case: Case, verdict: Verdict) -> None:
    """Hear of each verdict in the process that judged it, before pytest reports it::

    def pytest_sqlbench_verdict(config, case, verdict):
        print(case.id, verdict.outcome.value)
    """
