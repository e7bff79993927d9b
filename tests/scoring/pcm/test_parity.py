"""Equality with the official evaluator, where its scores of thousands of pairs are at hand."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.scoring.pcm.cleaning import clean
from pytest_sqlbench.scoring.pcm.components import Item, read_components
from pytest_sqlbench.scoring.pcm.nodes import Query
from pytest_sqlbench.scoring.pcm.queries import parse
from pytest_sqlbench.scoring.pcm.score import score_components
from pytest_sqlbench.scoring.pcm.unreadable import Unreadable
from tests.shared_data import shared

SETTINGS = {"": (True, True), "_no_values": (False, True), "_no_on": (True, False), "_no_values_no_on": (False, False)}


def records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def parsed(text: str, *, is_clean: bool = False) -> Query | None:
    try:
        return parse(text.replace("'", '"') if is_clean else clean(text))
    except Unreadable:
        return None


def differences(record: dict[str, Any]) -> list[str]:
    """Name the official figures of a pair that ours differ from."""
    found: list[str] = []
    gold, predicted = parsed(record["gold"]), parsed(record["pred"])
    if (gold is not None) != record["gold_parsed"]:
        found.append("gold_parsed")
    if (predicted is not None) != record["pred_parsed"]:
        found.append("pred_parsed")
    if gold is None or predicted is None or record["pcm_f1"] is None:
        return found
    for suffix, (values, on_clause) in SETTINGS.items():
        score = score_components(
            read_components(gold, values=values, on_clause=on_clause),
            read_components(predicted, values=values, on_clause=on_clause),
        )
        if abs(score.f1 - record[f"pcm_f1{suffix}"]) > 1e-9:
            found.append(f"pcm_f1{suffix}")
        if score.em != record[f"pcm_em{suffix}"]:
            found.append(f"pcm_em{suffix}")
    return found


@pytest.mark.parametrize(
    ("name", "pairs", "scored"),
    [("parity.jsonl", 6353, 6038), ("parity_synth.jsonl", 3000, 2966), ("quirks.jsonl", 72, 66)],
    ids=["sede", "generated", "quirks"],
)
def test_parse_status_and_all_eight_numbers_are_equal(name: str, pairs: int, scored: int) -> None:
    wrong: dict[str, list[str]] = {}
    seen = with_score = 0
    for record in records(shared(f"sede/{name}")):
        seen += 1
        with_score += record["pcm_f1"] is not None
        if found := differences(record):
            wrong[record.get("id", record.get("tag"))] = found
    assert (seen, with_score) == (pairs, scored)
    assert wrong == {}


def test_cleaned_golds_are_equal() -> None:
    for record in records(shared("sede/parity.jsonl")):
        if record["gold_clean"]:
            assert clean(record["gold"]) == record["gold_clean"].replace("'", '"')


def test_component_lists_of_all_golds_are_equal() -> None:
    """The lists of several bodies are joined, as `read_components` does."""
    seen = 0
    with lzma.open(shared("sede/gold_components.jsonl.xz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            query = parsed(record["clean"] or "", is_clean=True)
            assert (query is None) == (record["components"] is None), record["clean"]
            if query is None:
                continue
            seen += 1
            ours = {name: [as_list(item) for item in items] for name, items in read_components(query).items()}
            assert ours == joined(record["components"]), record["clean"]
    assert seen == 1592


def joined(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    names = {"groupby_items": "group"}
    return {
        names.get(key, key.removesuffix("_items")): [item for body in bodies for item in body[key]] for key in bodies[0]
    }


def as_list(item: Item) -> Any:
    return item if isinstance(item, str) else [as_list(part) for part in item]
