"""Logical forms: reading, equality, the official and the strict statement. Pure, like all of `scoring/`."""
