"""Splits a cleaned query into the tokens of JSqlParser 3.2. The text is ASCII, lower-case, and without apostrophes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_sqlbench.scoring.pcm.unreadable import Unreadable

KEYWORDS = frozenset(
    """
    action add advance against algorithm all alter analyze and any apply as asc authorization begin between binary bit
    both by cache buffers byte call cascade case cast character change check char collate column columns commit comment
    connect constraint costs create cross current cycle declare date time timestamp year month day hour minute second
    default deferrable delayed delete desc describe disable distinct div do double drop duplicate else enable end escape
    except exclude exec execute exists explain extract fetch filter first false following for force foreign format from
    full fulltext function global grant group grouping group_concat having high_priority hopping if iif ignore ilike in
    include increment index inner straight_join insert intersect interval into is isnull join json keep key fn last
    lateral leading left like limit low_priority match matched materialized maxvalue merge minus minvalue modify
    movement natural next nextval no nocache nocycle nokeep nolock nomaxvalue nominvalue noorder not novalidate null
    nulls nowait of off offset on only open or order outer over optimize partition path percent pivot placing preceding
    precision primary prior procedure range read recursive references regexp rlike rename replace restrict returning
    right row rows schema select sel semi sequence separator session set sets show siblings similar size skip some start
    table tablespace then temp temporary to top trailing truncate true tumbling type unbounded union unique unlogged
    unpivot update upsert use sql_calc_found_rows sql_no_cache using signed unsigned validate value values varying
    verbose view wait when where window with within without xml yaml zone
    """.split()
)
CLOCKS = frozenset({"current_timestamp", "current_time", "current_date"})
DAY_TYPES = frozenset({"date", "time", "timestamp"})
DATE_PARTS = frozenset({"year", "month", "day", "hour", "minute", "second"})

# Keywords that may stand as a name, in five widths: the grammar asks for one of them at every name.
_PLAIN = {"identifier", "quoted"}
_NARROW = (
    _PLAIN
    | DAY_TYPES
    | DATE_PARTS
    | set(
        """
        byte char change character cast comment disable do extract first following last materialized nulls partition
        range row rows siblings xml column replace truncate key any open over percent prior separator no action cascade
        end table commit precision insert index primary enable unsigned temp temporary type isnull zone columns describe
        fn path nextval true false duplicate read schema size session view nolock validate cycle
        """.split()
    )
)
IDENTIFIERS = frozenset(_PLAIN)
ALIASES = frozenset(_NARROW | {"top", "value", "values", "interval"})
NAMES = frozenset(_NARROW | {"group", "interval", "on", "order", "start", "top", "value", "values", "create"})
FIRST_NAMES = frozenset(NAMES | {"left", "right", "set", "double", "if", "optimize", "limit", "offset", "procedure"})
NEXT_NAMES = frozenset(FIRST_NAMES | {"from", "select", "sel"})

# Longest match first; `#` and `$` begin a name, `@` only continues one.
_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<clock>current_(?:timestamp|time|date)\(\))
    |(?P<word>[a-z_$\#][\w$\#@\x00-\x08\x0e-\x1b\x7f]*)
    |(?P<hexadecimal>0x[0-9a-f]+)
    |(?P<decimal>\d*\.\d+(?:e[+-]?\d+)?|\d+\.(?:e[+-]?\d+)?|\d+e[+-]?\d+)
    |(?P<integer>\d+)
    |(?P<quoted>"[^"\n\r]*"|`[^`\n\r]+`)
    |--[^\r\n]*|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/|(?P<unclosed>/\*)
    |(?P<symbol>>\s*=|<\s*=|<\s*>|!\s*=|\|\s*\||&&|@@|~\*|!~\*?|@>|<@|\?\||\?&|-\#|->>?|::|<<|>>
      |[-+*/%^|&=<>(),.:;?@~!{}\[\]])
    |(?P<stray>.))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


END = ""
"""The kind of what follows the last token; ``end`` is a keyword."""
LOOKAHEAD = 8
"""How many `END` tokens follow."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Kinds and texts side by side, ended by several `END` tokens so that looking ahead needs no check.

    The kind is the keyword or symbol itself, else identifier, quoted, integer, decimal, hexadecimal or clock.
    """

    kinds: list[str]
    texts: list[str]


def split_tokens(text: str) -> Tokens:
    """Split a cleaned query into tokens.

    Raises:
        Unreadable: A character that begins no token, or a comment without an end.
    """
    kinds: list[str] = []
    texts: list[str] = []
    for found in _TOKEN.finditer(text.rstrip(" \t\r\n")):
        kind = found.lastgroup
        if kind is None:  # a comment
            continue
        part = found[kind]
        if kind == "word":
            kind = part if part in KEYWORDS else "clock" if part in CLOCKS else "identifier"
        elif kind == "symbol":
            kind = part if len(part) == 1 else _without_spaces(part)
        elif kind in ("stray", "unclosed"):
            raise Unreadable(f"no token begins at {text[found.start() : found.start() + 20]!r}")
        kinds.append(kind)
        texts.append(part)
    kinds.extend([END] * LOOKAHEAD)
    texts.extend([""] * LOOKAHEAD)
    return Tokens(kinds, texts)


def _without_spaces(symbol: str) -> str:
    """Name an operator by its signs; the official grammar allows white space between them."""
    return "".join(symbol.split())
