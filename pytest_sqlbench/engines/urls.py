"""Addresses of servers: passwords come from the environment and are never shown."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from pytest_sqlbench.errors import UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRETS = ("password", "passwd", "passfile", "sslpassword", "token", "secret", "pwd", "motherduck_token")


def check_url(url: str) -> None:
    """Refuse a URL that holds a password in plain sight.

    Raises:
        UsageError: It does, or it is no URL.
    """
    parts = urlsplit(url)
    if not parts.scheme or not url.startswith(f"{parts.scheme}:"):
        raise UsageError(f"database URL {hide_secrets(url)!r} has no scheme. Wanted: postgresql://user@host/database")
    found = [parts.password or ""] + [value for key, value in parse_qsl(parts.query) if key.lower() in _SECRETS]
    if any(value and not _VARIABLE.fullmatch(value) for value in found):
        raise UsageError(
            f"database URL {hide_secrets(url)!r} holds a password. Write ${{NAME}} in its place and set that variable."
        )


def fill_url(url: str) -> str:
    """Return the URL with each ``${NAME}`` replaced by that environment variable, escaped for its place.

    Raises:
        UsageError: A variable is not set, or the URL holds a password in plain sight.
    """
    check_url(url)

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in os.environ:
            raise UsageError(f"database URL {hide_secrets(url)!r} needs the environment variable {name}")
        return quote(os.environ[name], safe="")

    return _VARIABLE.sub(value, url)


def hide_secrets(url: str) -> str:
    """Return the URL for a report: with ``***`` for whatever may be a password, and no ``${NAME}`` filled in."""
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        return "***"
    place = parts.netloc
    if password:
        head, _, host = place.rpartition("@")
        shown = password if _VARIABLE.fullmatch(password) else "***"
        place = f"{head.partition(':')[0]}:{shown}@{host}"
    query = "&".join(_hidden(item) for item in parts.query.split("&")) if parts.query else ""
    return urlunsplit((parts.scheme, place, parts.path, query, parts.fragment))


def _hidden(item: str) -> str:
    key, _, value = item.partition("=")
    return item if key.lower() not in _SECRETS or _VARIABLE.fullmatch(value) else f"{key}=***"


def engine_of(url: str) -> str:
    """Return the engine that a URL's scheme asks for; what is not known by name goes through SQLAlchemy."""
    scheme = urlsplit(url).scheme.split("+", 1)
    if scheme[0] in ("postgresql", "postgres") and scheme[1:] in ([], ["psycopg"]):
        return "postgres"
    if scheme[0] in ("mysql", "mariadb") and scheme[1:] in ([], ["pymysql"]):
        return "mysql"
    return "sqlalchemy"
