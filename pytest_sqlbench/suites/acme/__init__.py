"""The ACME enterprise benchmark: one insurance schema, questioned in SQL and in SPARQL."""

from __future__ import annotations

__all__: list[str] = []
