"""Keywords of a query with their nesting, by a scanner that steps over literals, quoted names and comments.

It needs no grammar, so it serves every dialect (SPARQL too), cannot fail on odd text, and costs microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      '(?:[^']|'')*(?:'|\Z)          # text
    | "(?:[^"]|"")*(?:"|\Z)          # quoted name
    | `[^`]*(?:`|\Z)
    | \[[^\]\[]*\]
    | --[^\n]*
    | /\*.*?(?:\*/|\Z)
    | (?P<word>[^\W\d]\w*)
    | (?P<open>[({])
    | (?P<close>[)}])
    """,
    re.VERBOSE | re.DOTALL,
)


class Word(NamedTuple):
    """One bare word of a query."""

    text: str
    """In lower case."""
    depth: int
    """Open brackets around it."""
    start: int
    end: int


def scan_words(sql: str) -> Iterator[Word]:
    """Yield the bare words of a query; what stands in literals, quoted names and comments is left out.

    >>> [(word.text, word.depth) for word in scan_words("SELECT f('order by') -- by")]
    [('select', 0), ('f', 0)]
    """
    depth = 0
    for token in _TOKEN.finditer(sql):
        if token["word"]:
            yield Word(token["word"].lower(), depth, token.start(), token.end())
        elif token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1


def has_top_level_order(sql: str) -> bool:
    """Say whether the query orders its own result, and not only that of a subquery or a window.

    >>> has_top_level_order("SELECT a FROM t ORDER BY b"), has_top_level_order("SELECT a FROM (SELECT 1 ORDER BY 1)")
    (True, False)
    """
    if "order" not in sql.lower():
        return False
    words = list(scan_words(sql))
    top = min((word.depth for word in words), default=0)
    outer = [word.text for word in words if word.depth == top]
    return ("order", "by") in pairwise(outer)


_CUTTING = ("limit", "top", "fetch", "offset", "rownum")


def may_cut_rows(sql: str) -> bool:
    """Say whether the query may leave out rows of its own result; False is certain."""
    folded = sql.lower()
    return any(word in folded for word in _CUTTING)


def without_distinct(sql: str) -> str:
    """Return the query without the keyword DISTINCT, wherever it stands as a keyword.

    >>> without_distinct("SELECT DISTINCT a, COUNT(DISTINCT b), 'distinct' FROM t")
    "SELECT  a, COUNT( b), 'distinct' FROM t"
    """
    if "distinct" not in sql.lower():
        return sql
    pieces: list[str] = []
    at = 0
    for word in scan_words(sql):
        if word.text == "distinct":
            pieces.append(sql[at : word.start])
            at = word.end
    return "".join([*pieces, sql[at:]])
