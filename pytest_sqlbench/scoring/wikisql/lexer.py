"""Tokens of a SQLite query, exactly as SQLite cuts them, in one regular expression; no grammar."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_TEXT = 100_000
"""Characters; a longer text is not read."""


class Token(NamedTuple):
    """One token: its kind, its text, and for quoted kinds the name or value inside."""

    kind: str
    """``word``, ``quoted`` (an identifier in any quotes), ``string``, ``number``, ``sign`` or ``bad``."""
    text: str
    value: str
    start: int


_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n\f\r]+|--[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))
  | (?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![A-Za-z0-9_$\x80-\U0010ffff]))
  | (?P<sign><=|>=|<>|!=|==|\|\||<<|>>|[-+*/%=<>(),.;&|~])
  | (?P<bad>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str) -> list[Token]:
    """Cut a text into tokens; white space and comments are left out, what SQLite would not accept is ``bad``."""
    tokens = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "bad"
        if kind == "space":
            continue
        raw = found.group()
        value = raw
        if kind in ("string", "quoted"):
            mark = raw[0]
            value = raw[1:-1] if mark == "[" else raw[1:-1].replace(mark * 2, mark)
        tokens.append(Token(kind, raw, value, found.start()))
    return tokens
