"""The suites that ship in `cases/`: every gold answers, every recorded wrong query is found wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet, Status
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite

LABELS = frozenset(
    """
    table column hallucinated_name
    join_missing join_extra join_condition join_kind
    filter_missing filter_extra filter_column filter_operator filter_value
    aggregate grouping having distinct ordering limit set_operation subquery function
    """.split()
)
"""What is wrong with a query of `wrong_queries/`, always one thing: the gold with a single change.

A condition of a subquery is a filter, unless it ties the subquery to the outer row: then the label is subquery.
An aggregate's name or argument is aggregate; a window's ORDER BY is ordering; a bridge table left out is join_missing.
"""

WRONG = Path(__file__).parent / "wrong_queries"
FOLDER = Path(__file__).parent.parent / "cases"
SUITES = {path.stem: load_suite(path) for path in sorted(FOLDER.glob("*.yaml"))}
CASES = [pytest.param(suite, case, id=f"{suite.name}-{case.id}") for suite in SUITES.values() for case in suite.cases]


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """An engine per suite, over a database built from the suite's recipe."""
    settings = Settings(cache_dir=tmp_path_factory.mktemp("cache"))
    opened = {name: open_engine("sqlite", suite.databases["main"], settings) for name, suite in SUITES.items()}
    yield opened
    for engine in opened.values():
        engine.close()


def answer(engine: Engine, query: str) -> ResultSet:
    result = engine.run_gold(query)
    assert isinstance(result, ResultSet), f"{query}\n{result}"
    return result


def is_right(engine: Engine, suite: Suite, case: Case, query: str) -> bool:
    predicted = answer(engine, query)
    policy = case.policy or suite.policy
    return any(
        compare(answer(engine, gold), predicted, policy, order=GoldOrder(gold, fetch=engine.run_gold)).is_match
        for gold in case.gold
    )


def test_there_are_four_suites_of_twenty_cases_or_more() -> None:
    sizes = {name: len(suite.cases) for name, suite in SUITES.items()}
    assert len(sizes) >= 4
    assert min(sizes.values()) >= 20, sizes


def test_every_case_has_a_known_difficulty_and_a_tag() -> None:
    for suite in SUITES.values():
        for case in suite.cases:
            assert case.difficulty in ("easy", "medium", "hard"), case.id
            assert case.tags, case.id


def test_every_suite_has_cases_of_each_difficulty() -> None:
    for suite in SUITES.values():
        counts = Counter(case.difficulty for case in suite.cases)
        assert min(counts[level] for level in ("easy", "medium", "hard")) >= 5, (suite.name, counts)


@pytest.mark.parametrize("suite, case", CASES)
def test_each_gold_answers_and_only_a_case_tagged_empty_has_no_rows(
    engines: dict[str, Engine], suite: Suite, case: Case
) -> None:
    for gold in case.gold:
        assert bool(answer(engines[suite.name], gold).rows) == ("empty" not in case.tags)


@pytest.mark.parametrize("suite, case", CASES)
def test_each_gold_is_right_by_its_own_case(engines: dict[str, Engine], suite: Suite, case: Case) -> None:
    for gold in case.gold:
        assert is_right(engines[suite.name], suite, case, gold)


def wrong_queries(suite: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (WRONG / f"{suite}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("suite", SUITES)
def test_every_wrong_query_is_found_wrong(engines: dict[str, Engine], suite: str) -> None:
    passed = [
        wrong
        for wrong in wrong_queries(suite)
        if wrong["label"] != "hallucinated_name"
        and is_right(engines[suite], SUITES[suite], SUITES[suite].find_case(wrong["id"]), wrong["sql"])
    ]
    assert passed == []


@pytest.mark.parametrize("suite", SUITES)
def test_a_hallucinated_name_does_not_run(engines: dict[str, Engine], suite: str) -> None:
    for wrong in wrong_queries(suite):
        if wrong["label"] == "hallucinated_name":
            failure = engines[suite].run_gold(wrong["sql"])
            assert isinstance(failure, QueryFailure), wrong
            assert failure.status in (Status.NO_SUCH_TABLE, Status.NO_SUCH_COLUMN), wrong


def test_every_label_has_eight_wrong_queries_and_every_case_one() -> None:
    labels = Counter(wrong["label"] for suite in SUITES for wrong in wrong_queries(suite))
    assert labels.keys() == LABELS
    assert min(labels.values()) >= 8, labels
    for name, suite in SUITES.items():
        assert {wrong["id"] for wrong in wrong_queries(name)} == {case.id for case in suite.cases}


@pytest.mark.parametrize("path", sorted((FOLDER / "predictions").glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recording_has_one_reply_to_every_case(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [(suite.name, case.id) for suite in SUITES.values() for case in suite.cases]
    assert [(record["suite"], record["id"]) for record in records] == asked
