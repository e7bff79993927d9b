"""SPARQL answers with typed values and named failures, and hostile queries reach neither network nor graph."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines import sandbox, sparql
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.engines.sparql import SparqlEngine
from pytest_sqlbench.errors import EngineError, UsageError
from pytest_sqlbench.result import Limits, QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings
from tests.engines.sparql_attacks import ATTACKS, GRAPH, Attack

pytest.importorskip("pyoxigraph")

LIMITS = Limits(timeout_s=0.5, rows=10_000, memory_bytes=512 * 2**20)
PROBE = "SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?top) { ?s <http://e/size> ?o }"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparqlEngine]:
    """An engine over the graph of the attacks."""
    path = tmp_path_factory.mktemp("graph") / "ring.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    engine = sparql.open_engine(Database("ring", path), Settings(limits=LIMITS))
    yield engine
    engine.close()
    assert [file.name for file in path.parent.iterdir()] == ["ring.ttl"]


class Listener:
    """A server on this machine that counts who calls."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/sparql"
        self.calls = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    """A server that must not be called."""
    listener = Listener()
    yield listener
    listener.close()


def test_there_are_at_least_forty_attacks() -> None:
    assert len(ATTACKS) >= 40
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_an_attack_is_contained(engine: SparqlEngine, listener: Listener, attack: Attack) -> None:
    start = time.monotonic()
    result = engine.run_prediction(attack.query.replace("@URL@", listener.url))
    elapsed_s = time.monotonic() - start
    ended = "rows" if isinstance(result, ResultSet) else result.status.value.replace("rows", "rows_limit")
    assert ended in attack.ends.split(), result
    assert elapsed_s < 3
    assert listener.calls == 0
    probe = engine.run_prediction(PROBE)
    assert isinstance(probe, ResultSet)
    assert probe.rows == [(400, 399)]


def test_the_process_can_open_no_socket_even_for_a_query_that_was_not_prepared(
    engine: SparqlEngine, listener: Listener, tmp_path: Path
) -> None:
    path = tmp_path / "g.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    raw = f"SELECT * {{ SERVICE <{listener.url}> {{ ?s ?p ?o }} }}"
    process = sandbox.Sandbox("sparql", LIMITS.memory_bytes)
    answer = process.ask((str(path), (0, 0, 0), {}), raw, (1.0, 10, 10_000))
    process.close()
    assert answer[0] == "denied"
    assert "Too many open files" in answer[1]
    assert listener.calls == 0


def test_the_listener_would_notice_a_call(listener: Listener) -> None:
    spare = Listener()
    with socket.create_connection(("127.0.0.1", int(spare.url.split(":")[2].split("/")[0]))):
        deadline = time.monotonic() + 5
        while not spare.calls and time.monotonic() < deadline:
            threading.Event().wait(0.01)
    spare.close()
    assert spare.calls == 1


def _value(engine: SparqlEngine, expression: str) -> object:
    result = engine.run_prediction(f"SELECT ({expression} AS ?x) {{}}")
    assert isinstance(result, ResultSet), result
    return result.rows[0][0]


@pytest.mark.parametrize(
    "expression, value",
    [
        ("7", 7),
        ("'7'^^xsd:nonNegativeInteger", 7),
        ("0.50", Decimal("0.5")),
        ("5e-1", 0.5),
        ("true", True),
        ("'x'", "x"),
        ("'x'@en", "x"),
        ("<http://e/n0>", "http://e/n0"),
        ("1/0", None),
        ("'2019-01-31T00:00:00'^^xsd:dateTime", datetime(2019, 1, 31)),
        ("'2019-01-31T10:00:00.5Z'^^xsd:dateTime", datetime(2019, 1, 31, 10, 0, 0, 500_000, timezone.utc)),
        ("'2019-01-31'^^xsd:date", date(2019, 1, 31)),
        ("'P1DT2H3M4.5S'^^xsd:dayTimeDuration", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("'abc'^^xsd:integer", "abc"),
        ("'P1Y'^^xsd:yearMonthDuration", "P1Y"),
        ("'a'^^<http://e/type>", "a"),
    ],
)
def test_terms_come_back_as_the_values_of_their_types(engine: SparqlEngine, expression: str, value: object) -> None:
    found = _value(engine, expression)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "start, end, unit, value",
    [
        ("'2019-01-15T00:00:00'^^xsd:dateTime", "'2019-01-31T00:00:00'^^xsd:dateTime", "'day'", 16),
        ("'2019-01-15'^^xsd:date", "'2019-01-16T12:00:00'^^xsd:dateTime", "'days'", 1),
        ("'2019-01-16'", "'2019-01-15'", "'hour'", -24),
        ("'soon'", "'2019-01-15'", "'day'", None),
        ("'2019-01-16'", "'2019-01-15'", "'fortnight'", None),
    ],
)
def test_date_diff_counts_whole_units(engine: SparqlEngine, start: str, end: str, unit: str, value: object) -> None:
    assert _value(engine, f"<http://data.world/function/functions#date_diff>({start}, {end}, {unit})") == value


@pytest.mark.parametrize(
    "query, status",
    [
        ("SELECT * {", Status.SYNTAX),
        ("SELECT * { ?s x:to ?o }", Status.SYNTAX),
        ("SELECT (<http://e/f>(1) AS ?x) {}", Status.NO_SUCH_FUNCTION),
        ("CONSTRUCT WHERE { ?s ?p ?o }", Status.NO_RESULT_SET),
        ("INSERT DATA { <http://e/a> <http://e/a> 1 }", Status.DENIED),
    ],
)
def test_failures_have_a_status_and_one_line(engine: SparqlEngine, query: str, status: Status) -> None:
    result = engine.run_prediction(query)
    assert isinstance(result, QueryFailure)
    assert result.status is status
    assert "\n" not in result.message
    assert len(result.message) < 200


def test_columns_are_in_the_order_of_the_select_and_ask_is_one_cell(engine: SparqlEngine) -> None:
    result = engine.run_prediction("SELECT ?b ?a { VALUES (?a ?b) { (1 2) (3 UNDEF) } }")
    assert isinstance(result, ResultSet)
    assert (result.columns, sorted(result.rows, key=str)) == (("b", "a"), [(2, 1), (None, 3)])
    asked = engine.run_prediction("ASK { ?s ?p 399 }")
    assert isinstance(asked, ResultSet)
    assert (asked.columns, asked.rows) == (("answer",), [(True,)])


def test_unstable_functions_are_noted(engine: SparqlEngine) -> None:
    result = engine.run_gold("SELECT (NOW() AS ?x) ('rand()' AS ?y) {}")
    assert isinstance(result, ResultSet)
    assert result.warnings == ("nondeterministic: now",)


def test_a_prediction_may_return_as_many_rows_as_the_gold(engine: SparqlEngine) -> None:
    query = "SELECT ?a ?b { ?a <http://e/size> ?x . ?b <http://e/size> ?y FILTER(?y < 50) }"
    assert isinstance(engine.run_gold("ASK {}"), ResultSet)
    refused = engine.run_prediction(query)
    assert isinstance(refused, QueryFailure)
    assert refused.status is Status.ROWS
    assert isinstance(engine.run_gold(query), ResultSet)
    assert isinstance(engine.run_prediction(query), ResultSet)


def test_the_graph_describes_itself(engine: SparqlEngine, tmp_path: Path) -> None:
    graph = "<http://e/a> a <http://e/A> ; <http://e/n> 1 ; <http://e/to> <http://e/b> . <http://e/b> a <http://e/B> ."
    described = open_engine("sparql", Database("g", schema=graph), Settings(cache_dir=tmp_path)).describe()
    assert described == (
        "<http://e/A>\n    <http://e/n> <http://www.w3.org/2001/XMLSchema#integer>\n    <http://e/to> <http://e/B>"
    )


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "g.nt"
    path.write_text("<http://e/a> <http://e/n> <http://e/b> .\n", encoding="utf-8")
    engine = open_engine("sparql", Database("g", path), Settings(limits=LIMITS))
    assert engine.run_gold("SELECT ?o { ?s ?p ?o }").rows == [("http://e/b",)]  # type: ignore[union-attr]
    path.write_text("<http://e/a> <http://e/n> <http://e/cc> .\n", encoding="utf-8")
    assert engine.run_prediction("SELECT ?o { ?s ?p ?o }").rows == [("http://e/cc",)]  # type: ignore[union-attr]


def test_bad_graphs_are_trouble_of_the_bench(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"none\.ttl: no such graph file"):
        open_engine("sparql", Database("g", tmp_path / "none.ttl"), Settings())
    with pytest.raises(EngineError, match=r"a graph is read from \.nt or \.ttl, not '\.rdf'"):
        open_engine("sparql", Database("g", tmp_path / "g.rdf"), Settings())
    path = tmp_path / "bad.ttl"
    path.write_text("<http://e/a> <http://e/b> .\n", encoding="utf-8")
    with pytest.raises(EngineError, match=r"bad\.ttl: .* line 1"):
        open_engine("sparql", Database("g", path), Settings()).run_gold("ASK {}")
    rows = Database("g", schema="<http://e/a> <http://e/b> 1 .", inline_rows={"t": ({"a": 1},)})
    with pytest.raises(UsageError, match="a graph has no rows"):
        open_engine("sparql", rows, Settings(cache_dir=tmp_path))
