"""What is known of prices is dated, and what is not known is unknown rather than nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.predictors.prices import SHIPPED, Price, find_price


def test_the_shipped_list_says_of_what_month_it_is() -> None:
    about = json.loads(SHIPPED.read_text(encoding="utf-8"))["_about"]
    assert re.search(r"as of [A-Z][a-z]+ 20\d\d", about)
    page = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    month = re.search(r"as of ([A-Z][a-z]+ 20\d\d)", about)
    assert month is not None
    assert month[1] in page


@pytest.mark.parametrize(
    "model, is_public, expected",
    [
        ("gpt-4o-mini", True, Price(0.15, 0.6)),
        ("gpt-4o-mini", False, None),
        ("a-model-of-tomorrow", True, None),
    ],
    ids=["listed", "another_endpoint_has_other_prices", "not_listed"],
)
def test_a_price_is_known_or_unknown(model: str, is_public: bool, expected: Price | None) -> None:
    assert find_price(model, None, is_public=is_public) == expected


def test_the_users_file_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"gpt-4o-mini": {"prompt": 1, "completion": 2}}')
    assert find_price("gpt-4o-mini", path, is_public=True) == Price(1.0, 2.0)
    assert find_price("gpt-4o", path, is_public=True) == Price(2.5, 10.0)


def test_a_cost_without_tokens_is_unknown() -> None:
    assert Price(1.0, 2.0).cost_usd(1_000_000, 500_000) == 2.0
    assert Price(1.0, 2.0).cost_usd(None, 5) is None


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "is not JSON"),
        ("[]", "wanted an object"),
        ('{"m": {"prompt": 1}}', "price of 'm' is .*, wanted an object with prompt and completion"),
        ('{"m": {"prompt": -1, "completion": 1}}', "price of 'm' holds -1"),
        ('{"m": {"prompt": true, "completion": 1}}', "price of 'm' holds True"),
    ],
)
def test_a_faulty_file_is_told(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(CaseError, match=message):
        find_price("m", path, is_public=False)
    with pytest.raises(UsageError, match="cannot be read"):
        find_price("m", tmp_path / "none.json", is_public=False)
