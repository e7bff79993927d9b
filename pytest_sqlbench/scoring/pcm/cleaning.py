"""Turns a published query into the text that the official parser gets. Each step is part of the metric, bugs included.

Source: ``preprocess_for_jsql`` of hirupert/sede at 2bf2612, which both sides of every pair go through.
"""

from __future__ import annotations

import re

from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

MAX_CHARACTERS = 50_000
"""A longer text is unreadable. SEDE's longest query has 800 characters; this only bounds the work on hostile text."""
MAX_NAME = 2_000
"""A longer name in brackets makes the text unreadable, for the same reason."""

_TOP_PARAMETER = re.compile(
    r"(top|percentile_cont) *\(? ?##[a-z0-9_]+(?::[a-z]+)?(?:\?([0-9.]+))?## ?\)?", re.IGNORECASE
)
_PARAMETER = re.compile(r"([^'%])(##[a-z0-9_?:]+##)([^'%]?)", re.IGNORECASE)
_FORMAT_CALL = re.compile(r" format\(", re.IGNORECASE)
_LEADING_NOISE = re.compile(r"(?:[- ]+|result)+")
_LINE_COMMENT = re.compile(r"--.*\n")
_DECLARE_LINE = re.compile(r"(?:DECLARE|declare) [^\n]+\n")
_DECLARE_STATEMENT = re.compile(r"(?:DECLARE|declare) [^;]+;")
_DECLARE_REST = re.compile(r"(?:DECLARE|declare) .(?!SELECT|select)")
_BLOCK_COMMENT = re.compile(r"/\*[^*/]+\*/")
_LINE_ENDS = re.compile(r"[\n\t\r]+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_SPACES = re.compile(r" {2,}")

_MOST_UNICODE_PREFIXES = 2
_MOST_DECLARES = 26
_MOST_BLOCK_COMMENTS = 8
# The four limits above and below are flags that the official code hands to the parameter `count` by mistake.
_LONGEST_RUN = 20
_APOSTROPHE_REACH = 10
_AVERAGES = "cast(avg(" * 8


def clean(text: str) -> str:
    """Return the lower-cased text that the parser reads, string literals in double quotes.

    Raises:
        Unreadable: Nothing is left, the text is longer than `MAX_CHARACTERS`, or the official code gives up on it.
    """
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(f"longer than {MAX_CHARACTERS} characters")
    sql = _without_parameters(_without_brackets(text))
    sql = _FORMAT_CALL.sub(" convert(", sql)
    sql = _on_one_line(sql)
    if "(" * _LONGEST_RUN in sql or ")" * _LONGEST_RUN in sql or _AVERAGES in sql:
        raise Unreadable(f"{_LONGEST_RUN} parentheses in a row")
    sql = _NOT_ASCII.sub(" ", sql).replace("``", "'").replace('"', "'")
    sql = _last_statement(_SPACES.sub(" ", sql).strip())
    if not sql:
        raise Unreadable("no text")
    # The official code does this last: every string literal becomes a quoted name.
    return sql.lower().replace("'", '"')


def _without_brackets(sql: str) -> str:
    """Write each ``[Post Link]`` as ``'post_link'``, everywhere it occurs; inside a string without the quotes."""
    start = sql.find("[")
    while start >= 0 and (end := sql.find("]", start) + 1):
        if end - start > MAX_NAME:
            raise Unreadable(f"a name in brackets longer than {MAX_NAME} characters")
        if end == start + 2:  # nothing in the brackets
            start = sql.find("[", end)
            continue
        name = sql[start + 1 : end - 1].lower().replace(" ", "_")
        if not _is_in_apostrophes(sql, start, end, 0):
            name = f"'{name}'"
        sql = sql.replace(sql[start:end], name)
        start = sql.find("[", start)
    return sql


def _without_parameters(sql: str) -> str:
    """Give ``top ##n:int?50##`` its default (or 100), and write every other parameter as a string."""
    if "##" not in sql:
        return sql
    found = _TOP_PARAMETER.search(sql)
    while found is not None:
        sql = sql.replace(found[0], f"{found[1]} ({found[2] or 100})")
        found = _TOP_PARAMETER.search(sql, found.start())
    parts: list[str] = []
    end = 0
    for parameter in _PARAMETER.finditer(sql):
        parts.append(sql[end : parameter.start()])
        if _is_in_apostrophes(sql, parameter.start(), parameter.end(), end):
            parts.append(parameter[0])
        else:
            parts.append(f"{parameter[1]}'{parameter[2]}'{parameter[3]}")
        end = parameter.end()
    parts.append(sql[end:])
    return "".join(parts)


def _is_in_apostrophes(sql: str, start: int, end: int, bound: int) -> bool:
    """Say whether an apostrophe is met within ten characters on both sides, before a space and not before `bound`."""
    before = sql[max(bound, start - _APOSTROPHE_REACH + 1) : start + 1]
    after = sql[end : end + _APOSTROPHE_REACH]
    return "'" in before[before.rfind(" ") + 1 :] and "'" in after.partition(" ")[0]


def _on_one_line(sql: str) -> str:
    """Drop comments and DECLAREs, and join the lines. The order of the steps leaves residue, as it does officially."""
    noise = _LEADING_NOISE.match(sql)
    sql = sql[noise.end() :] if noise else sql
    if "\n" in sql:
        # No pattern may look for a line end where none follows: that would take quadratic time.
        lines, end, rest = sql.rpartition("\n")
        sql = _LINE_COMMENT.sub("", lines + end) + rest
        sql = sql.replace("\n;\n", " ")
    sql = _SPACES.sub(" ", sql).strip()
    sql = sql.replace(" N'", " '", _MOST_UNICODE_PREFIXES)
    if "\n" in sql:
        lines, end, rest = sql.rpartition("\n")
        sql = _DECLARE_LINE.sub(" ", lines + end, count=_MOST_DECLARES) + rest
    sql = _LINE_ENDS.sub(" ", sql)
    sql = sql.partition("--")[0]
    sql = _BLOCK_COMMENT.sub("", sql, count=_MOST_BLOCK_COMMENTS)
    sql = _SPACES.sub(" ", sql).strip()
    if "eclare " in sql or "ECLARE " in sql:
        statements, end, rest = sql.rpartition(";")
        sql = _DECLARE_STATEMENT.sub(" ", statements + end, count=_MOST_DECLARES) + rest
        sql = _DECLARE_REST.sub("SELECT", sql)
    return sql


def _last_statement(sql: str) -> str:
    """Keep what follows the last semicolon, even one inside a string; a single one at the end does not count."""
    return sql.removesuffix(";").rpartition(";")[2]
