"""Two runs: every case lands in one group, unlike runs are refused, and chance is told from change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_sqlbench.comparison import (
    Comparison,
    compare_runs,
    find_conflicts,
    find_notes,
    is_graded,
    measure_difference,
    select_pairs,
)
from pytest_sqlbench.errors import BaselineError
from pytest_sqlbench.run import Fingerprint, Run, SuiteFacts
from pytest_sqlbench.significance import mcnemar
from pytest_sqlbench.verdict import Verdict
from tests.verdicts import make_samples, make_verdict, make_verdicts


def compare(old: list[Verdict], new: list[Verdict]) -> Comparison:
    return compare_runs(Run(tuple(old)), Run(tuple(new)))


@pytest.mark.parametrize(
    "old,new,group",
    [
        ("c", "c", "still_right"),
        ("c", "w", "regressed"),
        ("w", "c", "fixed"),
        ("w", "w", "known_wrong"),
        ("c", "m", "unanswered"),
        ("g", "w", "unanswered"),
        ("u", "c", "unscorable"),
        ("c", "", "removed"),
        ("", "w", "new"),
    ],
)
def test_every_case_lands_in_one_group(old: str, new: str, group: str) -> None:
    found = compare(make_verdicts(old), make_verdicts(new))
    names = (
        *("fixed", "regressed", "known_wrong", "still_right"),
        *("new", "removed", "edited", "unanswered", "unscorable"),
    )
    assert [name for name in names if getattr(found, name)] == [group]


def test_an_edited_case_is_another_case() -> None:
    found = compare(make_verdicts("cc", digest="aa"), [*make_verdicts("w", digest="bb")])
    assert found.edited == (("orders", "0000"),)
    assert found.removed == (("orders", "0001"),)
    assert found.regressed == ()


def test_samples_are_compared_by_majority_and_flaky_cases_are_listed() -> None:
    found = compare(make_samples(["ccc", "ccc", "www"]), make_samples(["cww", "ccw", "www"]))
    assert [pair.key for pair in found.regressed] == [("orders", "0000")]
    assert [tally.key for tally in found.flaky] == [("orders", "0000"), ("orders", "0001")]


def test_one_sample_a_case_is_judged_by_mcnemar() -> None:
    found = compare(make_verdicts("c" * 10 + "w" * 4), make_verdicts("w" * 8 + "c" * 2 + "c" + "w" * 3))
    difference = measure_difference(found.pairs)
    assert (difference.n, difference.mean) == (14, -0.5)
    assert difference.p == mcnemar(1, 8)


def test_several_samples_are_judged_by_the_bootstrap() -> None:
    found = compare(make_samples(["ccccc", "ccccw"] * 20), make_samples(["ccccw", "cccww"] * 19 + ["ccccc"] * 2))
    difference = measure_difference(found.pairs)
    assert difference.mean == pytest.approx((-38 * 0.2 + 0.2) / 40)
    assert difference.low < difference.mean < difference.high < 0
    assert difference.p < 0.01


def test_a_graded_metric_is_judged_by_its_mean() -> None:
    old = [make_verdict(str(place), "c", score=0.8 + place / 100, scores={"em": 1.0}) for place in range(9)]
    new = [make_verdict(str(place), "c", score=0.7 + place / 99, scores={"em": 0.0}) for place in range(9)]
    found = compare(old, new)
    assert is_graded(found.pairs)
    assert measure_difference(found.pairs, "score").mean == pytest.approx(-0.1 + 4 / 99 - 4 / 100)
    assert measure_difference(found.pairs, "em").mean == -1.0
    assert measure_difference(found.pairs).mean == 0.0


def test_nothing_in_common_has_no_difference() -> None:
    with pytest.raises(ValueError, match="no cases"):
        measure_difference(compare(make_verdicts("c"), []).pairs)


def test_a_slice_is_as_this_run_has_it() -> None:
    found = compare(make_verdicts("cc"), [make_verdict("0000", "c", tags=("join",)), make_verdict("0001", "w")])
    assert [pair.key[1] for pair in select_pairs(found.pairs, "join")] == ["0000"]
    assert [pair.key[1] for pair in select_pairs(found.pairs, "orders")] == ["0000", "0001"]


FACTS = SuiteFacts(policy="default", databases={"shop": "aa11"}, digest="1", cases=4)
ORIGIN = Fingerprint(plugin="1.0", policy_version=1, extraction="picked", model="gold", suites={"orders": FACTS})


@pytest.mark.parametrize(
    "changes,line",
    [
        ({"policy_version": 2}, "policy version was 1 and is 2"),
        ({"extraction": "none"}, "extraction was picked and is none"),
        ({"selection": "limit=20"}, "selection was none and is limit=20"),
        ({"suites": {"orders": replace(FACTS, metric="pcm_f1")}}, "metric of suite orders was execution_accuracy and"),
        ({"suites": {"orders": replace(FACTS, policy="bird")}}, "policy of suite orders was default and is bird"),
        ({"suites": {"orders": replace(FACTS, threshold=0.5)}}, "threshold of suite orders was 1.0 and is 0.5"),
        (
            {"suites": {"orders": replace(FACTS, databases={"shop": "bb22"})}},
            "data of database shop in suite orders was aa11 and is bb22",
        ),
    ],
)
def test_unlike_runs_are_refused_by_name(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(BaselineError, match=f"main.json cannot be compared with this run: {line}"):
        compare_runs(Run((), ORIGIN, "main.json"), Run((), replace(ORIGIN, **changes)))


@pytest.mark.parametrize(
    "changes,line",
    [
        ({"model": "openai:x"}, "model was gold and is openai:x"),
        ({"plugin": "1.1"}, "plugin was 1.0 and is 1.1"),
        ({"parameters": {"temperature": 0}}, "parameter temperature was none and is 0"),
        ({"engines": {"sqlite": "3.45"}}, "engine sqlite was none and is 3.45"),
        ({"suites": {"orders": replace(FACTS, prompt="ff")}}, "prompt of suite orders was none and is ff"),
    ],
)
def test_what_may_differ_is_noted(changes: dict[str, Any], line: str) -> None:
    now = replace(ORIGIN, **changes)
    assert find_conflicts(ORIGIN, now) == []
    assert find_notes(ORIGIN, now) == [line]


def test_another_suite_digest_or_commit_is_no_difference() -> None:
    now = replace(ORIGIN, commit="abc", suites={"orders": replace(FACTS, digest="2", cases=5), "more": FACTS})
    assert find_conflicts(ORIGIN, now) == find_notes(ORIGIN, now) == []
