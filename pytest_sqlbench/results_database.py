"""The results database: runs, cases and verdicts in one SQLite file that grows, with views for the usual questions.

One process writes to it, in batches as verdicts come, so that a killed run leaves what it had.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import sqlite_utils

from pytest_sqlbench.case import Case
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.results_schema import TABLES, VIEWS
from pytest_sqlbench.run import Key, Run
from pytest_sqlbench.triage import Diagnosis
from pytest_sqlbench.verdict import Verdict, to_record

BATCH, BATCH_S = 100, 2.0
"""Verdicts, or seconds, after which what came in is committed."""
SHOWN_RUNS = 8
"""Earlier runs in the history of a case."""


class ResultsDatabase:
    """One file, open for one run."""

    def __init__(self, path: Path, model: str = "") -> None:
        """Open or make the file and bring it to this version's tables.

        Raises:
            UsageError: It cannot be written, is another program's, or was made by a newer version.
        """
        self.path = path
        self._model = model
        self._waiting: list[Verdict] = []
        self._committed_s = time.monotonic()
        self._case_ids: dict[tuple[str, str, str], int] = {}
        self._verdict_ids: dict[tuple[str, str, int], int] = {}
        self._run_id: int | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _open(path)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: cannot be used as a results database ({error})") from error

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Take verdicts of the run; they are on disk soon after."""
        self._waiting.extend(verdicts)
        if len(self._waiting) >= BATCH or time.monotonic() - self._committed_s >= BATCH_S:
            self._commit()

    def read_history(self) -> dict[Key, list[str]]:
        """Return what each case came to in the runs before this one, oldest first."""
        self._commit()
        found: defaultdict[Key, list[str]] = defaultdict(list)
        runs = "SELECT id FROM runs WHERE id < ? ORDER BY id DESC LIMIT ?"
        query = f"SELECT suite, name, run_id, outcome FROM case_results WHERE run_id IN ({runs}) ORDER BY run_id"
        for suite, name, run_id, outcome in self._connection.execute(query, (self._run_id or 0, SHOWN_RUNS)):
            found[suite, name].append(f"run {run_id} {outcome.replace('_', ' ')}")
        return dict(found)

    def finish(
        self,
        run: Run,
        diagnoses: Mapping[int, Diagnosis],
        cases: Mapping[Key, Case],
        baseline: str = "",
        *,
        is_whole: bool = True,
    ) -> None:
        """Write what is known of a run at its end: where it came from, causes, and databases of the cases."""
        self._commit()
        with self._connection as connection:
            if self._run_id is None:
                self._run_id = self._begin()
            _update_run(connection, self._run_id, run, baseline, "finished" if is_whole else "interrupted")
            for place, diagnosis in diagnoses.items():
                verdict = run.verdicts[place]
                row_id = self._verdict_ids.get((verdict.suite, verdict.case, verdict.sample))
                causes = json.dumps([cause.value for cause in diagnosis.causes])
                values = (diagnosis.primary.value, causes, _clean(diagnosis.hint), row_id)
                connection.execute("UPDATE verdicts SET cause = ?, causes = ?, hint = ? WHERE id = ?", values)
            for (suite, name, _), case_id in self._case_ids.items():
                case = cases.get((suite, name))
                if case is not None:
                    connection.execute('UPDATE cases SET "database" = ? WHERE id = ?', (case.database, case_id))

    def close(self) -> None:
        """Commit what is left and let go of the file."""
        self._commit()
        self._connection.close()

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._committed_s = time.monotonic()
        if not waiting:
            return
        with self._connection:
            if self._run_id is None:
                self._run_id = self._begin()
            for verdict in waiting:
                self._insert(self._run_id, verdict)

    def _begin(self) -> int:
        row = {"started_at": _now(), "status": "running", "model": _clean(self._model)}
        return _insert_row(self._connection, "runs", row)

    def _insert(self, run_id: int, verdict: Verdict) -> None:
        key = (verdict.suite, verdict.case, verdict.sample)
        if key in self._verdict_ids:  # run again by another plugin: the last one counts
            for table, column in (*_OF_VERDICT, ("verdicts", "id")):
                self._connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (self._verdict_ids[key],))
        row = {"run_id": run_id, "case_id": self._find_case(verdict), **_verdict_row(verdict)}
        row_id = self._verdict_ids[key] = _insert_row(self._connection, "verdicts", row)
        for name, value in sorted(verdict.scores.items()):
            _insert_row(self._connection, "scores", {"verdict_id": row_id, "name": name, "value": value})
        for part in verdict.facts.get("components", ()):
            lists = {name: json.dumps(part[name]) for name in ("matched", "missing", "extra")}
            f1 = verdict.scores.get(f"f1_{part['name']}")
            _insert_row(self._connection, "components", {"verdict_id": row_id, "name": part["name"], "f1": f1, **lists})
        times = {"gold_ms": verdict.gold_ms, "predicted_ms": verdict.predicted_ms, "model_ms": verdict.model_ms}
        _insert_row(self._connection, "timings", {"verdict_id": row_id, **times})
        if verdict.tokens is not None or verdict.cost_usd is not None:
            cost = {"tokens": verdict.tokens, "cost_usd": verdict.cost_usd, "latency_ms": verdict.model_ms}
            _insert_row(self._connection, "calls", {"verdict_id": row_id, **cost})

    def _find_case(self, verdict: Verdict) -> int:
        """Return the row of a case; one whose question or gold was edited is another."""
        key = (verdict.suite, verdict.case, verdict.digest)
        if key in self._case_ids:
            return self._case_ids[key]
        connection = self._connection
        texts = {"question": _clean(verdict.question), "gold": _clean(verdict.gold), "written_at": verdict.where}
        row = {"difficulty": verdict.difficulty, **texts}
        found = connection.execute("SELECT id FROM cases WHERE suite = ? AND name = ? AND digest = ?", key).fetchone()
        if found is None:
            names = dict(zip(("suite", "name", "digest"), key, strict=True))
            case_id = _insert_row(connection, "cases", {**names, **row})
        else:
            case_id = int(found[0])
            sets = ", ".join(f"{name} = ?" for name in row)
            connection.execute(f"UPDATE cases SET {sets} WHERE id = ?", (*row.values(), case_id))
            connection.execute("DELETE FROM tags WHERE case_id = ?", (case_id,))
        for tag in sorted({verdict.difficulty, *verdict.tags} - {""}):
            _insert_row(connection, "tags", {"case_id": case_id, "tag": _clean(tag)})
        self._case_ids[key] = case_id
        return case_id


_OF_VERDICT = tuple((table, "verdict_id") for table in ("scores", "components", "timings", "calls"))


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open a results database to read it.

    Raises:
        UsageError: There is none at this path.
    """
    if not path.is_file():
        raise UsageError(f"no results database at {path}. Write one with --sqlbench-db=PATH.")
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _verdict_row(verdict: Verdict) -> dict[str, Any]:
    record = to_record(verdict)
    match = record.get("match") or {}
    texts = ("outcome", "metric", "reason", "detail", "policy", "sql", "reply")
    row: dict[str, Any] = {name: _clean(record.get(name)) for name in texts}
    row.update(sample=verdict.sample, score=verdict.score, metric=verdict.metric)
    row.update(missing_n=match.get("missing_n"), extra_n=match.get("extra_n"))
    for name in ("flags", "near", "extraction"):
        row[name] = json.dumps(record.get(name, []))
    for name in ("gold_result", "predicted_result"):
        row[name] = json.dumps(record[name], default=str) if name in record else None
    return row


def _update_run(connection: sqlite3.Connection, run_id: int, run: Run, baseline: str, status: str) -> None:
    origin = run.fingerprint
    names = ("plugin", "policy_version", "extraction", "model", "samples", "selection", "shard", "commit")
    row: dict[str, Any] = {name: getattr(origin, name) for name in names}
    row["parameters"] = json.dumps(dict(origin.parameters), default=str)
    row["engines"] = json.dumps(dict(origin.engines))
    row["suites"] = json.dumps({name: asdict(facts) for name, facts in origin.suites.items()}, default=str)
    row.update(finished_at=_now(), status=status, baseline=baseline)
    sets = ", ".join(f'"{name}" = ?' for name in row)
    connection.execute(f"UPDATE runs SET {sets} WHERE id = ?", (*map(_clean, row.values()), run_id))


def _insert_row(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    cursor = connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
    return int(cursor.lastrowid or 0)


def _clean(value: Any) -> Any:
    """A lone surrogate of a reply is no UTF-8."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


# --- versions


def _create(database: sqlite_utils.Database) -> None:
    for name, table in TABLES.items():
        database.table(name).create(
            dict(table.columns),
            pk=table.key,
            foreign_keys=table.foreign_keys,
            not_null=set(table.required) or None,
        )
        for columns in table.unique:
            database.table(name).create_index(columns, unique=True)
        for columns in table.indexes:
            database.table(name).create_index(columns)
    for name, query in VIEWS.items():
        database.create_view(name, query)


MIGRATIONS: Sequence[tuple[str, Callable[[sqlite_utils.Database], None]]] = (("first tables and views", _create),)
"""What brings a file from one version to the next, in order. Entries are added at the end and never changed."""


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0)
    try:
        _migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and "migrations" not in tables:
        raise UsageError(f"{path}: is another program's database. Name a file of its own for results.")
    done = connection.execute("SELECT max(number) FROM migrations").fetchone()[0] if tables else 0
    if done > len(MIGRATIONS):
        raise UsageError(f"{path}: was written by a newer pytest-sqlbench (version {done}, known: {len(MIGRATIONS)})")
    if done == len(MIGRATIONS):
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT, done_at TEXT)"
        )
        known = {number for (number,) in connection.execute("SELECT number FROM migrations")}
        database = sqlite_utils.Database(connection, execute_plugins=False)
        for number, (name, change) in enumerate(MIGRATIONS, 1):
            if number not in known:
                change(database)
                connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, _now()))


def read_rows(path: Path, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a query over a results database."""
    with closing(open_readonly(path)) as connection:
        return [tuple(row) for row in connection.execute(query, parameters)]
