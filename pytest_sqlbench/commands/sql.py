"""``pytest-sqlbench sql CASE``: the database of a case, read-only, with its gold and its predicted query ready."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.commands.gates import add_storage_argument, open_saved
from pytest_sqlbench.commands.prompt import find_case
from pytest_sqlbench.commands.show import find_source, find_tally
from pytest_sqlbench.engines.build import build_database
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.errors import BaselineError, UsageError
from pytest_sqlbench.report.cells import show_row
from pytest_sqlbench.report.failure import show_text
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet
from pytest_sqlbench.settings import Settings

HELP = "Open the database of a case read-only, with gold and prediction ready."
SHOWN_ROWS = 40
USAGE = "\\g runs the gold, \\p the prediction, \\q ends; anything else is run as a query"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("case", metavar="CASE", help="SUITE.yaml::ID, a node id, or a case of a saved run.")
    parser.add_argument("--run", dest="run_spec", metavar="NAME", default="", help="Saved run. Default: the newest.")
    parser.add_argument("--plain", action="store_true", help="Use this package's own prompt, not the sqlite3 shell.")
    add_storage_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Open the database and answer queries until the input ends."""
    suite, case, predicted = _find(args)
    database = suite.databases.get(case.database)
    if database is None or not case.engine:
        raise UsageError(f"{case.suite}[{case.id}] has no database")
    print(f"question   {show_text(case.question)}\ngold       {show_text(case.gold[0])}")
    print(f"predicted  {show_text(predicted) if predicted is not None else '(no saved run has a statement)'}")
    with tempfile.TemporaryDirectory(prefix="sqlbench-") as folder:
        shell = shutil.which("sqlite3") if case.engine == "sqlite" and sys.stdin.isatty() and not args.plain else None
        if shell is not None:
            return _run_shell(shell, database, case.gold[0], predicted, Path(folder))
        engine = open_engine(case.engine, database, replace(Settings(), cache_dir=Path(folder)))
        try:
            print(USAGE)
            for line in _read_lines():
                if line == "\\q":
                    break
                query = {"\\g": case.gold[0], "\\p": predicted or ""}.get(line, line)
                _answer(engine, query)
        finally:
            engine.close()
    return 0


def _find(args: argparse.Namespace) -> tuple[Suite, Case, str | None]:
    """Return suite and case, and the statement that the saved run has for it."""
    is_placed = Path(args.case.partition("::")[0]).is_file()
    found = find_case(args.case) if is_placed else None
    try:
        saved = open_saved(args.run_spec, args.storage)
        name = f"{found[1].suite}[{found[1].id}]" if found is not None else args.case
        tally = find_tally(saved, name)
    except (BaselineError, UsageError):
        if found is None:
            raise
        return (*found, None)
    found = found or find_source(tally.shown)
    if found is None:
        raise UsageError(f"the suite of {args.case} is not here; write SUITE.yaml::ID")
    return (*found, tally.shown.sql)


def _read_lines() -> Iterable[str]:
    with suppress(EOFError):
        while True:
            line = input("sqlbench> " if sys.stdin.isatty() else "").strip()
            if line:
                yield line


def _answer(engine: Engine, query: str) -> None:
    """Run a query as a prediction is run: contained and read-only, whoever wrote it."""
    result = engine.run_prediction(query)
    if isinstance(result, QueryFailure):
        print(f"{result.status.value}: {show_text(result.message)}")
        return
    assert isinstance(result, ResultSet)
    print(show_text(", ".join(map(str, result.columns))))
    for row in result.rows[:SHOWN_ROWS]:
        print(show_text(show_row(row)))
    print(f"{result.n:,} rows" + (f", {SHOWN_ROWS} shown" if result.n > SHOWN_ROWS else ""))


def _run_shell(shell: str, database: Database, gold: str, predicted: str | None, folder: Path) -> int:
    """Start the sqlite3 shell, which may neither write nor start programs, with both queries as temporary views."""
    path = (build_database(database, "sqlite", folder) if database.is_recipe else database).path
    assert path is not None, "SQLite has files only"
    views = [make_view("gold", gold), make_view("predicted", predicted or "")]
    first = folder / "views.sql"
    first.write_text("".join(view for view in views if view), encoding="utf-8", errors="replace")
    ready = [name for name, view in zip(("gold", "predicted"), views, strict=True) if view]
    print("ready: " + ", ".join(f"SELECT * FROM {name};" for name in ready))
    return subprocess.run([shell, "-readonly", "-safe", "-init", str(first), str(path)], check=False).returncode


def make_view(name: str, query: str) -> str:
    """Return a line that makes a query a temporary view; empty for one that could be more than a statement.

    The shell obeys what stands at the beginning of a line, and a model may know that: the query is put on one line, and
    is left out where a semicolon or a comment could end it early.
    """
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", query.strip().removesuffix(";")).strip()
    is_safe = re.match(r"(?i)(select|with|values)\b", text) and not re.search(r";|--|/\*", text)
    return f"CREATE TEMP VIEW {name} AS {text};\n" if is_safe else ""
