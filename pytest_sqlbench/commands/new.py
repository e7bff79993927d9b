"""``pytest-sqlbench new SOURCE``: a first suite from a database, a table of data or a table of questions."""

from __future__ import annotations

import argparse
import csv
import os
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.suites.table import COLUMNS

HELP = "Write a suite manifest from a SQLite file, a CSV of data or a CSV of questions, with examples to go on from."

SAMPLED_ROWS = 1000
"""Rows of a CSV from which the types of its columns are guessed."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table as far as examples need it."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Name and declared type."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("source", metavar="SOURCE", type=Path, help="A SQLite file, or a .csv or .tsv file.")
    parser.add_argument("--output", metavar="FILE", type=Path, help="The manifest. Default: cases/SOURCE.yaml.")
    parser.add_argument("--database", metavar="FILE", type=Path, help="The SQLite file that the questions are about.")


def run(args: argparse.Namespace) -> int:
    """Write the manifest and say how to go on."""
    source: Path = args.source
    if not source.is_file():
        raise UsageError(f"{source}: there is no such file")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", source.stem).strip("-.")[:60] or "suite"
    output: Path = args.output or Path("cases") / f"{name}.yaml"
    if output.exists():
        raise UsageError(f"{output}: exists already. Name another file with --output.")
    if source.suffix.lower() in (".csv", ".tsv"):
        lines = _from_csv(source, args.database, name, output.parent)
    else:
        lines = _from_database(source, name, output.parent)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"written: {output}")
    print(f"next:    pytest-sqlbench check {output}")
    print(f"         pytest --sqlbench-model=gold {output}")
    return 0


def _from_database(path: Path, name: str, folder: Path) -> list[str]:
    tables = read_tables(path)
    if not tables:
        raise UsageError(f"{path}: the database has no table")
    schema = [f"#   {table.name}({', '.join(column for column, _ in table.columns)})" for table in tables]
    head = [
        "# A suite of your own. Every case is a question and a query that answers it; replace the examples.",
        "sqlbench: 1",
        f"name: {name}",
        f"database: {_relative(path, folder)}",
        "# Its tables:",
        *schema,
    ]
    return [*head, "cases:", *_examples(tables)]


def read_tables(path: Path) -> list[Table]:
    """Return the tables of a SQLite file; raise `UsageError` if it is none."""
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
    try:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY name"
        ).fetchall()
        return [
            Table(name, tuple((row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({_quoted(name)})")))
            for (name,) in names
        ]
    except sqlite3.Error as error:
        raise UsageError(f"{path}: is no SQLite database: {error}") from error
    finally:
        connection.close()


def _from_csv(path: Path, database: Path | None, name: str, folder: Path) -> list[str]:
    header = _header(path)
    found = {key: next((label for label in header if label.casefold() in names), "") for key, names in COLUMNS.items()}
    if found["question"] and found["gold"]:
        return _from_questions(path, database, name, folder, {key: label for key, label in found.items() if label})
    if database is not None:
        wanted = ", ".join((*COLUMNS["question"], *COLUMNS["gold"]))
        raise UsageError(f"{path}: has no columns of questions and golds. Found: {', '.join(header)}. Known: {wanted}.")
    return _from_rows(path, name, folder)


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines, delimiter=_delimiter(path)), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    if not any(label.strip() for label in header):
        raise UsageError(f"{path}: has no header, wanted a line that names the columns")
    return [label.strip() for label in header]


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _from_questions(path: Path, database: Path | None, name: str, folder: Path, found: dict[str, str]) -> list[str]:
    if database is None:
        raise UsageError(f"{path} holds questions; say what they are about: --database=FILE")
    if not read_tables(database):
        raise UsageError(f"{database}: the database has no table")
    mapping = ", ".join(f"{key}: {_scalar(label)}" for key, label in found.items() if key != "database")
    return [
        "# Questions and golds stand in the table beside; a change there needs none here.",
        "sqlbench: 1",
        f"name: {name}",
        "format: table",
        f"data: {_relative(path, folder)}",
        f"columns: {{{mapping}}}",
        f"database: {_relative(database, folder)}",
        "# gate: {fail_under: 80}   # per cent; below it, pytest fails",
    ]


def _from_rows(path: Path, name: str, folder: Path) -> list[str]:
    table = re.sub(r"\W+", "_", path.stem).strip("_").lower() or "data"
    if path.suffix.lower() != ".csv":
        raise UsageError(f"{path}: rows of a database are read from .csv files; convert it, or give --database")
    columns = _guess_types(path)
    made = Table(table, tuple(columns.items()))
    listed = ", ".join(f"{_quoted(column)} {kind}" for column, kind in columns.items())
    return [
        "# A suite of your own over one table. Every case is a question and a query; replace the examples.",
        "sqlbench: 1",
        f"name: {name}",
        "database:",
        "  # Types are guessed from the first rows; keys and NOT NULL are worth adding.",
        "  schema: |",
        f"    CREATE TABLE {_quoted(table)} ({listed});",
        "  rows:",
        f"    {table}: {_relative(path, folder)}",
        "cases:",
        *_examples([made]),
    ]


def _guess_types(path: Path) -> dict[str, str]:
    from sqlite_utils.utils import TypeTracker

    with path.open(encoding="utf-8-sig", newline="") as lines:
        tracker = TypeTracker()
        for _ in tracker.wrap(islice(csv.DictReader(lines), SAMPLED_ROWS)):
            pass
    if not tracker.types:
        raise UsageError(f"{path}: has no rows, from which the types of its columns could be guessed")
    kinds = {"integer": "INTEGER", "float": "REAL", "text": "TEXT"}
    return {column: kinds.get(str(kind), "TEXT") for column, kind in tracker.types.items()}


def _examples(tables: Sequence[Table]) -> list[str]:
    """Return example cases that run: a count, a grouping, a largest value, each where the tables have it."""
    first = tables[0]
    counted = f"SELECT COUNT(*) FROM {_sql(first.name)}"
    lines = [
        "  # One row, one number.",
        *_case(f"count-{first.name}", f"How many rows does {first.name} have?", counted),
    ]
    for table in tables:
        texts = [column for column, kind in table.columns if "CHAR" in kind.upper() or "TEXT" in kind.upper()]
        numbers = [column for column, kind in table.columns if _is_number(kind) and not column.lower().endswith("id")]
        if not texts:
            continue
        text = _sql(texts[0])
        lines += [
            "  # Rows come in any order, unless the gold says ORDER BY at its end.",
            *_case(
                f"rows-per-{texts[0]}",
                f"How many rows of {table.name} are there for each {texts[0]}?",
                f"SELECT {text}, COUNT(*) FROM {_sql(table.name)} GROUP BY {text}",
                "tags: [grouping]",
            ),
        ]
        if numbers:
            lines += [
                "  # Ties are no trouble here: every row with the greatest value is asked for.",
                *_case(
                    f"greatest-{numbers[0]}",
                    f"Which {texts[0]} of {table.name} has the greatest {numbers[0]}?",
                    f"SELECT {text} FROM {_sql(table.name)} WHERE {_sql(numbers[0])} = "
                    f"(SELECT MAX({_sql(numbers[0])}) FROM {_sql(table.name)})",
                    "difficulty: hard",
                ),
            ]
        break
    return lines


def _is_number(kind: str) -> bool:
    return any(word in kind.upper() for word in ("INT", "REAL", "FLOA", "DOUB", "NUM", "DEC"))


def _case(case_id: str, question: str, gold: str, more: str = "") -> list[str]:
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", case_id).strip("-").lower()[:60]
    return [
        f"  - id: {plain}",
        f"    question: {_scalar(question)}",
        f"    gold: {_scalar(gold)}",
        *([f"    {more}"] if more else []),
    ]


def _sql(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) and name.upper() not in _RESERVED else _quoted(name)


_RESERVED = frozenset("ORDER GROUP SELECT FROM WHERE TABLE INDEX VALUES LIMIT UNION JOIN ON BY AS TO IN IS NOT".split())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar: plain where that is safe, else single-quoted."""
    is_plain = re.fullmatch(r"[A-Za-z]([\w ?.()*=/-]*[\w?.)/-])?", text) is not None
    if is_plain and text.lower() not in ("yes", "no", "true", "false", "null", "on", "off", "y", "n"):
        return text
    return "'" + text.replace("'", "''") + "'"


def _relative(path: Path, folder: Path) -> str:
    return _scalar(Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix())
