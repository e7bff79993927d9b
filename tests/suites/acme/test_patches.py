"""Each patch corrects one known thing, can be left out, and says so if there is nothing to correct."""

from __future__ import annotations

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.suites.acme.inquiries import Inquiry, PublishedQuery
from pytest_sqlbench.suites.acme.patches import PATCHES, parse_patches, patch_sparql, patch_sql

ALL = parse_patches("all")
SETTLE = "IQ_6da3f7fcefcdd7453548c0956632a211"
LOSS_PAYMENTS = "IQ_b4236934056faa683bbcded57fb3c8e7"
CLOSED_2019 = "IQ_d51d706e4b7ef001706289b940f09b24"


def _inquiry(id: str, sql: tuple[str, ...] = (), sparql: tuple[str, ...] = ()) -> Inquiry:
    texts = [tuple(PublishedQuery(f"query-{place}", text) for place, text in enumerate(each)) for each in (sql, sparql)]
    return Inquiry(0, id, "?", "LQLS", texts[0], texts[1])


@pytest.mark.parametrize(
    "engine, days",
    [
        ("duckdb", "date_diff('day', claim_open_date, claim_close_date)"),
        ("sqlite", "julianday(claim_close_date) - julianday(claim_open_date)"),
        ("postgres", "claim_close_date::date - claim_open_date::date"),
    ],
)
def test_date_diff_is_said_in_the_words_of_the_engine(engine: str, days: str) -> None:
    inquiry = _inquiry(SETTLE, ('SELECT avg(DATE_DIFF(claim_open_date, claim_close_date, "day"))',))
    assert patch_sql(inquiry, engine, ALL) == (f"SELECT avg({days})",)


def test_hash_comments_are_dropped_and_the_plain_query_leads() -> None:
    inquiry = _inquiry(LOSS_PAYMENTS, ("SELECT a,\n#    b,\n c,\n  # d,\n e", "SELECT a, c, e"))
    assert patch_sql(inquiry, "duckdb", ALL) == ("SELECT a, c, e", "SELECT a,\n c,\n e")


def test_dates_are_typed() -> None:
    (text,) = patch_sparql(_inquiry(CLOSED_2019, (), ("?d >= '2019-01-01' && ?d <= '2019-12-31'",)), ALL)
    assert text == (
        "?d >= '2019-01-01T00:00:00'^^<http://www.w3.org/2001/XMLSchema#dateTime>"
        " && ?d <= '2019-12-31T00:00:00'^^<http://www.w3.org/2001/XMLSchema#dateTime>"
    )


@pytest.mark.parametrize("id", [SETTLE, LOSS_PAYMENTS, CLOSED_2019, "IQ_other"])
def test_without_patches_queries_are_as_published(id: str) -> None:
    inquiry = _inquiry(id, ("SELECT 1",), ("ASK {}",))
    none = parse_patches("none")
    assert (patch_sql(inquiry, "duckdb", none), patch_sparql(inquiry, none)) == (("SELECT 1",), ("ASK {}",))


@pytest.mark.parametrize("id, name", [(SETTLE, "date-diff"), (LOSS_PAYMENTS, "hash-comments")])
def test_a_patch_that_finds_nothing_is_an_error(id: str, name: str) -> None:
    with pytest.raises(UsageError, match=f"patch '{name}' finds nothing to correct in {id}"):
        patch_sql(_inquiry(id, ("SELECT 1",)), "duckdb", ALL)


def test_typed_dates_that_find_nothing_are_an_error() -> None:
    with pytest.raises(UsageError, match="patch 'typed-dates' finds nothing to correct"):
        patch_sparql(_inquiry(CLOSED_2019, (), ("ASK {}",)), ALL)


def test_a_list_switches_patches_one_by_one() -> None:
    assert parse_patches(["date-diff", "range-types"]) == {"date-diff", "range-types"}
    assert parse_patches("all") == {patch.name for patch in PATCHES}


@pytest.mark.parametrize("value", ["some", ["date-diff", "no-such"], 3, None, [["date-diff"]]])
def test_an_unknown_patch_is_an_error_that_lists_them(value: object) -> None:
    with pytest.raises(UsageError, match="Allowed: all, none, or a list of these: agreement-header, policy-holder"):
        parse_patches(value)
