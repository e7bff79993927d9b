"""Makes a SPARQL query safe and complete before an engine sees it: a scanner over tokens, pure, no grammar, no engine.

The engine reads greedily and without word boundaries: ``1SERVICE<…>`` and ``SERVICEex:a`` are remote calls to it. So
comments are dropped, and no token that is passed on can be read as ``SERVICE``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_sqlbench.result import QueryFailure, Status

MAPPED = "mapped"
"""Local name of the service that stands for the graph itself, as in ``SERVICE <mapped> { … }``."""

MAX_CHARACTERS = 100_000
MAX_DEPTH = 100
"""Open brackets at one time; the engine's own parser overflows its stack at about ten times that."""

UPDATE_FORMS = frozenset(["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"])

_ESCAPE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_MARK = r"\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:[\w:%]|{_MARK})(?:(?:[\w:%·.-]|{_MARK})*(?:[\w:%·-]|{_MARK}))?"
_TOKEN = re.compile(
    rf"""
      (?P<comment>\#[^\r\n]*)
    | (?P<iri><(?:[^<>"{{}}|^`\\\x00-\x20]|{_ESCAPE})*>)
    | (?P<text>\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\" | '''(?:[^'\\]|\\.|'(?!''))*'''
             | "(?:[^"\\\r\n]|\\.)*" | '(?:[^'\\\r\n]|\\.)*')
    | (?P<variable>[?$]\w+)
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9-]+)*)
    | (?P<name>(?:[^\W\d_](?:[\w.·-]*[\w·-])?)?:(?:{_LOCAL})?)
    | (?P<word>[^\W\d_]\w*)
    | (?P<space>\s+)
    | (?P<sign>[\d+*/=|&,;!.^-]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    @property
    def keyword(self) -> str:
        return self.text.upper() if self.kind == "word" else ""


class _RefusedError(Exception):
    """Carries the failure out of the scan; never leaves this module."""


def prepare_query(query: str) -> str | QueryFailure:
    """Return the query with the services of the mapping unwrapped; refuse what is not a read of the graph.

    ``SERVICE <mapped> {…}`` becomes the plain group ``{…}``; ``mapped`` may be any IRI or prefixed name whose last part
    is that word. Any other ``SERVICE``, every ``FROM``, and every update is refused with `Status.DENIED`. A text
    outside the limits of length and nesting is refused too. Grammar is left to the engine.
    """
    if len(query) > MAX_CHARACTERS:
        return _denied(f"the query has {len(query)} characters; at most {MAX_CHARACTERS} are read")
    tokens = [token for token in _tokens(query) if token.kind != "comment"]
    form = _query_form(tokens)
    if form in UPDATE_FORMS:
        return _denied(f"{form} is an update; only queries are run")
    try:
        _check_depth(tokens)
        kept = _unwrap_services(tokens)
    except _RefusedError as refusal:
        return _denied(str(refusal))
    return "".join(token.text for token in kept)


def _denied(message: str) -> QueryFailure:
    return QueryFailure(Status.DENIED, message[:500])


def _tokens(query: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(query):
        kind = str(found.lastgroup)
        yield _Token(kind, _disarm(kind, found.group()))


def _disarm(kind: str, text: str) -> str:
    """Break the word SERVICE in a prefix, which the engine would read as the keyword; declaration and use alike."""
    if kind != "name":
        return text
    prefix, colon, local = text.partition(":")
    return re.sub("service", "s-ervice", prefix, flags=re.IGNORECASE) + colon + local


def _query_form(tokens: list[_Token]) -> str:
    """Return the first keyword after the declarations, in upper case; empty if there is none."""
    for token in tokens:
        if token.keyword and token.keyword not in ("PREFIX", "BASE", "VERSION"):
            return token.keyword
    return ""


def _check_depth(tokens: list[_Token]) -> None:
    depth = 0
    for token in tokens:
        if token.kind != "sign":
            continue
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise _RefusedError(f"brackets are nested more than {MAX_DEPTH} deep")


def _unwrap_services(tokens: list[_Token]) -> list[_Token]:
    kept: list[_Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.keyword == "SERVICE":
            index = _skip_mapped(tokens, index + 1)
            kept.append(_Token("space", " "))
            continue
        if token.keyword in ("FROM", "LOAD"):
            raise _RefusedError(f"{token.keyword} is refused: a query reads its own graph only")
        if "SERVICE" in token.keyword:
            raise _RefusedError(f"{token.text[:40]!r} is refused: it can be read as SERVICE")
        kept.append(token)
        index += 1
    return kept


def _skip_mapped(tokens: list[_Token], index: int) -> int:
    """Return the index of the ``{`` of a service of the mapping, given what follows ``SERVICE``; refuse any other."""
    found = [place for place in range(index, min(index + 8, len(tokens))) if tokens[place].kind != "space"]
    if found and tokens[found[0]].keyword == "SILENT":
        found = found[1:]
    if len(found) < 2:
        raise _RefusedError("SERVICE is refused: no group follows it")
    target, opening = tokens[found[0]], tokens[found[1]]
    if target.kind not in ("iri", "name") or re.split(r"[/#:<]", target.text.rstrip(">"))[-1] != MAPPED:
        raise _RefusedError(f"SERVICE {target.text[:80]} is refused: only the mapping's own {MAPPED!r} is answered")
    if opening.text != "{":
        raise _RefusedError(f"SERVICE {target.text[:80]} is refused: no group follows it")
    return found[1]
