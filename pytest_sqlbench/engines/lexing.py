"""What is left of a query without its strings and comments, for the second line of defence on servers.

The first line is the server's own: a role without rights, a read-only transaction. This one names functions that such a
role may still call and that reach beyond the query: other sessions, locks, files, text that is run as SQL.
"""

from __future__ import annotations

import re

_POSTGRES = re.compile(
    r"""
      [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*'
    | \$([A-Za-z_][A-Za-z0-9_]*)?\$.*?\$\1\$ | \$\$.*?\$\$
    | --[^\n]* | /\*
    """,
    re.VERBOSE | re.DOTALL,
)
_MYSQL = re.compile(
    r"""
      '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*"
    | \#[^\n]* | --(?=\s|\Z)[^\n]* | /\*(?![!M]).*?(?:\*/|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)


def strip_postgres(query: str) -> str:
    """Return the query with a blank for each string and comment (they nest), in PostgreSQL's grammar."""
    parts: list[str] = []
    place = 0
    while match := _POSTGRES.search(query, place):
        parts.append(query[place : match.start()])
        place = _comment_end(query, match.end()) if match.group() == "/*" else match.end()
        parts.append(" ")
    parts.append(query[place:])
    return "".join(parts)


def _comment_end(query: str, place: int) -> int:
    depth = 1
    for match in re.finditer(r"/\*|\*/", query[place:]):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return place + match.end()
    return len(query)


def strip_mysql(query: str) -> str:
    """Return the query with a blank for each string and comment, in MySQL's grammar; ``/*!`` stays, it is code."""
    return _MYSQL.sub(lambda match: " '' " if match.group()[0] in "'\"" else " ", query)


def first_word(stripped: str) -> str:
    """Return the first word, lower-cased, opening brackets left out; empty if there is none."""
    match = re.match(r"[\s(\ufeff]*([A-Za-z_]+)", stripped)
    return match.group(1).lower() if match else ""


def find_call(stripped: str, forbidden: re.Pattern[str]) -> str:
    """Return the first forbidden function that is called, or nothing. The pattern is matched against whole names."""
    for match in re.finditer(r"[\"`]?([A-Za-z_][A-Za-z0-9_$]*)[\"`]?\s*\(", stripped):
        if forbidden.fullmatch(match.group(1).lower()):
            return match.group(1).lower()
    return ""
