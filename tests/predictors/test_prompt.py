"""Prompts show the schema and the question, by a template that is checked when the suite is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.predictors.options import ModelOptions, read_model_settings
from pytest_sqlbench.predictors.prompt import PromptBook

SCHEMA = "CREATE TABLE pet (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person(id), name TEXT);"


def _suite(tmp_path: Path, prompt: str = "", evidence: str = "", dialect: str = "sqlite") -> Suite:
    rows = {"pet": ({"id": 1, "owner": None, "name": "x" * 99}, {"id": 2, "owner": None, "name": "b"})}
    database = Database("zoo", schema=SCHEMA + " CREATE TABLE person (id INTEGER PRIMARY KEY);", inline_rows=rows)
    case = Case("zoo", "a", "How many {pets}?", ("SELECT 1",), dialect, "sqlite", "zoo", evidence)
    return Suite("zoo", tmp_path / "zoo.yaml", (case,), {"zoo": database}, prompt=prompt)


def _write(suite: Suite, options: ModelOptions | None = None) -> str:
    book = PromptBook(options or ModelOptions())
    book.add_suite(suite)
    return book.write(suite.cases[0]).text


def test_the_default_prompt_shows_schema_hint_and_question(tmp_path: Path) -> None:
    text = _write(_suite(tmp_path, evidence="a pet is any animal"))
    assert text == (
        "Write one SQLite query that answers the question. Reply with the query only.\n\n"
        f"{SCHEMA}\n\nCREATE TABLE person (id INTEGER PRIMARY KEY);\n\n"
        "-- Hint: a pet is any animal\nQuestion: How many {pets}?\n"
    )


def test_a_completion_prompt_ends_where_the_model_goes_on(tmp_path: Path) -> None:
    book = PromptBook(ModelOptions(api="completion"))
    suite = _suite(tmp_path)
    book.add_suite(suite)
    prompt = book.write(suite.cases[0])
    assert prompt.text.endswith("-- Question: How many {pets}?\nSELECT")
    assert prompt.prefix == "SELECT "


def test_each_language_has_its_prompt(tmp_path: Path) -> None:
    suite = _suite(tmp_path, dialect="sparql")
    assert _write(suite).startswith("Write one SPARQL query")


def test_sample_rows_and_descriptions_are_shown_where_asked_for(tmp_path: Path) -> None:
    text = _write(_suite(tmp_path), ModelOptions(prompt_rows=1, descriptions={"pet.name": "as\ncalled"}))
    assert f"-- first rows of pet:\n-- id | owner | name\n-- 1 | NULL | {'x' * 60}…\n" in text
    assert "-- pet.name: as called\n" in text
    assert "first rows of person" not in text


@pytest.mark.parametrize(
    "name, template, expected",
    [
        ("t.txt", "{{literal}} {question} [{evidence}{hint}] {language}", "{literal} How many {pets}? [] SQLite"),
        ("t.j2", "{% if evidence %}E{% else %}none{% endif %}: {{ question }}\n", "none: How many {pets}?\n"),
    ],
)
def test_a_suite_brings_its_template(name: str, template: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(template)
    assert _write(_suite(tmp_path, prompt=name)) == expected


def test_the_template_of_an_option_wins(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "theirs.txt").write_text("theirs")
    assert _write(_suite(tmp_path, prompt="theirs.txt"), ModelOptions(base_dir=tmp_path, prompt="mine.txt")) == "mine"


@pytest.mark.parametrize(
    "name, template, message",
    [
        ("t.txt", "x\n\n{quesion}", r"t\.txt:3: unknown field \{quesion\}\. Known: question, schema"),
        ("t.txt", "{question.__class__}", r"unknown field \{question\.__class__\}"),
        ("t.txt", "{question!r}", "unknown field"),
        ("t.txt", "a { b", r"t\.txt: .*A brace that is meant as text is doubled"),
        ("t.j2", "a\n{% if %}", r"t\.j2:2: is not a Jinja2 template"),
        ("t.j2", "{{ quesion }}", r"t\.j2: UndefinedError: 'quesion' is undefined"),
        ("t.j2", "{{ question.__class__.__mro__ }}", r"t\.j2: SecurityError"),
        ("none.txt", None, r"none\.txt: the prompt template cannot be read: No such file"),
    ],
)
def test_a_faulty_template_says_where(name: str, template: str | None, message: str, tmp_path: Path) -> None:
    if template is not None:
        (tmp_path / name).write_text(template)
    with pytest.raises(UsageError, match=message):
        _write(_suite(tmp_path, prompt=name))


def test_a_prompt_over_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the prompt of zoo/a has \d+ characters, the limit is 100\. Raise"):
        _write(_suite(tmp_path), ModelOptions(prompt_limit=100))


def test_a_schema_that_a_format_gives_comes_first(tmp_path: Path) -> None:
    suite = _suite(tmp_path)
    case = replace(suite.cases[0], facts={"schema": "table pet(name)"})
    assert "\n\ntable pet(name)\n\n" in _write(replace(suite, cases=(case,)))


def test_a_template_that_a_format_gives_stands_behind_those_that_a_person_names(tmp_path: Path) -> None:
    suite = _suite(tmp_path)
    suite = replace(suite, cases=(replace(suite.cases[0], facts={"template": "{language}: {question}"}),))
    assert _write(suite) == "SQLite: How many {pets}?"
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    assert _write(suite, ModelOptions(base_dir=tmp_path, prompt="mine.txt")) == "mine"


def test_one_suite_may_hold_several_languages(tmp_path: Path) -> None:
    suite = _suite(tmp_path)
    book = PromptBook(ModelOptions())
    book.add_suite(suite)
    graph = replace(suite.cases[0], dialect="sparql", facts={"schema": "the ontology"})
    assert book.write(graph).text.startswith("Write one SPARQL query")


def test_the_hash_follows_the_text(tmp_path: Path) -> None:
    book = PromptBook(ModelOptions())
    suite = _suite(tmp_path)
    book.add_suite(suite)
    one = book.write(suite.cases[0]).hash
    assert book.write(suite.cases[0]).hash == one
    assert book.write(replace(suite.cases[0], question="Why?")).hash != one


@pytest.mark.parametrize(
    "said, message",
    [
        ("gpt", "model is 'gpt', wanted a mapping with base_url"),
        ({"temprature": 1}, "unknown key 'temprature' under model. Known: base_url"),
        ({"max_tokens": "9"}, "model max_tokens is '9', which is of the wrong type"),
        ({"api": "words"}, "model api is 'words'. Allowed: chat, completion"),
    ],
)
def test_what_a_manifest_says_of_the_model_is_checked(said: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_model_settings(said)


def test_what_a_manifest_says_becomes_options(tmp_path: Path) -> None:
    said = read_model_settings({"temperature": 0.5, "stop": [";"], "descriptions": {"pet": "animal"}})
    options = ModelOptions().for_suite(replace(_suite(tmp_path), settings={"model": said}))
    assert (options.temperature, options.stop, options.descriptions) == (0.5, (";",), {"pet": "animal"})
