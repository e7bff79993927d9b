"""A case's digest says whether two runs judged the same thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sqlbench.case import Case, digest_case
from pytest_sqlbench.policy import find_preset

CASE = Case("orders", "late", "Which orders are late?", ("SELECT 1",))


@pytest.mark.parametrize(
    "changes",
    [
        {"question": "Which?"},
        {"gold": ("SELECT 1", "SELECT 2")},
        {"evidence": "late: after the promised day"},
        {"database": "shop"},
        {"threshold": 0.5},
        {"policy": find_preset("strict")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_judged_changes_the_digest(changes: dict[str, object]) -> None:
    assert digest_case(replace(CASE, **changes)) != digest_case(CASE)


def test_tags_and_place_do_not() -> None:
    assert digest_case(replace(CASE, tags=("join",), difficulty="hard", line=9)) == digest_case(CASE)


def test_it_is_the_same_in_every_process() -> None:
    assert digest_case(CASE) == "dbc2b214"
