"""Rows of a CSV, TSV or JSONL file as mappings, each with its line number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.suites.json_lines import decode_text, read_objects

SUFFIXES = (".csv", ".tsv", ".jsonl")


def read_rows(path: Path, content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and row; cells of CSV are texts, those of JSONL have their own types.

    Raises:
        CaseError: Another suffix, text that is not UTF-8, a row that is wider or narrower than the header.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise CaseError(path, 0, f"unknown kind of table {path.suffix!r}. Known: {', '.join(SUFFIXES)}.")
    if suffix == ".jsonl":
        yield from read_objects(path, content)
    else:
        yield from _csv_rows(path, decode_text(path, content), "\t" if suffix == ".tsv" else ",")


def _csv_rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [label.strip() for label in next(reader, [])]
        if not any(header):
            raise CaseError(path, 1, "has no header, wanted a line that names the columns")
        twice = next((label for label in header if header.count(label) > 1), None)
        if twice is not None:
            raise CaseError(path, 1, f"column {twice!r} stands twice in the header")
        line = reader.line_num + 1
        for row in reader:
            if row and len(row) != len(header):
                raise CaseError(path, line, f"has {len(row)} cells, the header has {len(header)}")
            if row:
                yield line, dict(zip(header, row, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise CaseError(path, reader.line_num, f"is not CSV: {error}") from error
