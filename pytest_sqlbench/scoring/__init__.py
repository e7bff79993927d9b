"""Judgement: pure functions over queries, result sets and verdicts."""
