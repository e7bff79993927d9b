"""PCM-F1 and PCM-EM of a pair of queries, equal to the official SEDE evaluator's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_sqlbench.errors import UnscorableGold
from pytest_sqlbench.scoring.pcm.cleaning import clean
from pytest_sqlbench.scoring.pcm.components import NAMES, Components, read_components
from pytest_sqlbench.scoring.pcm.matching import component_f1
from pytest_sqlbench.scoring.pcm.queries import parse
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable


@dataclass(frozen=True, slots=True)
class PcmScore:
    """Partial component match of one pair."""

    f1: float
    """Mean of the components' F1, 0 to 1; 0 for a prediction that does not parse or a pair without any component."""
    em: float
    """1.0 if every component has F1 1, else 0.0. It does not mean that the queries are equivalent."""
    components: Mapping[str, float]
    """F1 by component (select, top, from, group, having, where, order), for those that either query has."""
    predicted_parsed: bool
    """False if the official parser gets no SELECT out of the prediction."""


def pcm_score(gold: str, predicted: str, *, values: bool = True, on_clause: bool = True) -> PcmScore:
    """Score a prediction as the SEDE benchmark does: ON counts, values count, an invalid prediction scores 0.

    Both texts are taken as published or as answered, without code fences; T-SQL parameters such as ``##UserId##`` are
    understood.

    Args:
        gold: The gold query.
        predicted: The predicted query, which may be any text.
        values: False makes all values alike, as in the Spider script's "no values" figures.
        on_clause: False leaves ON conditions out, as the Spider script does.

    Returns:
        The score and its parts.

    Raises:
        UnscorableGold: The official parser cannot read the gold, for which the metric is not defined.

    Source: Hazoom, Malik and Bogin 2021, "Text-to-SQL in the Wild"; hirupert/sede at 2bf2612 with JSqlParser 3.2.
    """
    try:
        gold_components = query_components(gold, values=values, on_clause=on_clause)
    except Unreadable as error:
        raise UnscorableGold(f"the official parser cannot read the gold query: {error}") from None
    try:
        predicted_components = query_components(predicted, values=values, on_clause=on_clause)
    except Unreadable:
        return PcmScore(0.0, 0.0, {}, False)
    return score_components(gold_components, predicted_components)


def query_components(text: str, *, values: bool = True, on_clause: bool = True) -> Components:
    """Clean and parse a query and return its component lists.

    Raises:
        Unreadable: The official parser gets no SELECT out of the text.
    """
    return read_components(parse(clean(text)), values=values, on_clause=on_clause)


def score_components(gold: Components, predicted: Components) -> PcmScore:
    """Score two sets of component lists. A component that neither side has does not count."""
    scores = {name: component_f1(gold[name], predicted[name]) for name in NAMES if gold[name] or predicted[name]}
    if not scores:
        return PcmScore(0.0, 0.0, {}, True)
    is_exact = all(score == 1.0 for score in scores.values())
    return PcmScore(sum(scores.values()) / len(scores), float(is_exact), scores, True)
