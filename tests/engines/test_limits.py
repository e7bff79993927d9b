"""The limits as a report says them."""

from __future__ import annotations

import pytest

from pytest_sqlbench.engines.limits import describe_limits
from pytest_sqlbench.result import Limits


@pytest.mark.parametrize(
    "platform, text",
    [
        ("linux", "10 s, 100,000 rows, 64 MB, 1,024 MB of memory"),
        ("darwin", "10 s, 100,000 rows, 64 MB, 1,024 MB of memory (of the engine's heap only, on darwin)"),
    ],
)
def test_what_a_platform_cannot_limit_is_said(platform: str, text: str) -> None:
    assert describe_limits(Limits(), platform) == text
