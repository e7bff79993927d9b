"""The adversarial pairs at the level of results: what `compare` alone can know of them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_sqlbench.policy import PRESETS
from pytest_sqlbench.result import QueryFailure
from pytest_sqlbench.scoring.compare import compare
from tests.scoring.results import order_of, query
from tests.shared_data import shared

BEYOND_RESULTS = {"coincidence", "constant_guess", "where_dropped", "fence", "fence_prose", "gold_error"}
"""Pairs whose right verdict needs more than the rows of one database."""
TOO_HEAVY = {"huge_blob", "infinite_cte"}
"""Pairs that a sandbox has to stop first."""


@contextmanager
def _connect(schema: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema)
    connection.execute("PRAGMA query_only = 1")
    deadline = time.monotonic() + 30
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        yield connection
    finally:
        connection.close()


def _verdict(pair: dict[str, Any], schema: str) -> bool:
    golds = pair["gold"] if isinstance(pair["gold"], list) else [pair["gold"]]
    with _connect(schema) as connection:
        for sql in golds:
            results = query(connection, sql), query(connection, pair["pred"])
            if any(isinstance(result, QueryFailure) for result in results):
                continue
            order = order_of(connection, sql)
            if compare(*results, PRESETS["default"], order=order).is_match:  # type: ignore[arg-type]
                return True
    return False


def _pairs(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shared(f"verdicts/{name}").read_text(encoding="utf-8").splitlines()]


def test_definite_pairs_get_the_right_verdict() -> None:
    schema = shared("verdicts/schema.sql").read_text(encoding="utf-8")
    wrong = [
        pair["id"]
        for pair in _pairs("pairs.jsonl")
        if pair["kind"] == "definite"
        and pair["id"] not in BEYOND_RESULTS | TOO_HEAVY
        and pair["right"] in (0, 1)
        and _verdict(pair, schema) is not bool(pair["right"])
    ]
    assert wrong == []


def test_reported_inputs_get_the_expected_verdict() -> None:
    wrong = [
        pair["source"]
        for pair in _pairs("reported.jsonl")
        if pair["expected"] in (0, 1)
        and pair.get("flag") != "coincidence"
        and _verdict(pair, pair["schema"]) is not bool(pair["expected"])
    ]
    assert wrong == []
