"""Whether two queries are one query written in two ways. Cheap and certain: False says nothing."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""\s+ | --[^\n]* | /\*.*?\*/ | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\]
    | \w+ | <> | != | == | [<>]= | .""",
    re.VERBOSE | re.DOTALL,
)
_SAME = {"!=": "<>", "==": "="}


def has_same_form(sql: str, other: str) -> bool:
    """Say whether two texts differ in case, space, comments and a last semicolon only.

    >>> has_same_form("SELECT a FROM t WHERE b != 'X'", "select a\\nfrom T where b <> 'X';")
    True
    """
    return normal_form(sql) == normal_form(other)


def normal_form(sql: str) -> tuple[str, ...]:
    """Return the tokens of a text, folded where SQLite does not tell case apart."""
    tokens: list[str] = []
    for token in _TOKEN.findall(sql):
        if token.isspace() or token.startswith(("--", "/*")):
            continue
        tokens.append(token if token[0] in "'\"`[" else _SAME.get(token, token.lower()))
    while tokens and tokens[-1] == ";":
        tokens.pop()
    return tuple(tokens)
