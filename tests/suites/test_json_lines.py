"""The text of case files and the objects in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.json_lines import decode_text, read_objects

PATH = Path("cases.jsonl")


def test_objects_come_with_their_lines() -> None:
    assert list(read_objects(PATH, b'\xef\xbb\xbf{"a": 1}\n\n  \n{"a": 2}')) == [(1, {"a": 1}), (4, {"a": 2})]


@pytest.mark.parametrize(
    "content, message",
    [
        (b'{"a": 1}\n{', r"cases\.jsonl:2: is not JSON"),
        (b'{"a": 1}\n[2]', r"cases\.jsonl:2: found '\[2\]', wanted an object with a"),
        (b"\n" + b"[" * 100_000, r"cases\.jsonl:2: is not JSON"),
        (b'{"a": 1}\n\xff', r"cases\.jsonl:2: is not UTF-8 text"),
    ],
    ids=["half_an_object", "a_list", "too_deep", "no_utf8"],
)
def test_a_line_that_is_no_object_is_named(content: bytes, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        list(read_objects(PATH, content, "an object with a"))


def test_a_byte_order_mark_is_no_text() -> None:
    assert decode_text(PATH, b"\xef\xbb\xbfa") == "a"
