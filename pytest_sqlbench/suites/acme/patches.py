"""The corrections that the published benchmark needs, each by name, with its reason and where it comes from.

A patch that does not find what it corrects is an error: a corrected copy names the patches that it still needs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.suites.acme.inquiries import Inquiry


@dataclass(frozen=True, slots=True)
class Patch:
    """One correction that can be left out."""

    name: str
    reason: str
    source: str


PATCHES = (
    Patch(
        "agreement-header",
        "Agreement.csv names its first column Agreement_Type_Code, as its fifth; the column holds the identifier.",
        "DDL: the foreign keys to Agreement(Agreement_Identifier); same correction in OpenLink's fork, 2024",
    ),
    Patch(
        "policy-holder",
        "hasPolicyHolder leads to PolicyHolder-{id} where the policy holders are Policy-Holder-{id}: 12 SPARQL queries "
        "find nothing. Likewise Underwriting-Assessment-{id} stands for UnderwritingAssessment-{id}.",
        "the mapping itself; same correction in OpenLink's fork, commits bcb9975 and f1427ca, 2024",
    ),
    Patch(
        "date-diff",
        'The average time to settle a claim calls DATE_DIFF(from, to, "day"), which only the publisher\'s engine has.',
        "ours: the same days in the words of each engine",
    ),
    Patch(
        "hash-comments",
        "One of two SQL queries for the loss payments by agent has three lines commented out by #.",
        "ours: the lines are dropped; its answer then equals that of the other query",
    ),
    Patch(
        "typed-dates",
        "The claims closed in 2019 compare a date with plain text, which is never true of a typed literal.",
        "ours: the two constants are written as xsd:dateTime, the range that the ontology gives",
    ),
    Patch(
        "range-types",
        "Four classes of the ontology (loss and expense, payment and reserve) have no instances in the mapping.",
        "rdfs:domain and rdfs:range of the ontology; adds 8 types and changes no published query's answer",
    ),
)

AGREEMENT_HEADER: Mapping[str, Mapping[int, str]] = MappingProxyType({"Agreement": {0: "Agreement_Identifier"}})
"""Table to column place to its right name."""

POLICY_HOLDER: Mapping[str, str] = MappingProxyType(
    {"/PolicyHolder-{": "/Policy-Holder-{", "/Underwriting-Assessment-{": "/UnderwritingAssessment-{"}
)
"""Part of an IRI template to what it has to be."""

_SETTLE = "IQ_6da3f7fcefcdd7453548c0956632a211"
_LOSS_PAYMENTS = "IQ_b4236934056faa683bbcded57fb3c8e7"
_CLOSED_2019 = "IQ_d51d706e4b7ef001706289b940f09b24"

_DATE_DIFF = 'DATE_DIFF(claim_open_date, claim_close_date, "day")'
_DAYS: Mapping[str, str] = {
    "duckdb": "date_diff('day', claim_open_date, claim_close_date)",
    "sqlite": "julianday(claim_close_date) - julianday(claim_open_date)",
    "postgres": "claim_close_date::date - claim_open_date::date",
}


def parse_patches(value: object) -> frozenset[str]:
    """Read ``all``, ``none`` or a list of names.

    Raises:
        UsageError: Anything else; the message lists the names.
    """
    names = [patch.name for patch in PATCHES]
    if value == "all":
        return frozenset(names)
    if value == "none":
        return frozenset()
    if isinstance(value, list) and all(name in names for name in value):
        return frozenset(value)
    raise UsageError(f"patches is {value!r}. Allowed: all, none, or a list of these: {', '.join(names)}.")


def patch_sql(inquiry: Inquiry, engine: str, patches: frozenset[str]) -> tuple[str, ...]:
    """Return the acceptable SQL queries of a question as one engine can run them.

    Raises:
        UsageError: A patch does not find what it corrects.
    """
    texts = tuple(query.text for query in inquiry.sql)
    if inquiry.id == _SETTLE and "date-diff" in patches:
        return tuple(_replace("date-diff", inquiry, text, _DATE_DIFF, _DAYS[engine]) for text in texts)
    if inquiry.id == _LOSS_PAYMENTS and "hash-comments" in patches:
        cleaned = tuple(re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE) for text in texts)
        if cleaned == texts:
            raise _misses("hash-comments", inquiry)
        # the plain query leads: it is the one that others reproduce
        return tuple(sorted(cleaned, key=len))
    return texts


def patch_sparql(inquiry: Inquiry, patches: frozenset[str]) -> tuple[str, ...]:
    """Return the acceptable SPARQL queries of a question; raise `UsageError` if a patch finds nothing to correct."""
    texts = tuple(query.text for query in inquiry.sparql)
    if inquiry.id == _CLOSED_2019 and "typed-dates" in patches:
        for day in ("2019-01-01", "2019-12-31"):
            typed = f"'{day}T00:00:00'^^<http://www.w3.org/2001/XMLSchema#dateTime>"
            texts = tuple(_replace("typed-dates", inquiry, text, f"'{day}'", typed) for text in texts)
    return texts


def _replace(patch: str, inquiry: Inquiry, text: str, published: str, corrected: str) -> str:
    if published not in text:
        raise _misses(patch, inquiry)
    return text.replace(published, corrected)


def _misses(patch: str, inquiry: Inquiry) -> UsageError:
    return UsageError(f"patch {patch!r} finds nothing to correct in {inquiry.id}: name the other patches in a list")
