"""Where two queries differ, marked word by word and set by clause: ``[-gold-]`` and ``{+predicted+}``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_WORDS = 400
"""Words of a query beyond which nothing is compared."""
LEAST_SHARED = 0.25
"""The share of words in common below which the two are simply different queries."""

_WORD = re.compile(r"""'(?:[^']|'')*'|(?:(?:"[^"]*"|[A-Za-z_]\w*)\.)?(?:"[^"]*"|\w+)|<>|!=|<=|>=|\|\||[^\w\s]""")
_IDLE = {"as", "inner", "outer", "asc", ";"}
"""Words that change nothing."""
_AFTER_TABLE = set(
    "on using where group order having limit join inner left right full cross natural union except intersect".split()
)
_CLAUSES = {"from", "where", "group", "having", "order", "limit", "join", "left", "right", "full", "cross", "union",
            "intersect", "except", "and", "or"}  # fmt: skip


@dataclass(slots=True)
class _Word:
    text: str
    name: str
    """In lower case, without quotes and qualifier."""
    table: str = ""
    """The qualifier, an alias resolved to its table."""


def diff_queries(gold: str, predicted: str) -> list[str]:
    """Return the clauses of both queries merged, one a line, with marks where they differ.

    Aliases of tables, qualifiers that one writer leaves out, case, AS and INNER are no difference.

    Returns:
        No line where the queries are too long, have too little in common, or say the same.
    """
    old, new = _read(gold), _read(predicted)
    if not old or not new or max(len(old), len(new)) > MOST_WORDS:
        return []
    matcher = SequenceMatcher(None, [word.name for word in old], [word.name for word in new], autojunk=False)
    if matcher.ratio() < LEAST_SHARED:
        return []
    pieces: list[tuple[str, str]] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            for left, right in zip(old[a:b], new[c:d], strict=True):
                if left.table and right.table and left.table != right.table:
                    pieces += [("-", left.text), ("+", right.text)]
                else:
                    pieces.append(("", left.text))
        else:
            pieces += [("-", word.text) for word in old[a:b]] + [("+", word.text) for word in new[c:d]]
    return _set(pieces) if any(kind for kind, _ in pieces) else []


def is_changed(line: str) -> bool:
    """True if a line of `diff_queries` holds a mark."""
    return "[-" in line or "{+" in line


def _read(query: str) -> list[_Word]:
    if len(query) > 40 * MOST_WORDS:
        return []
    words: list[_Word] = []
    for text in _WORD.findall(query):
        plain = text if text.startswith("'") else text.lower().replace('"', "").replace("<>", "!=")
        table, dot, name = plain.partition(".") if plain[:1].isalpha() or plain[:1] == "_" else ("", "", "")
        word = _Word(text, name, table) if dot else _Word(text, plain)
        if word.name not in _IDLE:
            words.append(word)
    return _resolve(words)


def _resolve(words: list[_Word]) -> list[_Word]:
    """Take out aliases of tables, and put the tables in their place."""
    aliases: dict[str, str] = {}
    places: set[int] = set()
    for place in range(len(words) - 2):
        before, table, alias = words[place : place + 3]
        is_table = before.name in ("from", "join") and table.name.isidentifier()
        if is_table and alias.text.isidentifier() and alias.name not in _AFTER_TABLE:
            aliases[alias.name] = table.name
            places.add(place + 2)
    for word in words:
        word.table = aliases.get(word.table, word.table)
    return [word for place, word in enumerate(words) if place not in places]


def _set(pieces: list[tuple[str, str]]) -> list[str]:
    """Join pieces of one kind, and begin a line at each clause outside of brackets."""
    lines: list[list[tuple[str, list[str]]]] = [[]]
    depth = 0
    before = ""
    for kind, text in pieces:
        name = text.lower()
        # LEFT JOIN and the AND of BETWEEN stay on their line
        starts = name in _CLAUSES and not (name == "join" and before in ("left", "right", "full", "cross"))
        if depth == 0 and starts and not (name == "and" and "between" in _last_words(lines[-1])):
            lines.append([])
        depth += {"(": 1, ")": -1}.get(text, 0)
        line = lines[-1]
        if line and line[-1][0] == kind:
            line[-1][1].append(text)
        else:
            line.append((kind, [text]))
        before = name
    return [" ".join(_mark(kind, words) for kind, words in line) for line in lines if line]


def _last_words(line: list[tuple[str, list[str]]]) -> list[str]:
    return [word.lower() for _, words in line for word in words][-3:]


def _mark(kind: str, words: list[str]) -> str:
    text = re.sub(r"\s+([,)])", r"\1", re.sub(r"([(])\s+", r"\1", " ".join(words)))
    text = re.sub(r"(\w)\s+\(", r"\1(", text)
    return {"-": f"[-{text}-]", "+": f"{{+{text}+}}", "": text}[kind]
