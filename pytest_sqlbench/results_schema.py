"""Tables and views of the results database, as they are first made. A change to them is a migration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """One table; columns keep their order."""

    columns: Mapping[str, type]
    key: str | tuple[str, ...] = "id"
    foreign_keys: tuple[tuple[str, str, str], ...] = ()
    """Column, other table, its column."""
    required: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()


_VERDICT = (("verdict_id", "verdicts", "id"),)

TABLES: dict[str, Table] = {
    "runs": Table(
        {
            "id": int, "started_at": str, "finished_at": str, "status": str, "model": str, "commit": str,
            "plugin": str, "policy_version": int, "extraction": str, "samples": int, "selection": str, "shard": str,
            "baseline": str, "parameters": str, "engines": str, "suites": str,
        },
        required=("started_at", "status"),
    ),
    "cases": Table(
        {
            "id": int, "suite": str, "name": str, "digest": str, "question": str, "gold": str, "difficulty": str,
            "database": str, "written_at": str,
        },
        required=("suite", "name"),
        unique=(("suite", "name", "digest"),),
    ),
    "tags": Table(
        {"case_id": int, "tag": str},
        key=("case_id", "tag"),
        foreign_keys=(("case_id", "cases", "id"),),
    ),
    "verdicts": Table(
        {
            "id": int, "run_id": int, "case_id": int, "sample": int, "outcome": str, "score": float, "metric": str,
            "reason": str, "detail": str, "cause": str, "causes": str, "hint": str, "policy": str, "sql": str,
            "reply": str, "extraction": str, "flags": str, "near": str, "missing_n": int, "extra_n": int,
            "gold_result": str, "predicted_result": str,
        },
        foreign_keys=(("run_id", "runs", "id"), ("case_id", "cases", "id")),
        required=("run_id", "case_id", "outcome"),
        unique=(("run_id", "case_id", "sample"),),
        indexes=(("case_id",),),
    ),
    "scores": Table(
        {"verdict_id": int, "name": str, "value": float}, key=("verdict_id", "name"), foreign_keys=_VERDICT
    ),
    "components": Table(
        {"verdict_id": int, "name": str, "f1": float, "matched": str, "missing": str, "extra": str},
        key=("verdict_id", "name"),
        foreign_keys=_VERDICT,
    ),
    "timings": Table(
        {"verdict_id": int, "gold_ms": float, "predicted_ms": float, "model_ms": float},
        key="verdict_id",
        foreign_keys=_VERDICT,
    ),
    "calls": Table(
        {"verdict_id": int, "tokens": int, "cost_usd": float, "latency_ms": float},
        key="verdict_id",
        foreign_keys=_VERDICT,
    ),
}  # fmt: skip

VIEWS: dict[str, str] = {
    "case_results": """
        SELECT v.run_id, v.case_id, c.suite, c.name, count(*) AS samples, sum(v.outcome = 'correct') AS right,
            2 * sum(v.outcome = 'correct') > count(*) AS is_right,
            max(v.outcome IN ('model_error', 'gold_error')) AS is_trouble,
            min(v.outcome <> 'unscorable') AS is_scorable,
            CASE WHEN max(v.outcome IN ('model_error', 'gold_error')) THEN 'trouble'
                WHEN 2 * sum(v.outcome = 'correct') > count(*) THEN 'correct' ELSE max(v.outcome) END AS outcome
        FROM verdicts v JOIN cases c ON c.id = v.case_id GROUP BY v.run_id, v.case_id""",
    "accuracy_by_suite": """
        SELECT run_id, suite, count(*) AS n, avg(1.0 * right / samples) AS accuracy, sum(is_trouble) AS trouble
        FROM case_results WHERE is_scorable GROUP BY run_id, suite""",
    "accuracy_by_tag": """
        SELECT r.run_id, t.tag, count(*) AS n, avg(1.0 * r.right / r.samples) AS accuracy
        FROM case_results r JOIN tags t ON t.case_id = r.case_id WHERE r.is_scorable GROUP BY r.run_id, t.tag""",
    "changes": """
        SELECT a.run_id AS before_run, b.run_id AS after_run, b.suite, b.name, a.outcome AS before,
            b.outcome AS after, CASE WHEN a.is_right THEN 'regressed' ELSE 'fixed' END AS change, b.case_id
        FROM case_results a JOIN case_results b ON b.case_id = a.case_id AND b.run_id > a.run_id
        WHERE a.is_right <> b.is_right AND NOT a.is_trouble AND NOT b.is_trouble
            AND a.is_scorable AND b.is_scorable""",
    "regressions": "SELECT * FROM changes WHERE change = 'regressed'",
    "failures_by_cause": """
        SELECT v.run_id, c.suite, v.cause, count(*) AS n FROM verdicts v JOIN cases c ON c.id = v.case_id
        WHERE v.outcome = 'wrong' GROUP BY v.run_id, c.suite, v.cause""",
}
