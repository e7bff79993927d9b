"""The PostgreSQL server of the engines' tests."""

from tests.engines.conftest import postgres_url

__all__ = ["postgres_url"]
