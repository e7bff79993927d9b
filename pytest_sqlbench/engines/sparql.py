"""SPARQL on a Turtle or N-Triples file: gold and predictions each in a sandbox of their own, no network."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections import defaultdict
from pathlib import Path

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import Budget
from pytest_sqlbench.engines.sandboxed import SandboxedEngine
from pytest_sqlbench.engines.sparql_prepare import prepare_query
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

FILES = (".nt", ".ttl")
"""Suffixes of the files that are read: N-Triples and Turtle."""

_ABORTED = "signal 6"
"""How the engine ends where it gets no more memory."""


class SparqlEngine(SandboxedEngine):
    """Answers SELECT and ASK queries over one graph. `Settings.runs_in_process` changes nothing here.

    Nothing but the end of the process stops a query at its deadline, or keeps it from calling a remote service. A typed
    literal comes back as the Python value of its type, an IRI as text, an unbound variable as None.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__("sparql", path, settings, {}, kind="graph")

    @property
    def version(self) -> str:
        """As in ``pyoxigraph 0.5.13``."""
        return f"pyoxigraph {importlib.metadata.version('pyoxigraph')}"

    def describe(self) -> str:
        """Return the classes of the graph, each with its properties and what they lead to, as Turtle comments do."""
        shape: defaultdict[str, list[str]] = defaultdict(list)
        for kind, name, target in self._read_gold(_SHAPE):
            shape[f"<{kind}>"].append(f"    <{name}> <{target}>")
        return "\n\n".join("\n".join([kind, *lines]) for kind, lines in shape.items())

    def close(self) -> None:
        """Nothing is held here; the sandboxes stay for other graphs."""

    def _run(self, role: str, query: str, budget: Budget) -> ResultSet | QueryFailure:
        prepared = prepare_query(query)
        if isinstance(prepared, QueryFailure):
            return prepared
        if not prepared.strip():
            return QueryFailure(Status.NO_RESULT_SET, "the text holds no query")
        result = super()._run(role, prepared, budget)
        if isinstance(result, QueryFailure) and result.status is Status.CRASH and _ABORTED in result.message:
            return QueryFailure(Status.MEMORY, "out of memory", result.elapsed_ms)
        return result


_SHAPE = """
SELECT DISTINCT ?class ?property ?target WHERE {
  ?s a ?class ; ?property ?o
  OPTIONAL { ?o a ?kind }
  BIND(IF(isLiteral(?o), DATATYPE(?o), COALESCE(?kind, rdfs:Resource)) AS ?target)
  FILTER(?property != rdf:type)
} ORDER BY ?class ?property ?target
"""


def open_engine(database: Database, settings: Settings) -> SparqlEngine:
    """Open the graph of a database.

    Raises:
        EngineError: pyoxigraph is not installed, or there is no such file, or it is of another kind.
    """
    if importlib.util.find_spec("pyoxigraph") is None:
        raise EngineError("the engine sparql needs pyoxigraph: pip install 'pytest-sqlbench[sparql]'")
    if database.path is None:
        raise EngineError(f"database {database.name!r} has no file")
    if database.path.suffix not in FILES:
        raise EngineError(f"{database.path}: a graph is read from {' or '.join(FILES)}, not {database.path.suffix!r}")
    return SparqlEngine(database.path, settings)
