"""Servers for the tests of this folder, each started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.servers import run_mariadb, run_postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The superuser's URL of a PostgreSQL server."""
    pytest.importorskip("psycopg")
    with run_postgres() as url:
        yield url


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    """The URL of a MariaDB server's root."""
    pytest.importorskip("pymysql")
    with run_mariadb() as url:
        yield url
