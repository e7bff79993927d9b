"""Picks the statement out of a model's reply: one recorded, switchable step. The reply itself is never altered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pytest_sqlbench.verdict import Reason

MAX_REPLY = 1_000_000
"""Characters of a reply that are looked at; a longer one is no answer."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in a reply."""

    sql: str | None
    steps: tuple[str, ...] = ()
    """What was done to get there, such as ``fence``, ``prose``, ``escapes``; empty if the reply is the statement."""
    trouble: Reason | None = None
    """NO_SQL or SEVERAL_STATEMENTS; None if there is exactly one statement."""


Level = Literal["full", "fences", "off"]
"""``off``: the reply as it came. ``fences``: a fence round the reply and ``\\_`` are undone, as scripts do."""


def extract_query(reply: str, dialect: str = "", level: Level = "full") -> Extraction:
    """Pick the one statement out of a reply.

    In this order: reasoning between ``<think>`` tags goes; the first fenced block that reads like a query is
    taken (of any label, closed or not); else prose before and after the statement goes; Markdown's ``\\_``
    is undone outside of text literals; closing semicolons go.

    Args:
        reply: What the model said.
        dialect: ``sparql`` for SPARQL; every other value means SQL.
        level: How much is done; the above is ``full``.

    Returns:
        The statement, or the reason why there is none. Two statements are no answer: picking one would be a guess.
    """
    is_sparql = dialect == "sparql"
    if level == "off":
        return Extraction(reply) if reply.strip() else Extraction(None, (), Reason.NO_SQL)
    if _is_plain(reply) and not is_sparql:
        return Extraction(reply.strip())
    if len(reply) > MAX_REPLY:
        return Extraction(None, ("too long",), Reason.NO_SQL)
    steps: list[str] = []
    if level == "fences":
        text = _undo_escapes(_open_outer_fence(reply, steps), steps).strip()
        return Extraction(text or None, tuple(steps), None if text else Reason.NO_SQL)
    text = _drop_reasoning(reply, steps)
    text = _drop_fences(text, _SPARQL_START if is_sparql else _SQL_START, steps)
    text = _drop_prose(text, is_sparql, steps)
    if is_sparql:
        return Extraction(text or None, tuple(steps), None if text else Reason.NO_SQL)
    text = _undo_escapes(text, steps)
    return _single_statement(text, steps)


_CTE = r"(?i:with)\s+(?:(?i:recursive)\s+)?[\w\"\[`]+\s*(?:\([^()]*\)\s*)?(?i:as)\s*\("
_PLAIN_START = re.compile(rf"\s*(?:(?i:select)\b|{_CTE})")
_NOT_PLAIN = re.compile(r"```|~~~|;|\\[_*]|<think|</think|\n\s*\n")


def _is_plain(reply: str) -> bool:
    return _PLAIN_START.match(reply) is not None and _NOT_PLAIN.search(reply) is None and len(reply) <= MAX_REPLY


def _drop_reasoning(text: str, steps: list[str]) -> str:
    lowered = text.lower()
    end = lowered.rfind("</think>")
    if end >= 0:
        steps.append("reasoning")
        return text[end + len("</think>") :]
    start = lowered.find("<think>")
    if start < 0:
        return text
    steps.append("reasoning")
    return text[:start]


_SQL_START = re.compile(
    r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*\(*\s*(?:select|with|values|table|from|insert|update|delete|create|drop|alter"
    r"|pragma|explain|show|call|exec|declare|merge|replace|truncate|vacuum|attach|copy|set|use|begin|pivot)\b",
    re.IGNORECASE | re.DOTALL,
)
_SPARQL_START = re.compile(
    r"\s*(?:#[^\n]*\n\s*)*(?:prefix|base|select|ask|construct|describe|insert|delete|load|clear|drop)\b", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([A-Za-z0-9_+.\-]*)[ \t]*(.*)$", re.MULTILINE)


def _drop_fences(text: str, start: re.Pattern[str], steps: list[str]) -> str:
    if "```" not in text and "~~~" not in text:
        return text
    blocks = _find_blocks(text)
    if not blocks:
        return text
    chosen = next((index for index, block in enumerate(blocks) if start.match(block)), None)
    if chosen is None:
        outside = _find_outside(text)
        if start.match(outside):
            steps.append("fence")
            return outside
        chosen = 0
    steps.append("fence" if len(blocks) == 1 else f"fence {chosen + 1} of {len(blocks)}")
    return blocks[chosen]


def _open_outer_fence(text: str, steps: list[str]) -> str:
    """Return the inside of the fence that the reply begins with, closed or not, or the whole text."""
    if not text.lstrip().startswith(("```", "~~~")):
        return text
    steps.append("fence")
    return _drop_label(re.split(r"`{3,}|~{3,}", text)[1])


def _find_outside(text: str) -> str:
    """Return what stands before the first fence: some replies only close one that was never opened."""
    return re.split(r"`{3,}|~{3,}", text, maxsplit=1)[0]


def _find_blocks(text: str) -> list[str]:
    """Return the insides of all fenced blocks; the last may be unclosed, and a fence may open in mid-line."""
    pieces = re.split(r"`{3,}|~{3,}", text)
    return [_drop_label(piece) for piece in pieces[1::2] if piece.strip()]


_LABEL = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9_+.\-]*)?[ \t]*\r?\n")
_INLINE_LABEL = re.compile(r"[ \t]*(?:sqlite3?|sql|tsql|t-sql|mysql|postgres(?:ql)?|duckdb|sparql)\s+", re.IGNORECASE)


def _drop_label(block: str) -> str:
    label = _LABEL.match(block)
    if label is not None and not _is_keyword(label.group(1)):
        return block[label.end() :]
    inline = _INLINE_LABEL.match(block)
    return block[inline.end() :] if inline is not None else block


def _is_keyword(word: str | None) -> bool:
    return word is not None and word.lower() in ("select", "with", "values", "prefix", "ask")


_SQL_IN_PROSE = re.compile(rf"(?:^|(?<=[:\n`]))[ \t]*((?i:select)\s|{_CTE})|\b(SELECT\s|{_CTE})", re.MULTILINE)
_SPARQL_IN_PROSE = re.compile(
    r"^[ \t]*((?i:prefix|base|select|ask|construct|describe)\s)|\b((?:PREFIX|SELECT|ASK)\s)", re.MULTILINE
)
_GOES_ON = re.compile(
    r"\s*(?:[(),+\-*/|=<>.;'\"\[`{}?#]|(?:select|from|where|group|order|having|limit|offset|union|intersect|except|minus"
    r"|join|left|right|full|inner|outer|cross|natural|on|and|or|not|as|case|when|then|else|end|in|exists|between|like"
    r"|is|null|with|window|fetch|values|using|distinct|prefix|optional|filter|bind|service|graph)\b|\w+\s*[(,.])",
    re.IGNORECASE,
)


def _drop_prose(text: str, is_sparql: bool, steps: list[str]) -> str:
    start = _SPARQL_START if is_sparql else _SQL_START
    stripped = text.strip()
    if not start.match(stripped) or _reads_as_prose(stripped):
        found = (_SPARQL_IN_PROSE if is_sparql else _SQL_IN_PROSE).search(stripped)
        if found is None:
            return stripped if start.match(stripped) else ""
        begin = found.start(1) if found.group(1) is not None else found.start(2)
        if begin:
            steps.append("prose before")
            stripped = stripped[begin:]
    return _drop_prose_after(stripped, steps)


_ENGLISH_TOO = ("With", "From", "Use", "Set", "Show", "Table", "Call", "Create", "Begin")
_CTE_HEAD = re.compile(r"\w+\s+\w+\s*(?:\(|(?i:as)\b)")


def _reads_as_prose(text: str) -> bool:
    """Catch English that begins with a word SQL knows too: ``With the tables given, the query is: …``."""
    words = text.split(None, 3)[:3]
    if len(words) < 3 or words[0] not in _ENGLISH_TOO:
        return False
    return words[1].lower() in ("the", "a", "an", "this") or _CTE_HEAD.match(text) is None


def _drop_prose_after(text: str, steps: list[str]) -> str:
    for gap in re.finditer(r"\n[ \t]*\r?\n", text):
        rest = text[gap.end() :]
        before = text[: gap.start()].rstrip()
        if rest.strip() and not _GOES_ON.match(rest) and not before.endswith((",", "(", "AND", "OR")):
            steps.append("prose after")
            return before
    return text


_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]\n]*\]|--[^\n]*|/\*.*?\*/|\$\$.*?\$\$|;|\\(?=[_*])", re.DOTALL
)


def _undo_escapes(text: str, steps: list[str]) -> str:
    if "\\_" not in text and "\\*" not in text:
        return text
    keeps_literals = re.search(r"\bescape\b", text, re.IGNORECASE) is not None

    def undo(token: re.Match[str]) -> str:
        found = token.group()
        if found == "\\":
            return ""
        return found if keeps_literals else found.replace("\\_", "_").replace("\\*", "*")

    changed = _TOKEN.sub(undo, text)
    if changed != text:
        steps.append("escapes")
    return changed


def split_statements(text: str) -> list[str]:
    """Split SQL text at its semicolons, which in literals, quoted names and comments do not count."""
    parts: list[str] = []
    begin = 0
    for token in _TOKEN.finditer(text):
        if token.group() == ";":
            parts.append(text[begin : token.start()])
            begin = token.end()
    parts.append(text[begin:])
    return parts


def _single_statement(text: str, steps: list[str]) -> Extraction:
    parts = split_statements(text) if ";" in text else [text]
    while len(parts) > 1 and _is_blank(parts[-1]):
        parts.pop()
    first, rest = parts[0], parts[1:]
    if _is_blank(first) and not any(_SQL_START.match(part) for part in rest):
        return Extraction(None, tuple(steps), Reason.NO_SQL)
    if any(_SQL_START.match(part) for part in rest):
        return Extraction(text.strip(), tuple(steps), Reason.SEVERAL_STATEMENTS)
    if rest:
        steps.append("prose after")
    return Extraction(first.strip(), tuple(steps))


def _is_blank(text: str) -> bool:
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return not bare.strip()
