"""The text of a case file, and the JSON objects in it, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import CaseError


def decode_text(path: Path, content: bytes) -> str:
    """Return the text of a file, without a byte order mark; raise `CaseError` with the line that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(path, content.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from error


def read_objects(path: Path, content: bytes, wanted: str = "an object") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object; empty lines are passed over.

    Raises:
        CaseError: A line that is no JSON or, as ``wanted`` says, no object.
    """
    decode = json.JSONDecoder().decode
    for line, raw in enumerate(decode_text(path, content).split("\n"), 1):
        if not raw or raw.isspace():
            continue
        try:
            entry = decode(raw)
        except (ValueError, RecursionError) as error:
            raise CaseError(path, line, f"is not JSON: {error}") from error
        if not isinstance(entry, dict):
            raise CaseError(path, line, f"found {raw[:40]!r}, wanted {wanted}")
        yield line, entry
