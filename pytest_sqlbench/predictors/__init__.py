"""Edges: a case in, a `Prediction` out."""
