"""Where a run comes from: the fingerprint of a session, with the digests of its suites and databases."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_sqlbench.case import Database, Suite
from pytest_sqlbench.errors import CaseError
from pytest_sqlbench.policy import POLICY_VERSION, Policy
from pytest_sqlbench.run import Fingerprint, SuiteFacts

if TYPE_CHECKING:
    from pytest_sqlbench.session import SqlbenchSession

_LIBRARIES = {"duckdb": "duckdb", "sparql": "pyoxigraph"}
"""Engine to the package that is the engine."""

_CACHE_KEY = "sqlbench/digests"


def describe_origin(session: SqlbenchSession, suites: Iterable[Suite]) -> Fingerprint:
    """Return the fingerprint of a run over these suites."""
    chosen = sorted(suites, key=lambda suite: suite.name)
    digests = _Digests(session)
    prompts = {suite.name: _ask_fingerprint(session, suite) for suite in chosen}
    parameters = next((asked[0] for asked in prompts.values() if asked[0]), {})
    facts = {suite.name: _describe_suite(session, suite, digests, prompts[suite.name][1]) for suite in chosen}
    digests.keep()
    engines = {case.engine for suite in chosen for case in suite.cases} - {""}
    return Fingerprint(
        plugin=_version("pytest-sqlbench"),
        policy_version=POLICY_VERSION,
        extraction=session.settings.extraction,
        model=session.model_name,
        parameters=parameters,
        samples=session.samples,
        selection=str(session.selection),
        shard=session.selection.shard_name,
        engines={engine: _engine_version(engine) for engine in sorted(engines)},
        suites=facts,
        commit=find_commit(session.config.rootpath),
    )


def _describe_suite(session: SqlbenchSession, suite: Suite, digests: _Digests, prompt: str) -> SuiteFacts:
    cases = session.pick(suite)
    used = sorted({case.database for case in cases} & suite.databases.keys())
    return SuiteFacts(
        metric=suite.metric,
        policy=describe_policy(session.settings.policy or suite.policy),
        threshold=suite.threshold,
        digest=suite.digest,
        prompt=prompt,
        databases={name: digests.of(suite.databases[name]) for name in used},
        cases=len(cases),
    )


def describe_policy(policy: Policy) -> str:
    """Return a policy's name and every field that is not the default's, as in ``bird(rows=set, columns=exact)``."""
    plain = Policy()
    changes = [
        f"{field.name}={getattr(policy, field.name)}"
        for field in fields(Policy)
        if field.name != "name" and getattr(policy, field.name) != getattr(plain, field.name)
    ]
    return f"{policy.name}({', '.join(changes)})" if changes else policy.name


def _ask_fingerprint(session: SqlbenchSession, suite: Suite) -> tuple[dict[str, Any], str]:
    """Return the parameters and the prompt's digest that the predictor uses for the first case of a suite."""
    take = getattr(session.known_predictor, "fingerprint", None)
    cases = session.pick(suite)
    if take is None or not cases:
        return {}, ""
    # a prompt may need a database that cannot be opened; the cases say so themselves
    with suppress(Exception):
        found = take(cases[0])
        given = json.loads(found.parameters) if found.parameters else {}
        plain = {key: value for key, value in given.items() if isinstance(value, (str, int, float, bool))}
        return plain, found.prompt_hash[:16]
    return {}, ""


def _engine_version(engine: str) -> str:
    if engine == "sqlite":
        return sqlite3.sqlite_version
    return _version(_LIBRARIES.get(engine, engine))


def _version(package: str) -> str:
    """Return the version of a package; empty where it is not installed, as an engine of the user's need not be."""
    with suppress(PackageNotFoundError):
        return version(package)
    return ""


class _Digests:
    """Digests of databases. Those of files are kept in pytest's cache, since a benchmark can have gigabytes of them."""

    def __init__(self, session: SqlbenchSession) -> None:
        self._cache = getattr(session.config, "cache", None)
        self._known: dict[str, str] = self._cache.get(_CACHE_KEY, {}) if self._cache is not None else {}
        self._before = dict(self._known)

    def of(self, database: Database) -> str:
        """Return 16 hex digits over the data; a server has none, and its URL says nothing about its rows."""
        if database.url is not None:
            return "server"
        if database.path is not None:
            return self._of_path(database.path)
        from pytest_sqlbench.engines.build import digest_recipe

        try:
            return digest_recipe(database)[:16]
        except CaseError:
            return "unreadable"

    def _of_path(self, path: Path) -> str:
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        parts = [self._of_file(file) for file in files]
        return parts[0] if len(parts) == 1 else hashlib.sha256("".join(parts).encode()).hexdigest()[:16]

    def _of_file(self, path: Path) -> str:
        try:
            stat = path.stat()
            key = f"{path}:{stat.st_size}:{stat.st_mtime_ns}"
            if key not in self._known:
                digest = hashlib.sha256()
                with path.open("rb") as file:
                    while block := file.read(2**20):
                        digest.update(block)
                self._known[key] = digest.hexdigest()[:16]
        except OSError:
            return "unreadable"
        return self._known[key]

    def keep(self) -> None:
        """Write the digests that are new to the cache."""
        if self._cache is not None and self._known != self._before:
            self._cache.set(_CACHE_KEY, self._known)


def find_commit(folder: Path) -> str:
    """Return the commit of a checkout, ``-dirty`` behind it where tracked files differ; empty where there is none."""
    if given := os.environ.get("GITHUB_SHA"):
        return given
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return f"{commit}-dirty" if commit and _git(folder, "status", "--porcelain", "-uno") else commit
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""
