"""Addresses of servers: filled from the environment, never shown with a secret."""

from __future__ import annotations

import pytest

from pytest_sqlbench.engines.urls import check_url, engine_of, fill_url, hide_secrets
from pytest_sqlbench.errors import UsageError


@pytest.mark.parametrize(
    "url, shown",
    [
        ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann:pw@host:5/db", "postgresql://ann:***@host:5/db"),
        ("postgresql://ann:${PW}@host/db", "postgresql://ann:${PW}@host/db"),
        ("postgresql://host/db?user=ann&password=pw", "postgresql://host/db?user=ann&password=***"),
        ("mysql://ann:p@w@host/db", "mysql://ann:***@host/db"),
        ("http://[broken", "***"),
    ],
)
def test_what_is_shown_holds_no_secret(url: str, shown: str) -> None:
    assert hide_secrets(url) == shown


def test_variables_are_filled_and_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", "a/b@c")
    assert fill_url("postgresql://ann:${PW}@host/db") == "postgresql://ann:a%2Fb%40c@host/db"


def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PW", raising=False)
    with pytest.raises(UsageError, match="needs the environment variable PW"):
        fill_url("postgresql://ann:${PW}@host/db")


@pytest.mark.parametrize("url", ["postgresql://ann:pw@host/db", "mysql://host/db?password=pw", "postgres"])
def test_a_plain_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_url(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "url, engine",
    [
        ("postgresql://h/d", "postgres"),
        ("postgres://h/d", "postgres"),
        ("postgresql+psycopg://h/d", "postgres"),
        ("postgresql+pg8000://h/d", "sqlalchemy"),
        ("mariadb://h/d", "mysql"),
        ("mysql+pymysql://h/d", "mysql"),
        ("mssql+pyodbc://h/d", "sqlalchemy"),
    ],
)
def test_the_scheme_chooses_the_engine(url: str, engine: str) -> None:
    assert engine_of(url) == engine
