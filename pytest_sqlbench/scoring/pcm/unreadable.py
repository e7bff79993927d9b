"""The one way in which a text is no query to the official parser. Caught where the score is made, never shown bare."""

from __future__ import annotations

from pytest_sqlbench.errors import SqlbenchError


class Unreadable(SqlbenchError):  # noqa: N818 - a finding about a text, like UnscorableGold
    """The official path gets no SELECT out of this text; the message says what stopped it."""
