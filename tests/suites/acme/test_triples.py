"""Turtle files are read whole, and a broken one is one line with its place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.suites.acme.triples import read_turtle

TURTLE = """\
@prefix e: <http://e/> .
e:a a e:Kind ; e:name "one" ; e:has e:c, e:b .
e:b a e:Kind ; e:name "two", "three" .
"""


@pytest.fixture
def turtle(tmp_path: Path) -> Path:
    path = tmp_path / "small.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    return path


def test_triples_are_found_by_subject_predicate_and_type(turtle: Path) -> None:
    triples = read_turtle(turtle)
    assert triples.instances("http://e/Kind") == ["http://e/a", "http://e/b"]
    assert triples.value("http://e/a", "http://e/name") == "one"
    assert triples.value("http://e/a", "http://e/none") is None
    assert triples.values("http://e/a", "http://e/has") == ["http://e/b", "http://e/c"]
    assert triples.pairs("http://e/has") == [("http://e/a", "http://e/b"), ("http://e/a", "http://e/c")]


def test_several_values_where_one_is_wanted_are_an_error(turtle: Path) -> None:
    with pytest.raises(CaseError, match=r"small\.ttl: http://e/b has 2 values"):
        read_turtle(turtle).value("http://e/b", "http://e/name")


def test_a_broken_file_is_an_error_with_its_line(turtle: Path) -> None:
    turtle.write_text(TURTLE + "e:c e:name .\n", encoding="utf-8")
    with pytest.raises(CaseError, match=r"small\.ttl:4: not Turtle"):
        read_turtle(turtle)


def test_without_the_library_the_error_says_how_to_get_it(turtle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(UsageError, match=r"needs pyoxigraph: pip install 'pytest-sqlbench\[sparql\]'"):
        read_turtle(turtle)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="cannot be read"):
        read_turtle(tmp_path / "none.ttl")
