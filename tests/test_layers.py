"""The house has four layers and imports run downward only. This table is the rule; change it in its own commit."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pytest_sqlbench"

WORDS = {"errors", "result", "policy", "case", "prediction", "verdict", "settings", "logical_form"}
JUDGEMENT = {"scoring", "run", "gate", "significance", "comparison", "shards", "triage", "report"}
EDGES = {"suites", "engines", "predictors", "store", "baseline", "fetch", "results_database", "results_schema"}
JOINS = {"evaluation", "library"}

ALLOWED: dict[str, set[str]] = {
    **dict.fromkeys(WORDS, WORDS),
    **dict.fromkeys(JUDGEMENT, WORDS | JUDGEMENT),
    **dict.fromkeys(EDGES, WORDS | EDGES),
    "store": WORDS | EDGES | {"run"},
    "baseline": WORDS | EDGES | {"run"},
    "results_database": WORDS | EDGES | {"run", "triage"},
    **dict.fromkeys(JOINS, WORDS | JUDGEMENT | EDGES | JOINS),
}
"""Room (top-level module or folder) to the rooms it may import; a room that is not here is of the pytest layer."""

ONLY_IN: dict[str, set[str]] = {
    "sqlglot": {
        "scoring/sqltext.py",
        "scoring/facts.py",
        "scoring/trees.py",
        "scoring/sql_doubts.py",
        "scoring/witness/constants.py",
    },
    "sqlite_utils": {"engines/build.py", "results_database.py", "commands/new.py"},
}
"""Library to the files that may import it."""

OPTIONAL = {"duckdb", "pyoxigraph", "httpx", "openai", "llm", "jinja2", "sqlalchemy", "psycopg", "pymysql", "pooch"}


def _files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def _imports(path: Path) -> list[tuple[str, bool]]:
    """Return (module, at_top_level) for every import of a file, type-checking blocks left out."""
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.Import):
                found.extend((alias.name, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                found.append((child.module, top))
            visit(child, top and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    visit(ast.parse(path.read_text(encoding="utf-8")), True)
    return found


@pytest.mark.parametrize("path", _files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_downward(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    room = relative.parts[0].removesuffix(".py")
    for module, at_top in _imports(path):
        head = module.split(".")[0]
        if head == "pytest_sqlbench" and room in ALLOWED:
            other = _room(module)
            assert other == room or other in ALLOWED[room], f"{relative} may not import {module}"
        if head in ("pytest", "_pytest", "xdist") and room in ALLOWED:
            raise AssertionError(f"{relative} may not import {module}: pytest belongs to the last layer")
        if head in ONLY_IN:
            assert relative.as_posix() in ONLY_IN[head], f"{relative} may not import {head}"
        if head in OPTIONAL:
            assert not at_top, f"{relative} imports the optional {head} at import time"
