"""One graph in memory on which any query is harmless, save for time and memory: those end with the process.

Loaded by the sandbox's process, so it imports the standard library and pyoxigraph only and speaks in plain tuples. A
query comes here prepared; should one still name a remote service, no file and no socket can be opened while it runs.
"""

from __future__ import annotations

import contextlib
import datetime
import pickle
import re
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib import import_module
from typing import Any

from .answers import PROTOCOL, Answer, RefusedError, fail, pack_rows

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

pyoxigraph: Any = import_module("pyoxigraph")  # nobody imports this module but who wants SPARQL

OPEN_GUARDS = 8
LONGEST_MESSAGE = 160
CHUNK = 1000
FORMATS = {".ttl": "TURTLE", ".nt": "N_TRIPLES"}
XSD = "http://www.w3.org/2001/XMLSchema#"
DATE_DIFF = "http://data.world/function/functions#date_diff"

_STANDARD_FILES = 3
"""Input, output and errors of the process: the only files that are open while a query runs."""
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_WHOLE = frozenset(
    (
        *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_UNSTABLE = re.compile(r"\b(now|rand|uuid|struuid|bnode)\s*\(", re.IGNORECASE)
_NOISE = re.compile(r"""'[^'\r\n]*' | "[^"\r\n]*" | <[^<>\s]*>""", re.VERBOSE)


class Guard:
    """A guarded graph. Not safe for threads; one query at a time.

    Args:
        path: A Turtle (``.ttl``) or N-Triples (``.nt``) file, read once.
    """

    def __init__(self, path: str) -> None:
        suffix = path[path.rfind(".") :]
        self._store = pyoxigraph.Store()
        self._functions = {pyoxigraph.NamedNode(DATE_DIFF): _date_diff}
        self._store.bulk_load(path=path, format=getattr(pyoxigraph.RdfFormat, FORMATS.get(suffix, "TURTLE")))

    def close(self) -> None:
        """Forget the graph."""
        self._store = pyoxigraph.Store()

    def run(self, query: str, timeout_s: float, max_rows: int, max_bytes: int) -> Answer:
        """Run one prepared query. Whatever it does comes back as an answer; nothing is raised for it."""
        start = time.perf_counter()
        status = message = ""
        columns: tuple[str, ...] = ()
        chunks: list[bytes] = []
        try:
            with _closed_doors():
                columns, chunks = self._fetch(query, time.monotonic() + timeout_s, max_rows, max_bytes)
        except RefusedError as error:
            status, message = error.args
        except MemoryError:
            status, message = "memory", "out of memory"
        except Exception as error:  # the library raises SyntaxError, RuntimeError, ValueError, OSError and its children
            status, message = _find_status(error), _shorten(str(error))
        elapsed_ms = (time.perf_counter() - start) * 1000
        if status:
            return fail(status, message, elapsed_ms)
        return "", "", columns, [], chunks, elapsed_ms, None, _find_notes(query)

    def _fetch(self, query: str, deadline: float, max_rows: int, max_bytes: int) -> tuple[tuple[str, ...], list[bytes]]:
        found = self._store.query(query, prefixes=_PREFIXES, custom_functions=self._functions)
        if isinstance(found, pyoxigraph.QueryBoolean):
            return ("answer",), [pickle.dumps([(bool(found),)], PROTOCOL)]
        if not isinstance(found, pyoxigraph.QuerySolutions):
            raise RefusedError("no_result_set", "CONSTRUCT and DESCRIBE give a graph, not rows")
        columns = tuple(variable.value for variable in found.variables)
        return columns, pack_rows(_in_pieces(found), max_rows, max_bytes, lambda: time.monotonic() > deadline)


_PREFIXES = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": XSD,
}
"""Supplied to every query; a declaration in the query wins."""


@contextlib.contextmanager
def _closed_doors() -> Iterator[None]:
    """Let this process open no file and no socket: the engine is able to call remote services."""
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_STANDARD_FILES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _in_pieces(solutions: Any) -> Iterator[list[tuple[object, ...]]]:
    rows: list[tuple[object, ...]] = []
    for solution in solutions:
        rows.append(tuple([None if term is None else read_term(term) for term in solution]))
        if len(rows) == CHUNK:
            yield rows
            rows = []
    yield rows


def _find_status(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return "syntax"
    if isinstance(error, OSError):
        return "denied"
    return "no_such_function" if "custom function" in str(error) else "error"


def _shorten(message: str) -> str:
    """Cut the list of every token that the grammar would have allowed."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"


def _find_notes(query: str) -> tuple[str, ...]:
    found = {name.lower() for name in _UNSTABLE.findall(_NOISE.sub(" ", query))}
    return tuple(f"nondeterministic: {name}" for name in sorted(found))


def read_term(term: Any) -> object:
    """Turn an RDF term into a Python value: typed literals by their type, IRIs and all else as text."""
    if not isinstance(term, pyoxigraph.Literal):
        return str(term.value) if isinstance(term, pyoxigraph.NamedNode) else str(term)
    text = str(term.value)
    kind = term.datatype.value
    if not kind.startswith(XSD) or kind.endswith("#string"):
        return text
    reader = _READERS.get(kind[len(XSD) :])
    if reader is None:
        return text
    try:
        return reader(text)
    except (ValueError, ArithmeticError):  # ill-typed, such as "abc"^^xsd:integer: the text says it all
        return text


def _read_boolean(text: str) -> object:
    return {"true": True, "1": True, "false": False, "0": False}.get(text, text)


def _read_moment(text: str) -> datetime.datetime:
    # 3.10 knows neither Z nor other than three or six digits of a second
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?", text)
    if found is None:
        raise ValueError(text)
    fraction = f".{found[2][:6]:0<6}" if found[2] else ""
    return datetime.datetime.fromisoformat(found[1] + fraction + (found[3] or "").replace("Z", "+00:00"))


def _read_duration(text: str) -> datetime.timedelta:
    found = re.fullmatch(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?", text)
    if found is None:
        raise ValueError(text)
    days, hours, minutes = (int(found[place] or 0) for place in (2, 3, 4))
    span = datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=float(found[5] or 0))
    return -span if found[1] else span


_READERS: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(_WHOLE, int),
    "decimal": Decimal,
    "double": float,
    "float": float,
    "boolean": _read_boolean,
    "dateTime": _read_moment,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "dayTimeDuration": _read_duration,
}


def _date_diff(start: Any, end: Any, unit: Any) -> Any:
    """data.world's function: how many whole units lie between two dates or moments; anything else is an error."""
    first, last = (_as_moment(read_term(term)) for term in (start, end))
    seconds = _SECONDS.get(str(unit.value).lower().rstrip("s"))
    if first is None or last is None or seconds is None:
        return None
    return pyoxigraph.Literal(int((last - first).total_seconds() / seconds))


def _as_moment(value: object) -> datetime.datetime | None:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = datetime.date.fromisoformat(value)
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time(), datetime.timezone.utc)
    return None


def open_guard(path: str, options: dict[str, int]) -> Guard:
    """Open a guard as the sandbox's process does."""
    return Guard(path)


def limit_process(memory_bytes: int) -> None:
    """Nothing beyond what the process limits itself; files and sockets are closed per query."""
