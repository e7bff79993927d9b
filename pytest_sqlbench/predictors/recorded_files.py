"""Files of recorded predictions: JSONL, JSON, CSV, TSV or plain SQL lines in, records with their line numbers out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.prediction import Usage

ID_KEYS = ("id", "case", "case_id", "question_id", "example_id")
POSITION_KEYS = ("position", "index")
TEXT_KEYS = (
    "reply", "raw_output", "response", "completion", "output", "prediction", "predicted",
    "predicted_sql", "predict_sql", "pred_sql", "pred", "generated_query", "query", "sql",
)  # fmt: skip
"""Accepted names of the answer, the rawest first: the first that a record has is read."""

BIRD_SEPARATOR = "\t----- bird -----\t"


@dataclass(frozen=True, slots=True)
class Record:
    """One recorded prediction as its file has it."""

    line: int
    """1-based; 0 where the file is one JSON value."""
    text: str | None
    """The reply; None if the record says that there is none."""
    id: str = ""
    """The case, or ``suite/case``; empty: the record counts by its position."""
    position: int | None = None
    """0-based place in the published list, where the file says it."""
    sample: int = 0
    database: str = ""
    """The database that the file names beside the query, as BIRD's do."""
    error: str = ""
    """Why the model gave no answer when this was recorded."""
    usage: Usage | None = None
    latency_ms: float | None = None
    finish_reason: str = ""
    facts: object = None
    """A structured answer, such as a WikiSQL logical form."""


def read_records(path: Path) -> list[Record]:
    """Read a file of predictions; its suffix says the format.

    Raises:
        UsageError: The file is absent or its suffix is unknown.
        CaseError: A line cannot be read; the message names file and line.
    """
    readers = {
        ".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".json": _read_json,
        ".csv": _read_csv, ".tsv": _read_csv, ".sql": _read_lines, ".txt": _read_lines,
    }  # fmt: skip
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: unknown kind of predictions {path.suffix!r}. Known: {', '.join(readers)}.")
    return list(reader(path, _text_of(path)))


def _text_of(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file of predictions") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CaseError(path, line, f"is not UTF-8 (byte {raw[error.start]:#04x})") from None


def _read_jsonl(path: Path, text: str) -> Iterator[Record]:
    # not splitlines(): U+2028 and form feeds may stand inside a JSON string
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _record(path, number, _parse(path, line, number))


def _read_json(path: Path, text: str) -> Iterator[Record]:
    if _is_jsonl(text):
        yield from _read_jsonl(path, text)
        return
    value = _parse(path, text, 1)
    if isinstance(value, dict):
        for key, entry in value.items():
            yield _record(path, 0, entry, key)
    elif isinstance(value, list):
        for entry in value:
            yield _record(path, 0, entry)
    else:
        raise CaseError(path, 1, f"holds {_kind(value)}. Allowed: an object by case, or a list.")


def _is_jsonl(text: str) -> bool:
    """Tell whether a ``.json`` file is in fact one object a line, as several benchmarks publish it."""
    first, _, others = text.lstrip().partition("\n")
    if not first.startswith("{") or not others.strip():
        return False
    try:
        json.loads(first)
    except ValueError:
        return False
    return True


def _parse(path: Path, text: str, first_line: int) -> Any:
    def keep_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in entries if keys.count(key) > 1)
            raise CaseError(path, _second_line(text, twice, first_line), f"key {twice!r} stands twice")
        return entries

    try:
        return json.loads(text, object_pairs_hook=keep_unique)
    except json.JSONDecodeError as error:
        what = f"is not JSON: {error.msg} at column {error.colno}"
        ends = " (the file may be cut off)" if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg else ""
        raise CaseError(path, first_line + error.lineno - 1, what + ends) from None
    except RecursionError:
        raise CaseError(path, first_line, "is nested too deeply") from None


def _second_line(text: str, key: str, first_line: int) -> int:
    first = text.find(json.dumps(key))
    second = text.find(json.dumps(key), first + 1)
    return first_line + text.count("\n", 0, max(second, 0))


def _read_csv(path: Path, text: str) -> Iterator[Record]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    try:
        header = [label.strip() for label in next(rows, [])]
        if not set(header) & set(TEXT_KEYS):
            raise CaseError(path, 1, f"no column with predictions. Name one of: {', '.join(TEXT_KEYS)}.")
        line = rows.line_num + 1
        for row in rows:
            if len(row) != len(header) and row:
                raise CaseError(path, line, f"has {len(row)} cells, the header has {len(header)}")
            if row:
                yield _record(path, line, dict(zip(header, row, strict=True)))
            line = rows.line_num + 1
    except csv.Error as error:
        raise CaseError(path, rows.line_num, f"is not CSV: {error}") from error


def _read_lines(path: Path, text: str) -> Iterator[Record]:
    lines = text.split("\n")
    if lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, start=1):
        yield _record(path, number, line.rstrip("\r"))


def _record(path: Path, line: int, value: Any, key: str = "") -> Record:
    if isinstance(value, str):
        text, _, database = value.partition(BIRD_SEPARATOR)
        return Record(line, text, key, database=database.strip())
    if value is None:
        return Record(line, None, key)
    if not isinstance(value, dict):
        named = f"prediction of {key!r}" if key else "prediction"
        raise CaseError(path, line, f"{named} is {_kind(value)}. Allowed: a string, null or an object.")
    return _from_object(path, line, value, key)


def _from_object(path: Path, line: int, value: dict[str, Any], key: str) -> Record:
    name = next((name for name in TEXT_KEYS if name in value), None)
    error = value.get("model_error")
    if name is None and not error and not value.get("error"):
        keys = ", ".join(map(str, value)) or "none"
        raise CaseError(path, line, f"no prediction among the keys {keys}. Name one of: {', '.join(TEXT_KEYS)}.")
    answer = value[name] if name else None
    is_structured = isinstance(answer, (dict, list))
    text = json.dumps(answer, ensure_ascii=False) if is_structured else None if answer is None else str(answer)
    is_odd = is_structured or name is None or (answer is None and bool(value.get("error")))
    id_key = next((name for name in ID_KEYS if value.get(name) not in (None, "")), None)
    position_key = next((name for name in POSITION_KEYS if value.get(name) not in (None, "")), None)
    case = key or (str(value[id_key]) if id_key else "")
    return Record(
        line=line,
        text=text,
        id=f"{value['suite']}/{case}" if value.get("suite") and case and not key else case,
        position=_whole(path, line, value, position_key) if position_key and not case else None,
        sample=_whole(path, line, value, "sample") if value.get("sample") not in (None, "") else 0,
        error=str(error) if error and text is None and not is_structured else "",
        usage=_usage(value),
        latency_ms=_number(value.get("latency_ms")),
        finish_reason=str(value.get("finish_reason") or ""),
        facts=value["facts"] if value.get("facts") is not None else value if is_odd else None,
    )


def _usage(value: Mapping[str, Any]) -> Usage | None:
    source = value["usage"] if isinstance(value.get("usage"), dict) else value
    prompt, completion = _number(source.get("prompt_tokens")), _number(source.get("completion_tokens"))
    cost = _number(source.get("cost_usd"))
    if prompt is None and completion is None and cost is None:
        return None
    return Usage(None if prompt is None else int(prompt), None if completion is None else int(completion), cost)


def _number(value: Any) -> float | None:
    """Read a figure that is only reported, never judged: what cannot be read is unknown."""
    if isinstance(value, bool) or value in (None, ""):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < 1e15 else None


def _whole(path: Path, line: int, value: Mapping[str, Any], key: str) -> int:
    found = value[key]
    if isinstance(found, bool) or not str(found).isdecimal():
        raise CaseError(path, line, f"{key} is {found!r}. Allowed: a whole number from 0.")
    return int(found)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), f"a number ({value!r})")
