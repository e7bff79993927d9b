"""Runs the SQL of predictions that has no logical form, in the guarded engine, over the table's real headers."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from pytest_sqlbench.case import Database, Suite
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.evaluation.wikisql_tables import WikiSqlTables
from pytest_sqlbench.logical_form import WebTable
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet
from pytest_sqlbench.scoring.wikisql.statement import Mode
from pytest_sqlbench.scoring.wikisql.wrapping import wrap_query
from pytest_sqlbench.settings import Settings


class WikiSqlQueries:
    """The guarded engine over one split, opened when the first prediction needs it."""

    def __init__(self, suite: Suite, settings: Settings, tables: WikiSqlTables) -> None:
        self._suite = suite
        self._settings = settings
        self._tables = tables
        self._engine: Engine | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def run(self, text: str, table: WebTable, mode: Mode) -> ResultSet | QueryFailure:
        """Run an untrusted query that may call the table and its columns by their real names."""
        comma_columns = self._tables.comma_columns(table) if mode == "strict" else ()
        if self._engine is None:
            self._engine = open_engine("sqlite", Database("main", path=self._database()), self._settings)
        return self._engine.run_prediction(wrap_query(text, table, mode, comma_columns))

    def close(self) -> None:
        """Close the engine and remove what was built. Closing twice is allowed."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _database(self) -> Path:
        """Return the published database, or build it from the tables file: into the cache, or for this worker."""
        if self._suite.databases:
            path = self._suite.databases["main"].path
            assert path is not None
            return path
        cache = self._settings.cache_dir
        if cache is None:
            self._folder = tempfile.TemporaryDirectory(prefix="sqlbench-")
            cache = Path(self._folder.name)
        source: Path = self._suite.settings["tables"]
        stamp = source.stat()
        key = f"{source.absolute()}\0{stamp.st_size}\0{stamp.st_mtime_ns}"
        target = cache / "databases" / f"wikisql-{hashlib.sha256(key.encode()).hexdigest()[:20]}.sqlite"
        if not target.is_file():
            self._build(target)
        return target

    def _build(self, target: Path) -> None:
        tables = dict.fromkeys(case.facts["table"] for case in self._suite.cases)
        partial = target.with_name(f".{target.stem}.{os.getpid()}.partial")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(partial, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = OFF")
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("BEGIN")
                for table in tables:
                    self._tables.copy_table(table, connection)
                connection.execute("COMMIT")
            os.replace(partial, target)
        except (OSError, sqlite3.Error) as error:
            raise EngineError(f"{target}: cannot be built: {error}") from error
        finally:
            partial.unlink(missing_ok=True)
