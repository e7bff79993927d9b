"""The library face, for notebooks, agents and scripts: the same judging as the plugin's, without pytest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.evaluation.registry import open_judge
from pytest_sqlbench.policy import Policy, parse_policy
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.result import Limits
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite
from pytest_sqlbench.verdict import Verdict

ENGINES_BY_SUFFIX = {".duckdb": "duckdb", ".ttl": "sparql", ".nt": "sparql"}
"""Which engine opens a file; SQLite opens every other."""


def evaluate_sql(
    gold: str | Sequence[str],
    predicted: str,
    database: str | Path,
    *,
    policy: str | Policy = "default",
    timeout_s: float = 10.0,
    settings: Settings | None = None,
) -> Verdict:
    """Judge one predicted query against its gold, both run on one database.

    Args:
        gold: A query, or a list of acceptable ones.
        predicted: SQL, or a model's whole reply. Untrusted: it runs in the sandbox, read-only, within limits.
        database: Path of a SQLite file (``.duckdb``: DuckDB; ``.ttl`` and ``.nt``: a graph and SPARQL).
        policy: A preset's name, or a `Policy`.
        timeout_s: Deadline of the predicted query.
        settings: Everything else; its policy and timeout are overridden by the arguments.

    Returns:
        The verdict: ``outcome``, ``reason``, ``detail``, and both results wherever the two queries ran. Bad SQL is
        a verdict too, never an exception.

    Raises:
        UsageError: There is no gold, no such file, or no such policy.
    """
    queries = (gold,) if isinstance(gold, str) else tuple(gold)
    if not queries or not all(isinstance(query, str) and query.strip() for query in queries):
        raise UsageError(f"gold is {gold!r}, wanted a query or a list of queries")
    path = Path(database)
    if not path.is_file():
        raise UsageError(f"no such database file: {str(database)!r}")
    chosen = policy if isinstance(policy, Policy) else parse_policy(policy)
    base = settings or Settings()
    limits: Limits = replace(base.limits, timeout_s=timeout_s)
    engine = ENGINES_BY_SUFFIX.get(path.suffix, "sqlite")
    case = Case("library", "query", "", queries, dialect=engine, engine=engine, database="main")
    suite = Suite("library", path, (case,), {"main": Database("main", path=path.absolute())}, policy=chosen)
    judge = open_judge(suite, replace(base, limits=limits, policy=chosen, keeps_results=True))
    try:
        return judge.judge(case, Prediction(reply=predicted))
    finally:
        judge.close()


__all__ = ["evaluate_sql", "load_suite"]
