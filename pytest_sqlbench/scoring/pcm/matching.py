"""How two lists of items are matched, and the F1 of a component. Greedy, order-sensitive and lenient, as officially."""

from __future__ import annotations

from collections.abc import Container, Sequence

from pytest_sqlbench.scoring.pcm.components import Item

SHORT = 20
"""Items up to which a list is searched as it is."""


def component_f1(gold: Sequence[Item], predicted: Sequence[Item]) -> float:
    """Return the F1 of one component, of which at least one side has items: 0.0 where only one has."""
    if not gold or not predicted:
        return 0.0
    precision = count_matches(predicted, gold) / len(predicted)
    recall = count_matches(gold, predicted) / len(gold)
    if not precision + recall:
        return 0.0
    return 2 * recall * precision / (recall + precision)


def count_matches(wanted: Sequence[Item], items: Sequence[Item]) -> int:
    """Count which of the wanted items are found, one after the other, each taking an item away."""
    remaining = Remaining(items)
    return sum(remaining.take(item) for item in wanted)


class Remaining:
    """The items of one side that no match has taken yet. Taking a string takes constant time, however long the list."""

    __slots__ = ("_first", "_is_taken", "_items", "_nested", "_places", "_search")

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._is_taken = [False] * len(items)
        self._first = 0
        """No string before this place is left."""
        self._places: dict[str, list[int]] = {}
        """String to where it stands, last place first."""
        self._nested: list[tuple[Item, ...]] = []
        """The nested items, last one first."""
        self._search: Search | None = None
        """Into the first nested item that is left."""
        for place in range(len(items) - 1, -1, -1):
            item = items[place]
            if isinstance(item, str):
                self._places.setdefault(item, []).append(place)
            else:
                self._nested.append(item)

    def take(self, wanted: Item) -> bool:
        """Take one item away if it matches the wanted one.

        A string takes the first equal string. A nested item is tried against the first nested item that is left, and
        takes it if any of its parts is found therein; only if no nested item is left does it match when all of its
        strings are there, and then it takes the first string, whichever that is.
        """
        if isinstance(wanted, str):
            return self._take_string(wanted)
        if self._nested:
            if not self._is_in_first_nested(wanted):
                return False
            self._nested.pop()
            self._search = None
            return True
        if not _are_all_in(wanted, self._places, {}):
            return False
        while self._is_taken[self._first] or not isinstance(self._items[self._first], str):
            self._first += 1
        first = self._items[self._first]
        return isinstance(first, str) and self._take_string(first)

    def _is_in_first_nested(self, wanted: tuple[Item, ...]) -> bool:
        first = self._nested[-1]
        if len(wanted) <= SHORT and len(first) <= SHORT:  # most often a shared string settles it
            for part in wanted:
                if isinstance(part, str) and part in first:
                    return True
        if self._search is None:
            self._search = Search(first)
        return self._search.finds_any(wanted)

    def _take_string(self, wanted: str) -> bool:
        places = self._places.get(wanted)
        if places is None:
            return False
        self._is_taken[places.pop()] = True
        if not places:
            del self._places[wanted]
        return True


class Search:
    """Looks for nested items in one nested item, of which only a part is ever looked at: the item itself, the first
    nested item in it, the first in that, and so on. Answers are remembered, as nested items share their parts.
    """

    __slots__ = ("_known", "_known_all", "_levels")

    def __init__(self, item: tuple[Item, ...]) -> None:
        self._levels: list[frozenset[str]] = []
        """The strings of the item, of the first nested item in it, and so on."""
        self._known: dict[tuple[int, int], bool] = {}
        self._known_all: dict[int, bool] = {}
        inner: tuple[Item, ...] | None = item
        while inner is not None:
            self._levels.append(frozenset(part for part in inner if isinstance(part, str)))
            inner = next((part for part in inner if not isinstance(part, str)), None)

    def finds_any(self, wanted: tuple[Item, ...], depth: int = 0) -> bool:
        """Say whether any part of a nested item is found at this depth.

        A string is found if it stands there. A nested part is searched one level further down, and at the last level
        it is found if all of its strings stand there.
        """
        key = (depth, id(wanted))
        if key not in self._known:
            self._known[key] = False
            is_last = depth == len(self._levels) - 1
            level = self._levels[depth]
            for part in wanted:
                if isinstance(part, str):
                    is_found = part in level
                elif is_last:
                    is_found = _are_all_in(part, level, self._known_all)
                else:
                    is_found = self.finds_any(part, depth + 1)
                if is_found:
                    self._known[key] = True
                    break
        return self._known[key]


def _are_all_in(wanted: tuple[Item, ...], strings: Container[str], known: dict[int, bool]) -> bool:
    """Say whether every string anywhere in a nested item is among the strings."""
    key = id(wanted)
    if key not in known:
        known[key] = all(
            part in strings if isinstance(part, str) else _are_all_in(part, strings, known) for part in wanted
        )
    return known[key]
