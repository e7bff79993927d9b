"""From a case to the text that a model reads: schema, hints and question in a template."""

from __future__ import annotations

import string
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.predictors.fingerprint import hash_text
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.schema import describe_schema

FIELDS = ("question", "schema", "evidence", "hint", "dialect", "language", "database", "suite", "id")
"""What a template may name. ``hint`` is the evidence as a line of its own, or nothing."""

JINJA_SUFFIXES = (".j2", ".jinja", ".jinja2")

SQL_CHAT = """\
Write one {language} query that answers the question. Reply with the query only.

{schema}

{hint}Question: {question}
"""

SQL_COMPLETION = """\
{schema}

-- {language}
{hint}-- Question: {question}
SELECT"""

SPARQL_CHAT = """\
Write one SPARQL query that answers the question over a graph with this ontology. Reply with the query only.

{schema}

{hint}Question: {question}
"""

LANGUAGES = {"sqlite": "SQLite", "duckdb": "DuckDB SQL", "postgres": "PostgreSQL", "mysql": "MySQL", "tsql": "T-SQL"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model reads."""

    text: str
    prefix: str = ""
    """How the query begins already, at the end of a completion prompt; it belongs in front of the reply."""

    @property
    def hash(self) -> str:
        """Of the text, as hex: part of the key of a stored answer."""
        return hash_text(self.text)


class PromptBook:
    """Writes prompts for the cases of the suites that it was shown. Safe to use from several threads."""

    def __init__(self, options: ModelOptions) -> None:
        self._options = options
        self._suites: dict[str, Suite] = {}
        self._templates: dict[str, _Template | None] = {}
        self._schemas: dict[tuple[str, str, str], str] = {}
        self._lock = threading.Lock()

    def add_suite(self, suite: Suite) -> None:
        """Take note of a suite and read its template.

        Raises:
            UsageError: The template cannot be read or names an unknown field.
        """
        options = self._options.for_suite(suite)
        self._templates[suite.name] = _find_template(suite, options)
        self._suites[suite.name] = suite

    def write(self, case: Case) -> Prompt:
        """Write the prompt of a case.

        Raises:
            UsageError: The suite was not added, the template fails, or the text is over the limit.
            EngineError: The schema cannot be read.
        """
        suite = self._suites.get(case.suite)
        if suite is None:
            raise UsageError(f"no prompt for case {case.suite}/{case.id}: its suite is not known to the model")
        options = self._options.for_suite(suite)
        template = self._templates[case.suite] or _default_template(case, options)
        text = template.render(_field_values(case, self._schema(suite, case, options)))
        if len(text) > options.prompt_limit:
            size = f"{len(text):,} characters, the limit is {options.prompt_limit:,}"
            raise UsageError(
                f"the prompt of {case.suite}/{case.id} has {size}. Raise --sqlbench-prompt-limit,"
                f" or give a template that shows less of the schema of {case.database!r}."
            )
        return Prompt(text, _prefix(text) if options.api == "completion" else "")

    def _schema(self, suite: Suite, case: Case, options: ModelOptions) -> str:
        given = case.facts.get("schema")
        if isinstance(given, str):
            return given
        key = (case.suite, case.database, case.engine)
        with self._lock:
            if key not in self._schemas:
                self._schemas[key] = describe_schema(suite, case, options)
            return self._schemas[key]


def _prefix(text: str) -> str:
    """Return the last line of a completion prompt if it begins a query: the model goes on from there."""
    last = text.rstrip().rpartition("\n")[2].strip()
    return f"{last} " if last.split(" ")[0].upper() in ("SELECT", "WITH") else ""


def _field_values(case: Case, schema: str) -> dict[str, str]:
    return {
        "question": case.question,
        "schema": schema.strip(),
        "evidence": case.evidence,
        "hint": f"-- Hint: {case.evidence}\n" if case.evidence else "",
        "dialect": case.dialect,
        "language": LANGUAGES.get(case.dialect, case.dialect),
        "database": case.database,
        "suite": case.suite,
        "id": case.id,
    }


class _Template:
    """A template with ``{field}``, or a Jinja2 one."""

    def __init__(self, text: str, where: str, *, is_jinja: bool = False) -> None:
        self._where = where
        self._text = text
        self._jinja = _compile_jinja(text, where) if is_jinja else None
        if self._jinja is None:
            _check_fields(text, where)

    def render(self, values: Mapping[str, str]) -> str:
        if self._jinja is None:
            return string.Formatter().vformat(self._text, (), values)
        try:
            return str(self._jinja.render(**values))
        except Exception as error:  # a template of the user's may raise anything
            raise UsageError(f"{self._where}: {type(error).__name__}: {error}") from error


def _find_template(suite: Suite, options: ModelOptions) -> _Template | None:
    """Read the template that the options or the manifest name; None where neither does."""
    if options.prompt:
        path = options.base_dir / options.prompt
    elif suite.prompt:
        path = suite.path.parent / suite.prompt
    else:
        return None
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UsageError(f"{path}: the prompt template cannot be read: {what}") from error
    return _Template(text, str(path), is_jinja=path.suffix in JINJA_SUFFIXES)


def _default_template(case: Case, options: ModelOptions) -> _Template:
    """Return the template that the format gave to a case, or else the one of its dialect."""
    given = case.facts.get("template")
    if isinstance(given, str):
        return _Template(given, f"prompt of {case.suite}/{case.id}")
    sql = SQL_COMPLETION if options.api == "completion" else SQL_CHAT
    return _Template(SPARQL_CHAT if case.dialect == "sparql" else sql, "default prompt")


def _check_fields(text: str, where: str) -> None:
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise CaseError(where, 0, f"{error}. A brace that is meant as text is doubled: {{{{ or }}}}.") from error
    line = 1
    for literal, name, spec, conversion in parts:
        line += literal.count("\n")
        if name is not None and (name not in FIELDS or spec or conversion):
            raise CaseError(where, line, f"unknown field {{{name}}}. Known: {', '.join(FIELDS)}.")


def _compile_jinja(text: str, where: str) -> Any:
    try:
        from jinja2 import StrictUndefined, TemplateSyntaxError
        from jinja2.sandbox import SandboxedEnvironment
    except ImportError as error:
        raise UsageError(f"{where}: a Jinja2 template needs: pip install 'pytest-sqlbench[jinja]'") from error
    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    try:
        return environment.from_string(text)
    except TemplateSyntaxError as error:
        raise CaseError(where, error.lineno, f"is not a Jinja2 template: {error.message}") from error
