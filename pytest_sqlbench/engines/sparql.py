"""SPARQL on a Turtle or N-Triples file: gold and predictions each in a sandbox of their own, no network."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections import defaultdict
from pathlib import Path

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import GOLD_FACTOR, Allowance
from pytest_sqlbench.engines.sandbox import read_answer, shared_sandbox
from pytest_sqlbench.engines.sparql_prepare import prepare_query
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

FILES = (".nt", ".ttl")
"""Suffixes of the files that are read: N-Triples and Turtle."""

_ABORTED = "signal 6"
"""How the engine ends where it gets no more memory."""


class SparqlEngine:
    """Answers SELECT and ASK queries over one graph. The file may change between two queries, not while one runs.

    A typed literal comes back as the Python value of its type, an IRI as text, an unbound variable as None.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = str(path)
        self._settings = settings
        self.allowance = Allowance(settings.limits.rows)
        self._stamp()

    @property
    def version(self) -> str:
        """As in ``pyoxigraph 0.5.13``."""
        return f"pyoxigraph {importlib.metadata.version('pyoxigraph')}"

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite, in a sandbox that no prediction has seen."""
        limits = self._settings.limits
        allowed = (self._settings.gold_timeout_s, limits.rows * GOLD_FACTOR, limits.result_bytes * GOLD_FACTOR)
        result = self._run("gold", query, allowed)
        if isinstance(result, ResultSet):
            self.allowance.hear_gold(len(result.rows))
        return result

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query in the sandbox; `Settings.runs_in_process` changes nothing here.

        Nothing but the end of the process stops a query at its deadline, or keeps it from calling a remote service. It
        may always return as many rows as the gold that ran just before, also above the limit.
        """
        limits = self._settings.limits
        return self._run("", query, (limits.timeout_s, self.allowance.rows(), limits.result_bytes))

    def describe(self) -> str:
        """Return the classes of the graph, each with its properties and what they lead to, as Turtle comments do."""
        result = self.run_gold(_SHAPE)
        if isinstance(result, QueryFailure):
            raise EngineError(f"{self._path}: {result.message}")
        shape: defaultdict[str, list[str]] = defaultdict(list)
        for kind, name, target in result.rows:
            shape[f"<{kind}>"].append(f"    <{name}> <{target}>")
        return "\n\n".join("\n".join([kind, *lines]) for kind, lines in shape.items())

    def close(self) -> None:
        """Nothing is held here; the sandboxes stay for other graphs."""

    def _run(self, role: str, query: str, allowed: tuple[float, int, int]) -> ResultSet | QueryFailure:
        prepared = prepare_query(query)
        if isinstance(prepared, QueryFailure):
            return prepared
        if not prepared.strip():
            return QueryFailure(Status.NO_RESULT_SET, "the text holds no query")
        sandbox = shared_sandbox("sparql", self._settings.limits.memory_bytes, role)
        answer = sandbox.ask((self._path, self._stamp(), {}, prepared, allowed), allowed[0])
        if answer[0] == "unopened":
            raise EngineError(f"{self._path}: {answer[1]}")
        if answer[0] == "crash" and _ABORTED in answer[1]:
            return QueryFailure(Status.MEMORY, "out of memory", answer[5])
        return read_answer((*answer[:6], None, answer[7]))

    def _stamp(self) -> tuple[int, int, int]:
        try:
            stat = os.stat(self._path)
        except OSError as error:
            raise EngineError(f"{self._path}: no such graph file ({error.strerror})") from error
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino)


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
