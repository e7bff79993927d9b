"""The engines by name, and how one is opened. Each is imported at its first use only."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

from pytest_sqlbench.case import Database
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.result import Engine
from pytest_sqlbench.settings import Settings

ENGINES: dict[str, str] = {
    "duckdb": "pytest_sqlbench.engines.duckdb",
    "mysql": "pytest_sqlbench.engines.mysql",
    "postgres": "pytest_sqlbench.engines.postgres",
    "sparql": "pytest_sqlbench.engines.sparql",
    "sqlite": "pytest_sqlbench.engines.sqlite",
}
"""Engine name to the module that has ``open_engine(database, settings)``."""


def open_engine(engine: str, database: Database, settings: Settings) -> Engine:
    """Open an engine over a database, which is built first if it is a recipe.

    Raises:
        UsageError: There is no engine of that name.
        EngineError: The database cannot be built or opened, or the engine's library is not installed.
    """
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}. Known: {', '.join(sorted(ENGINES))}.")
    if database.is_recipe:
        from pytest_sqlbench.engines.build import build_database

        database = build_database(database, engine, settings.cache_dir or _temporary_folder())
    return cast(Engine, import_module(ENGINES[engine]).open_engine(database, settings))


@cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sqlbench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
