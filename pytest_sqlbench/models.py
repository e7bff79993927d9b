"""From a model spec to the model of this process. Pool and store are loaded only for a model that is called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pytest_sqlbench.model_options import read_model_options
from pytest_sqlbench.prediction import Predictor
from pytest_sqlbench.predictors.registry import make_predictor

if TYPE_CHECKING:
    from pytest_sqlbench.session import SqlbenchSession

RELAY = "sqlbench_relay"
"""The key of a worker's input that says how the controller is asked."""


def open_model(session: SqlbenchSession, spec: str) -> Predictor:
    """Make the model that a spec names, for this process.

    Raises:
        UsageError: The spec or an option cannot be used.
    """
    place = getattr(session.config, "workerinput", {}).get(RELAY)
    if place is not None:
        from pytest_sqlbench.predictors.relay import RelayedPredictor

        return RelayedPredictor(place)
    made = session.config.hook.pytest_sqlbench_make_model(config=session.config, spec=spec)
    return keep_answers(session, cast(Predictor, made) if made is not None else _make(session, spec))


def _make(session: SqlbenchSession, spec: str) -> Predictor:
    config = session.config
    is_given = config.getoption("sqlbench_model") is not None
    base = config.invocation_params.dir if is_given or config.inipath is None else config.inipath.parent
    options = replace(read_model_options(config), cache_dir=session.prepared_settings.cache_dir)
    return make_predictor(spec, base, options)


def keep_answers(session: SqlbenchSession, predictor: Predictor) -> Predictor:
    """Put pool and store before a model, unless it answers at once by itself, as recorded predictions do."""
    if getattr(predictor, "is_instant", False):
        return predictor
    from pytest_sqlbench.prefetch import register_prefetch

    return register_prefetch(session, predictor)
