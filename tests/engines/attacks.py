"""Hostile statements and how each has to end: the reader of the corpora and the check of one statement."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pytest_sqlbench.result import Engine, Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

LIMITS = Limits(timeout_s=1.0)
SETTINGS = Settings(limits=LIMITS)
WITHIN_S = 3.0

STOPPED = {Status.TIMEOUT, Status.MEMORY, Status.ROWS, Status.BYTES, Status.CRASH}
FAILED = {
    *(Status.SYNTAX, Status.NO_SUCH_TABLE, Status.NO_SUCH_COLUMN, Status.NO_SUCH_FUNCTION),
    *(Status.ERROR, Status.DENIED, Status.NO_RESULT_SET),
}
OK = "ok"
ENDS: dict[str, set[object]] = {
    "denied": {*FAILED},
    "denied_or_error": {*FAILED},
    "error": {*FAILED, *STOPPED},
    "timeout": {OK, *STOPPED, *FAILED},  # an engine may be clever enough to answer in time
    "capped": {*STOPPED, *FAILED},
    "flag": {OK},
    "ok": {OK},
    # what may be answered, as long as nothing is changed, left behind or slow
    "policy": {OK, *FAILED},
    "error_or_ok": {OK, *FAILED, *STOPPED},
    "error_or_safe": {OK, *FAILED},
    "error_or_timeout": {OK, *FAILED, *STOPPED},
    "timeout_or_error": {OK, *FAILED, *STOPPED},
    "denied_or_rolled_back": {OK, *FAILED, *STOPPED},
    "denied_or_released": {OK, *FAILED, *STOPPED},
    "denied_or_reset": {OK, *FAILED, *STOPPED},
}
"""The corpora's word for the end of a statement, to the ends that it allows."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile statement."""

    id: str
    sql: str
    expect: str
    note: str = ""


def read_attacks(path: Path, folder: Path) -> list[Attack]:
    """Read a corpus; ``{DIR}`` and ``{TMP}`` in a statement become the folder."""
    attacks = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        sql = record["sql"] if "sql" in record else evaluate(record["sql_gen"])
        for place in ("{DIR}", "{TMP}"):
            sql = sql.replace(place, str(folder))
        attacks.append(Attack(record["id"], sql, record["expect"], record.get("note", "")))
    return attacks


def evaluate(expression: str) -> str:
    """Evaluate the Python expression of a long statement: only texts, numbers and a few builtins."""
    code = compile(ast.parse(expression, mode="eval"), "corpus", "eval")
    names = {"range": range, "str": str, "map": map, "len": len}
    return str(eval(code, {"__builtins__": {}, **names}))


def outcome(result: ResultSet | QueryFailure) -> object:
    """Return the status of a failure, or ``ok``."""
    return result.status if isinstance(result, QueryFailure) else OK


def check(engine: Engine, attack: Attack) -> ResultSet | QueryFailure:
    """Run one statement and assert that it ends as it has to."""
    result = engine.run_prediction(attack.sql)
    end = outcome(result)
    said = result.message if isinstance(result, QueryFailure) else result.rows[:2]
    assert end in ENDS[attack.expect], f"{attack.id} ended as {end!r} ({said}), wanted {attack.expect}"
    assert result.elapsed_ms < WITHIN_S * 1000, f"{attack.id} took {result.elapsed_ms:.0f} ms"
    if attack.expect == "flag":
        assert isinstance(result, ResultSet)
        assert any(note.startswith("nondeterministic") for note in result.warnings), f"{attack.id} is not flagged"
    return result


def digest(folder: Path) -> dict[str, str]:
    """Return name and sha256 of every file in a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def peak_memory(pid: int) -> int:
    """Return the most resident memory that a process has had, in bytes; 0 where the platform does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
