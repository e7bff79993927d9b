"""What one prediction may use, as a line for reports, with what this platform cannot limit."""

from __future__ import annotations

import sys

from pytest_sqlbench.result import Limits

TERMINATED = "its server process was terminated"
"""How the message of a failure ends whose query a server could not stop."""


def describe_limits(limits: Limits, platform: str = sys.platform) -> str:
    """Return the limits, as in ``10 s, 100,000 rows, 64 MB, 1,024 MB of memory``."""
    text = (
        f"{limits.timeout_s:g} s, {limits.rows:,} rows, {limits.result_bytes / 2**20:,.4g} MB,"
        f" {limits.memory_bytes / 2**20:,.4g} MB of memory"
    )
    if platform.startswith("linux"):
        return text
    return f"{text} (of the engine's heap only, on {platform})"
