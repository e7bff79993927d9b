"""What two sets of component lists share, item by item: for a person to read, and as one F1 over all clauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_sqlbench.scoring.pcm.components import NAMES, Components, Item


@dataclass(frozen=True, slots=True)
class Difference:
    """One component of two queries, by its plain items; nested ones only repeat them."""

    name: str
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    """Items that only the gold has."""
    extra: tuple[str, ...]
    """Items that only the prediction has."""


def clause_f1(gold: Components, predicted: Components) -> float:
    """Return one F1 over the items of all clauses, as Seed's recipe for SEDE has it. This is not PCM-F1.

    Items are matched exactly and as bags, nested ones too, and each clause's with the same clause's. Long clauses
    dominate, and a clause that is absent on one side costs only its items. 0.0 where neither query has any item.
    """
    shapes = _Shapes()
    gold_items, predicted_items = shapes.count(gold), shapes.count(predicted)
    matched = (gold_items & predicted_items).total()
    if not matched:
        return 0.0
    precision, recall = matched / predicted_items.total(), matched / gold_items.total()
    return 2 * precision * recall / (precision + recall)


def compare_clauses(gold: Components, predicted: Components) -> list[Difference]:
    """Say for each component that either query has what both share and what only one has."""
    found: list[Difference] = []
    for name in NAMES:
        if gold[name] or predicted[name]:
            ours, theirs = _plain(gold[name]), _plain(predicted[name])
            shared = ours & theirs
            found.append(Difference(name, _listed(shared), _listed(ours - theirs), _listed(theirs - ours)))
    return found


def _plain(items: Sequence[Item]) -> Counter[str]:
    return Counter(item for item in items if isinstance(item, str))


def _listed(items: Counter[str]) -> tuple[str, ...]:
    return tuple(items.elements())


class _Shapes:
    """Numbers nested items by what they hold, so that equal ones are equal without comparing them part by part.

    Nested items share their parts; compared in full, a long AND would take exponential time.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str | int, ...], int] = {}
        self._known: dict[int, int] = {}

    def count(self, components: Components) -> Counter[tuple[str, str | int]]:
        """Count the items of all components, each with its component's name."""
        return Counter((name, self._shape(item)) for name in NAMES for item in components[name])

    def _shape(self, item: Item) -> str | int:
        if isinstance(item, str):
            return item
        key = id(item)
        if key not in self._known:
            parts = tuple(self._shape(part) for part in item)
            self._known[key] = self._numbers.setdefault(parts, len(self._numbers))
        return self._known[key]
