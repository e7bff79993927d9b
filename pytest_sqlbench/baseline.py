"""Runs on disk: one JSON file with one case a line, whole or in the small form that is committed as a baseline."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import BaselineError, UsageError
from pytest_sqlbench.run import Fingerprint, Run, SuiteFacts, natural_order, split_by_suite, tally_cases
from pytest_sqlbench.verdict import Outcome, Verdict, from_record, to_record

SCHEMA = 1
"""Raised when a file of this version can no longer be read by the one before."""

_COMMITTED = ("case", "sample", "outcome", "reason", "score", "scores", "difficulty", "tags", "digest")
_OF_THE_CASE = ("case", "difficulty", "tags", "digest", "where", "question", "gold")
_IMPLIED_SCORE = {Outcome.CORRECT.value: 1.0, Outcome.WRONG.value: 0.0}
_NUMBERED = re.compile(r"(\d{4,})_.*")


def save_run(run: Run, path: Path, *, is_committed: bool) -> None:
    """Write a run to a file, at once or not at all.

    Args:
        run: What to write; its verdicts are sorted by suite, case and sample.
        path: Where; missing folders are made.
        is_committed: Leave out what changes from run to run though no case does (texts, results, timings, the
            commit), so that a diff shows one line for one case.

    Raises:
        UsageError: The file cannot be written.
    """
    text = format_run(run, is_committed=is_committed)
    # beside the target, so that the rename is atomic and a reader never sees half a file
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # a lone surrogate from a reply becomes the JSON escape that means just that
        draft.write_bytes(text.encode("utf-8", "backslashreplace"))
        os.replace(draft, path)
    except OSError as error:
        raise UsageError(f"cannot save the run to {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def format_run(run: Run, *, is_committed: bool) -> str:
    """Return the text of a saved run. The same verdicts give the same bytes, in whatever order they came."""
    origin = asdict(run.fingerprint)
    facts = origin.pop("suites")
    if is_committed:
        # git knows at which commit the file changed
        del origin["commit"]
    groups = split_by_suite(run.verdicts)
    suites = [
        _format_suite(name, facts.get(name) or asdict(SuiteFacts()), groups.get(name, []), is_committed)
        for name in sorted({*groups, *facts})
    ]
    head = {
        "schema": SCHEMA,
        "form": "committed" if is_committed else "whole",
        "fingerprint": _drop_empty(origin),
        "cost_per_case_usd": run.cost_per_case_usd,
    }
    lines = [f"{_text(key)}: {_text(value)}" for key, value in head.items()]
    return "{\n" + ",\n".join(lines) + ',\n"suites": {\n' + ",\n".join(suites) + "\n}\n}\n"


def _format_suite(name: str, facts: Mapping[str, Any], verdicts: Sequence[Verdict], is_committed: bool) -> str:
    tallies = sorted(tally_cases(verdicts).values(), key=lambda tally: natural_order(tally.key))
    lines = [_case_text([_line(one, facts, is_committed) for one in tally.verdicts]) for tally in tallies]
    head = "".join(f" {_text(key)}: {_text(value)},\n" for key, value in _drop_empty(facts).items())
    return f'{_text(name)}: {{\n{head} "verdicts": [\n' + ",\n".join(lines) + "\n]}"


def _line(verdict: Verdict, facts: Mapping[str, Any], is_committed: bool) -> dict[str, Any]:
    """Return what is written of one verdict: without what its suite or its outcome already says."""
    record = to_record(verdict)
    record.setdefault("metric", verdict.metric)
    del record["suite"]
    if record["metric"] == facts["metric"]:
        del record["metric"]
    if record.get("score") == _IMPLIED_SCORE.get(record["outcome"]):
        record.pop("score", None)
    if not is_committed:
        return record
    return {key: record[key] for key in (*_COMMITTED, "metric") if key in record}


def _case_record(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the samples of one case on one line."""
    if len(records) == 1:
        return records[0]
    shared = {
        key: records[0][key]
        for key in _OF_THE_CASE
        if all(record.get(key) == records[0].get(key) for record in records) and key in records[0]
    }
    rest = [{key: value for key, value in record.items() if key not in shared} for record in records]
    return {**shared, "samples": rest}


def load_run(path: Path) -> Run:
    """Read a saved run, whole or committed.

    Raises:
        BaselineError: There is no such file, or it is not a saved run that this version can read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BaselineError(f"no saved run at {path}. Save one with --sqlbench-save=NAME.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"cannot read the saved run {path}: {error}") from error
    return parse_run(text, str(path))


def parse_run(text: str, name: str) -> Run:
    """Read the text of a saved run; `name` stands in messages and becomes the run's.

    Raises:
        BaselineError: As for `load_run`; the message names the line.
    """
    try:
        given = json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise _broken(name, line, f"not JSON: {getattr(error, 'msg', error)}") from None
    if not isinstance(given, dict) or "schema" not in given:
        raise _broken(name, 1, 'not a saved run: it has no "schema"')
    if given["schema"] != SCHEMA:
        raise _broken(name, _find_line(text, '"schema"'), f"schema {given['schema']!r} cannot be read. Allowed: 1")
    try:
        return _read_run(given, text, name)
    except (KeyError, TypeError, AttributeError) as error:
        raise _broken(name, 1, f"not a saved run: {_explain(error)}") from error


def _read_run(given: Mapping[str, Any], text: str, name: str) -> Run:
    facts_known = {field.name for field in fields(SuiteFacts)}
    suites: dict[str, SuiteFacts] = {}
    verdicts: list[Verdict] = []
    for suite, body in given["suites"].items():
        suites[suite] = SuiteFacts(**{key: body[key] for key in body if key in facts_known})
        seen: set[str] = set()
        for record in body["verdicts"]:
            try:
                verdicts.extend(_read_case(record, suite, suites[suite].metric, seen))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise _broken(name, _find_line(text, record), f"not a verdict: {_explain(error)}") from error
    origin = Fingerprint(**given["fingerprint"], suites=suites)
    return Run(tuple(verdicts), origin, name, given.get("cost_per_case_usd"))


def _explain(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _read_case(record: Mapping[str, Any], suite: str, metric: str, seen: set[str]) -> list[Verdict]:
    if record["case"] in seen:
        raise ValueError(f"case {record['case']!r} stands twice")
    seen.add(record["case"])
    if "samples" in record:
        shared = {key: value for key, value in record.items() if key != "samples"}
        return [_read_verdict({**shared, **sample}, suite, metric) for sample in record["samples"]]
    return [_read_verdict(record, suite, metric)]


def _read_verdict(record: Mapping[str, Any], suite: str, metric: str) -> Verdict:
    score = _IMPLIED_SCORE.get(record["outcome"])
    return from_record({"suite": suite, "metric": metric, "score": score, **record})


def _broken(name: str, line: int, message: str) -> BaselineError:
    return BaselineError(f"{name}:{line}: {message}")


def _find_line(text: str, needle: object) -> int:
    """Return the line of a key, or of a record as this module or an editor would write it; 1 if it is not found."""
    spellings = [needle] if isinstance(needle, str) else [_text(needle, (",", ":")), _text(needle)]
    places = [place for spelling in spellings if (place := text.rfind(spelling)) >= 0]
    return text.count("\n", 0, places[0]) + 1 if places else 1


def find_saved(spec: str, storage: Path) -> Path:
    """Return the file that ``NAME`` or ``PATH`` means; the newest numbered run where it is empty.

    Raises:
        BaselineError: There is none; the message names what there is.
    """
    saved = list_saved(storage)
    if spec:
        direct = Path(spec)
        if direct.suffix == ".json" or len(direct.parts) > 1:
            return direct
        named = storage / f"{spec}.json"
        if named.exists():
            return named
    elif numbered := [path for path in saved if _NUMBERED.fullmatch(path.stem)]:
        return max(numbered, key=lambda path: int(_number(path)))
    elif len(saved) == 1:
        return saved[0]
    names = ", ".join(path.stem for path in saved) or "none"
    wanted = f"called {spec!r}" if spec else "to compare with"
    raise BaselineError(f"no saved run {wanted} in {storage} (saved: {names}). Save one with --sqlbench-save=NAME.")


def list_saved(storage: Path) -> list[Path]:
    """Return the saved runs of a storage folder, in order of name."""
    return sorted(path for path in storage.glob("*.json") if not path.name.startswith("."))


def number_path(storage: Path, label: str) -> Path:
    """Return the next free numbered file of a storage folder, such as ``0007_3f2a1bc.json``."""
    last = max((int(_number(path)) for path in list_saved(storage) if _NUMBERED.fullmatch(path.stem)), default=0)
    return storage / f"{last + 1:04}_{label}.json"


def _number(path: Path) -> str:
    return path.stem.partition("_")[0]


def _case_text(records: Sequence[dict[str, Any]]) -> str:
    return _text(_case_record(records), (",", ":"))


def _text(value: object, separators: tuple[str, str] = (", ", ": ")) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, separators=separators)


def _finite(value: Any) -> Any:
    """Spell numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def _drop_empty(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value not in ("", {}, None)}
