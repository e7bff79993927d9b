"""Reads a Turtle file into an index of its triples. The only file of the suite that knows an RDF library."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_sqlbench.errors import CaseError, UsageError

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class Triples:
    """Triples by subject and predicate. Terms are text: an IRI, a literal's value, or ``_:`` and a blank node."""

    def __init__(self, path: Path, triples: Iterable[tuple[str, str, str]]) -> None:
        self.path = path
        self._objects: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._predicates: dict[str, set[str]] = defaultdict(set)
        self._subjects: dict[tuple[str, str], list[str]] = defaultdict(list)
        for subject, predicate, value in triples:
            self._objects[subject, predicate].append(value)
            self._subjects[predicate, value].append(subject)
            self._predicates[subject].add(predicate)

    def values(self, subject: str, predicate: str) -> list[str]:
        """Return all objects of (subject, predicate), sorted."""
        return sorted(self._objects.get((subject, predicate), ()))

    def value(self, subject: str, predicate: str) -> str | None:
        """Return the only object of (subject, predicate), or None; raise `CaseError` if there are several."""
        found = self._objects.get((subject, predicate), [])
        if len(found) > 1:
            raise CaseError(self.path, 0, f"{subject} has {len(found)} values of {predicate}; one is wanted")
        return found[0] if found else None

    def instances(self, kind: str) -> list[str]:
        """Return the subjects with this ``rdf:type``, sorted."""
        return sorted(self._subjects.get((RDF_TYPE, kind), ()))

    def predicates(self, subject: str) -> set[str]:
        """Return the predicates that this subject has."""
        return set(self._predicates.get(subject, ()))

    def pairs(self, predicate: str) -> list[tuple[str, str]]:
        """Return (subject, object) of every triple with this predicate, sorted."""
        return sorted(
            (subject, value)
            for (subject, name), values in self._objects.items()
            if name == predicate
            for value in values
        )


def read_turtle(path: Path) -> Triples:
    """Read a Turtle file.

    Raises:
        UsageError: pyoxigraph is not installed.
        CaseError: The file is missing or is not Turtle; with the line where the grammar breaks.
    """
    try:
        import pyoxigraph
    except ImportError as error:
        raise UsageError(f"reading {path} needs pyoxigraph: pip install 'pytest-sqlbench[sparql]'") from error
    try:
        quads = list(pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.TURTLE))
    except SyntaxError as error:
        raise CaseError(path, error.lineno or 0, f"not Turtle: {error.msg}") from error
    except OSError as error:
        raise CaseError(path, 0, f"cannot be read: {error.strerror or error}") from error
    return Triples(path, ((_text(quad.subject), quad.predicate.value, _text(quad.object)) for quad in quads))


def _text(term: Any) -> str:
    return f"_:{term.value}" if type(term).__name__ == "BlankNode" else str(term.value)
