"""Finds benchmark data that is not part of this repository; a test that needs it skips where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("SQLBENCH_SHARED", Path(__file__).parent.parent.parent / "shared"))


def shared(relative: str) -> Path:
    """Return the path of a shared data file or folder; skip the test where there is none."""
    path = ROOT / "data" / relative
    if not path.exists():
        pytest.skip(f"needs benchmark data that is not shipped: {relative}")
    return path
