"""Short ways to write result sets and to run queries in tests of the comparison."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from pytest_sqlbench.result import QueryFailure, ResultSet, Row, Status
from pytest_sqlbench.scoring.order import GoldOrder


def table(*rows: Sequence[object], columns: str = "") -> ResultSet:
    """Make a result set of rows; columns are named by the words of `columns`, or c1, c2 and so on."""
    width = len(rows[0]) if rows else 1
    labels = tuple(columns.split()) if columns else tuple(f"c{place + 1}" for place in range(width))
    made: list[Row] = [tuple(row) for row in rows]
    return ResultSet(labels, made)


def query(connection: sqlite3.Connection, sql: str) -> ResultSet | QueryFailure:
    """Run a query as a bare engine would."""
    try:
        cursor = connection.execute(sql)
        rows = cursor.fetchall()
    except sqlite3.Error as error:
        return QueryFailure(Status.ERROR, str(error))
    if cursor.description is None:
        return QueryFailure(Status.NO_RESULT_SET, "no result set")
    return ResultSet(tuple(item[0] for item in cursor.description), rows)


def order_of(connection: sqlite3.Connection, sql: str) -> GoldOrder:
    """Return what a gold says of row order, with a connection to look keys up."""
    return GoldOrder(sql, "sqlite", lambda variant: query(connection, variant))
