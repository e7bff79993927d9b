"""Judgement: verdicts in, text for people out."""
