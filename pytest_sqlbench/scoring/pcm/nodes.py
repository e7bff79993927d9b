"""What a parsed query keeps: the parts of JSqlParser 3.2's tree that the official reader looks at, and no more.

A part that the reader never sees (join types, casts' types, the inside of parentheses) has no place here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opaque:
    """An expression that the reader sees and takes nothing from: a parenthesis, a sign, NOT, an interval."""

    is_null: bool = False
    """The NULL literal, which the reader takes for an absent expression."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a string literal: strings reach the grammar in double quotes, as quoted names."""

    name: str
    """The last part of the name, quotes kept."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or the current time."""

    text: str = ""
    """As written; empty for decimals and hexadecimals, which TOP and GROUP BY do not see."""
    value: str = ""
    """As an operand counts it; empty for zero, which the reader takes for absent, and for the current time."""


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a named parameter, or the part that EXTRACT takes."""

    name: str


@dataclass(frozen=True, slots=True)
class Function:
    """A call. The parameters are read in a select list, GROUP BY or ORDER BY, never in a condition."""

    name: str
    parameters: tuple[Expression, ...] = ()
    has_star: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A function with OVER: its argument, its partition and its frame are not read."""

    name: str
    has_star: bool
    order: tuple[OrderKey, ...] | None
    """None for WITHIN GROUP, whose order is not read either."""


@dataclass(frozen=True, slots=True)
class Case:
    """The WHEN and THEN pairs of a CASE; its operand and its ELSE are not read."""

    branches: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """Anything with operands: comparison, arithmetic, AND, LIKE, IN, EXISTS, BETWEEN, IS NULL, CAST, COLLATE."""

    left: Expression | None
    right: Expression | None = None
    operator: str = ""
    """The text that counts; empty where there is none (IN, BETWEEN, IS NULL, CAST)."""
    is_negated: bool = False
    members: tuple[Expression, ...] | None = None
    """Of an IN: the listed values, empty for a sub-query; None for every other operation."""


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of an ORDER BY."""

    expression: Expression
    is_ascending: bool


@dataclass(frozen=True, slots=True)
class AllColumns:
    """``*`` in a select list; ``t.*`` is an `Opaque`."""


@dataclass(frozen=True, slots=True)
class Table:
    """A named table."""

    full_name: str
    """With database and schema, as the first table of FROM counts."""
    name: str
    """The last part, as a joined table counts."""


@dataclass(frozen=True, slots=True)
class Join:
    """One more table of a FROM and its ON condition; the kind of join is not read."""

    source: Source
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT. A VALUES list or a set operation inside another counts as one without any part."""

    items: tuple[Expression | AllColumns, ...] = ()
    top: Expression | None = None
    limit: str | None = None
    """The count as written; empty for one that the official reader stumbles over (ALL, NULL, a parameter)."""
    source: Source = None
    joins: tuple[Join, ...] = ()
    where: Expression | None = None
    group: tuple[Expression, ...] = ()
    having: Expression | None = None
    order: tuple[OrderKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query or a sub-query: the select bodies in the reader's order, its common table expressions last."""

    bodies: tuple[Select, ...]
    is_set: bool = False
    """A set operation, or a SELECT in parentheses with an ORDER BY after it: inside another one nothing is read."""


Expression = Opaque | Column | Constant | Name | Function | Window | Case | Operation | Query
Source = Table | Query | None
"""None: a table function, a VALUES list or joined tables in parentheses, from which nothing is read."""

NULL = Opaque(is_null=True)
OPAQUE = Opaque()
EMPTY_SELECT = Select()
