"""``pytest-sqlbench predictions``: answers out of the store as JSONL that ``file:`` replays, and back into it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.recorded_files import read_records
from pytest_sqlbench.predictors.store import Entry, Store

HELP = "Export stored predictions as JSONL, or import such a file."

DEFAULT_STORE = Path(".sqlbench") / "predictions.db"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", choices=["export", "import"], help="which way")
    parser.add_argument("file", nargs="?", metavar="FILE", help="import: the JSONL file that an export has made")
    parser.add_argument("-o", "--output", metavar="FILE", help="export: where to write; without it, standard output")
    parser.add_argument("--store", metavar="PATH", help=f"the store; without it, SQLBENCH_STORE or {DEFAULT_STORE}")
    parser.add_argument("--model", metavar="SPEC", help="export: only answers of this model")
    parser.add_argument("--suite", metavar="NAME", help="export: only answers to cases of this suite")


def run(args: argparse.Namespace) -> int:
    """Export or import."""
    path = Path(args.store or os.environ.get("SQLBENCH_STORE") or DEFAULT_STORE)
    if args.what == "import":
        return _import(args.file, path)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such store")
    return _export(args, path)


def _export(args: argparse.Namespace, path: Path) -> int:
    store = Store(path)
    entries = [
        entry for entry in store.entries() if args.model in (None, entry.model) and args.suite in (None, entry.suite)
    ]
    store.close()
    models = sorted({entry.model for entry in entries})
    if len(models) > 1:
        raise UsageError(f"{path} has answers of {len(models)} models: {', '.join(models)}. Name one with --model.")
    with _opened(args.output) as output:
        for entry in entries:
            output.write(json.dumps(_to_record(entry), ensure_ascii=False) + "\n")
    print(f"{len(entries)} predictions of {models[0] if models else 'no model'}", file=sys.stderr)
    return 0


@contextlib.contextmanager
def _opened(name: str | None) -> Iterator[IO[str]]:
    if name is None:
        yield sys.stdout
        return
    partial = Path(f"{name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as output:
            yield output
        partial.replace(name)
    except OSError as error:
        raise UsageError(f"{name}: cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _to_record(entry: Entry) -> dict[str, Any]:
    usage = entry.prediction.usage or Usage()
    record = {
        "suite": entry.suite,
        "id": entry.case,
        "sample": entry.sample or None,
        "reply": entry.prediction.reply,
        "facts": entry.prediction.facts,
        "finish_reason": entry.prediction.finish_reason or None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
        "latency_ms": None if entry.prediction.latency_ms is None else round(entry.prediction.latency_ms, 1),
        "attempts": entry.attempts,
        "model": entry.model,
        "parameters": entry.parameters or None,
        "prompt_hash": entry.prompt_hash or None,
        "created_at": entry.created_at,
        "key": entry.key,
    }
    return {name: value for name, value in record.items() if value is not None or name == "reply"}


def _import(name: str | None, path: Path) -> int:
    if name is None:
        raise UsageError("import needs the file: pytest-sqlbench predictions import FILE")
    source = Path(name)
    read_records(source)  # what file: would say of it
    lines = enumerate(source.read_text(encoding="utf-8").split("\n"), start=1)
    entries = [_to_entry(source, line, json.loads(text)) for line, text in lines if text.strip()]
    store = Store(path)
    for entry in entries:
        store.put(entry)
    store.close()
    if store.trouble:
        raise UsageError(f"{store.trouble}. Nothing more was imported.")
    print(f"{len(entries)} predictions", file=sys.stderr)
    return 0


def _to_entry(path: Path, line: int, record: dict[str, Any]) -> Entry:
    for name in ("suite", "id", "key", "model"):
        if not isinstance(record.get(name), str):
            raise CaseError(path, line, f"has no {name!r}: only what an export has made can be imported")
    usage = Usage(record.get("prompt_tokens"), record.get("completion_tokens"), record.get("cost_usd"))
    return Entry(
        suite=record["suite"],
        case=record["id"],
        sample=int(record.get("sample", 0)),
        key=record["key"],
        model=record["model"],
        prediction=Prediction(
            reply=record.get("reply"),
            usage=None if usage == Usage() else usage,
            latency_ms=record.get("latency_ms"),
            finish_reason=str(record.get("finish_reason", "")),
            facts=record.get("facts"),
        ),
        attempts=int(record.get("attempts", 1)),
        parameters=str(record.get("parameters", "")),
        prompt_hash=str(record.get("prompt_hash", "")),
        created_at=str(record.get("created_at", "")),
    )
