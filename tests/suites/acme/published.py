"""Paths in the published ACME folder, which is not part of this repository."""

from __future__ import annotations

from pathlib import Path

from tests.shared_data import shared


def folder() -> Path:
    """Return the published folder; skip the test where there is none."""
    return shared("acme/ACME_Insurance")


def turtle() -> Path:
    """Return the file with the questions."""
    return folder() / "investigation" / "acme-benchmark.ttl"


def ddl() -> Path:
    """Return the published DDL."""
    return folder() / "DDL" / "ACME_small.ddl"


def mapping() -> Path:
    """Return the R2RML mapping."""
    return next((folder() / "data").glob("*.r2rml"))


def ontology() -> Path:
    """Return the ontology."""
    return folder() / "ontology" / "insurance.ttl"
