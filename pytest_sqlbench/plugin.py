"""The entry point that pytest loads: only the standard library is imported here, the rest where a suite is used."""

from __future__ import annotations
