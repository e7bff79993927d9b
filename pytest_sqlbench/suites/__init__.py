"""Edges: one reader per suite format, files in and `Suite` out."""
