"""``gold``: the oracle that answers every case with its own gold query. Every judge must give it full marks."""

from __future__ import annotations

from pytest_sqlbench.case import Case
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.options import ModelOptions


class GoldPredictor:
    """Answers with the first gold query, and with the structured gold where the format has one."""

    name = "gold"
    is_instant = True

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Answer with ``case.gold[0]``; ``case.facts["gold_facts"]`` becomes the structured answer."""
        return Prediction(reply=case.gold[0], attempts=0, facts=case.facts.get("gold_facts"))


def open_predictor(rest: str, options: ModelOptions) -> GoldPredictor:
    """Make the oracle; it takes no argument."""
    if rest:
        raise UsageError(f"model 'gold:{rest}' is not known: gold takes no argument. Write 'gold'.")
    return GoldPredictor()
