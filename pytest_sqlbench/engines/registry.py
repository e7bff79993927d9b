"""The engines by name, and how one is opened. Each is imported at its first use only."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.gold_cache import SLOW_MS, SLOW_MS_APART, FileGoldCache, GoldCache
from pytest_sqlbench.engines.repeating import CachingEngine, RepeatingEngine
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.result import Engine
from pytest_sqlbench.settings import Settings

ENGINES: dict[str, str] = {
    "duckdb": "pytest_sqlbench.engines.duckdb",
    "mysql": "pytest_sqlbench.engines.mysql",
    "postgres": "pytest_sqlbench.engines.postgres",
    "sparql": "pytest_sqlbench.engines.sparql",
    "sqlalchemy": "pytest_sqlbench.engines.sqlalchemy",
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
    database = place_database(engine, database, settings)
    opened = cast(Engine, import_module(ENGINES[engine]).open_engine(database, settings))
    return _wrapped(opened, engine, database, settings) if hasattr(opened, "allowance") else opened


def place_database(engine: str, database: Database, settings: Settings) -> Database:
    """Return a database as it lies on disk or on a server: a recipe is built, once, and then found again.

    Raises:
        EngineError: It cannot be built.
    """
    if not database.is_recipe:
        return database
    from pytest_sqlbench.engines.build import build_database

    return build_database(database, engine, settings.cache_dir or _temporary_folder())


def _wrapped(engine: Any, name: str, database: Database, settings: Settings) -> Engine:
    """Repeat queries or keep slow golds: both at once would find every gold stable."""
    if settings.repeats_queries > 1:
        return RepeatingEngine(engine, settings.repeats_queries)
    if database.path is None:
        in_memory = GoldCache(None, name)  # what is on a server may have changed before the next run
        return CachingEngine(engine, lambda: in_memory)
    slow_ms = SLOW_MS if name == "sqlite" else SLOW_MS_APART
    return CachingEngine(engine, FileGoldCache(settings.cache_dir, engine.version, database.path, slow_ms))


@cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sqlbench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
