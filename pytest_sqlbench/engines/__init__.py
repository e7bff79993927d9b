"""Edges: a query in, a `ResultSet` or a `QueryFailure` out."""
