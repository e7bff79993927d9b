"""One example of a benchmark and the suite it belongs to: frozen records, read once from files by `suites/`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_sqlbench.policy import Policy


class _Nothing(Mapping[str, Any]):
    """An empty mapping that may be a default: it cannot change, and unlike MappingProxyType it has a hash."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, key: object) -> bool:
        return False  # a Mapping would raise and catch an error for it, several times a case

    def __hash__(self) -> int:
        return 0


NOTHING: Mapping[str, Any] = _Nothing()


@dataclass(frozen=True, slots=True)
class Database:
    """Where the data of a case are: a file, a server, or a recipe from which an edge builds a file once."""

    name: str
    path: Path | None = None
    """A database file that exists (SQLite, DuckDB, Turtle, N-Triples)."""
    url: str | None = None
    """A server, as an SQLAlchemy URL; credentials come from the environment."""
    schema: str = ""
    """Recipe: DDL text."""
    rows: tuple[tuple[str, Path], ...] = ()
    """Recipe: table and the CSV, JSON or JSONL file with its rows, in load order."""
    inline_rows: Mapping[str, tuple[Mapping[str, Any], ...]] = NOTHING
    """Recipe: table and its rows as written in the manifest."""

    @property
    def is_recipe(self) -> bool:
        """True if the database has to be built before it can be opened."""
        return self.path is None and self.url is None


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its gold. `suite` and `id` name it for ever; `line` says where it was written."""

    suite: str
    id: str
    """ASCII, unique in its suite, at most 60 characters."""
    question: str
    gold: tuple[str, ...]
    """Acceptable queries, at least one; a prediction is right if it matches any of them."""
    dialect: str = "sqlite"
    """The grammar of gold and prediction; ``sparql`` for a graph."""
    engine: str = "sqlite"
    """The program that answers; empty for a metric that runs nothing."""
    database: str = ""
    """A key of `Suite.databases`; empty where none is needed."""
    evidence: str = ""
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    threshold: float | None = None
    """The score at which this case passes; None: the suite's."""
    policy: Policy | None = None
    """None: the suite's."""
    line: int = 0
    """1-based line in the file it came from; 0 where unknown."""
    file: str = ""
    """The data file that it came from, an absolute path; empty: the manifest."""
    facts: Mapping[str, Any] = NOTHING
    """What only one format knows, such as a logical form."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A benchmark: its cases and how they are judged."""

    name: str
    path: Path
    """The manifest."""
    cases: tuple[Case, ...]
    databases: Mapping[str, Database] = NOTHING
    metric: str = "execution_accuracy"
    threshold: float = 1.0
    """A case passes at ``score >= threshold``."""
    policy: Policy = field(default_factory=Policy)
    fail_under: float | None = None
    """Gate: the least accuracy, 0 to 1."""
    tags: tuple[str, ...] = ()
    prompt: str = ""
    """Path of a prompt template, relative to the manifest; empty: the default of the dialect."""
    settings: Mapping[str, Any] = NOTHING
    """What only one format or metric knows, such as WikiSQL's mode."""
    digest: str = ""
    """sha256 over the manifest and the case files, for the fingerprint of a run."""

    def find_case(self, case_id: str) -> Case:
        """Return the case with this id; raise `KeyError` if there is none."""
        for case in self.cases:
            if case.id == case_id:
                return case
        raise KeyError(case_id)


def digest_case(case: Case) -> str:
    """Return 8 hex digits over what a prediction and its verdict depend on: question, golds, database, threshold.

    Two runs compare a case only where these agree. Tags and place may change freely.
    """
    parts = (case.question, case.evidence, *case.gold, case.dialect, case.engine, case.database, case.threshold)
    text = "\x1f".join(map(str, (*parts, case.policy)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
