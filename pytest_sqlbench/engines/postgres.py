"""PostgreSQL: each query is one read-only cursor in a transaction that is rolled back, on a connection of its own."""

from __future__ import annotations

import importlib.util
import re
from urllib.parse import urlsplit, urlunsplit

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.lexing import find_call, first_word, strip_postgres
from pytest_sqlbench.engines.server import ServerEngine, note_unstable, read_url, strip_query
from pytest_sqlbench.engines.urls import fill_url, hide_secrets
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

FORBIDDEN = re.compile(
    r"lo_\w+|loread|lowrite|pg_notify|pg_terminate_backend|pg_cancel_backend|pg_(?:try_)?advisory_\w+|set_config"
    r"|pg_reload_conf|pg_rotate_logfile\w*|pg_read_\w+|pg_ls_\w+|pg_stat_file|pg_file_\w+|pg_stat_reset\w*"
    r"|pg_logical_\w+|pg_export_snapshot|pg_create_\w+|pg_drop_\w+|pg_copy_\w+|pg_switch_wal|pg_promote|pg_wal_replay_\w+"
    r"|pg_(?:start_|stop_)?backup\w*|pg_log_\w+|pg_replication_\w+|pg_sync_\w+|pg_import_\w+|pg_extension_config_dump"
    r"|pg_prewarm|dblink\w*|postgres_fdw\w*|query_to_xml\w*|cursor_to_xml\w*|table_to_xml\w*|schema_to_xml\w*"
    r"|database_to_xml\w*|ts_stat|xmlparse|setseed|pg_current_logfile|pg_show_all_file_settings|plperl\w*|currtid\w*"
)
"""Functions that reach beyond the query and that a role without rights may call on some servers."""

_COMMANDS = frozenset(
    """abort alter analyze begin call checkpoint close cluster comment commit copy create deallocate declare delete
    discard do drop end execute explain fetch grant import insert listen load lock merge move notify prepare reassign
    refresh reindex release reset revoke rollback savepoint security set show start truncate unlisten update vacuum
    """.split()
)
_UNSTABLE = re.compile(
    r"\b(random|random_normal|gen_random_uuid|uuid_generate_v\w+|now|clock_timestamp|statement_timestamp|timeofday"
    r"|transaction_timestamp|version|pg_backend_pid|txid_current|pg_current_xact_id|pg_current_wal_lsn|nextval)\s*\("
    r"|\b(current_date|current_time|current_timestamp|localtime|localtimestamp|tablesample)\b",
    re.IGNORECASE,
)
_STATUSES = {
    "42601": Status.SYNTAX,
    "42P01": Status.NO_SUCH_TABLE,
    "42703": Status.NO_SUCH_COLUMN,
    "42883": Status.NO_SUCH_FUNCTION,
    "42501": Status.DENIED,
    "25006": Status.DENIED,
    "2F003": Status.DENIED,
    "57014": Status.TIMEOUT,
    "55P03": Status.TIMEOUT,
    "53200": Status.MEMORY,
    "53400": Status.MEMORY,
    "53100": Status.MEMORY,
    "54000": Status.BYTES,
    "57P01": Status.CRASH,
}


class PostgresEngine(ServerEngine):
    """Answers queries over one database of a server."""

    def __init__(self, url: str, settings: Settings) -> None:
        from pytest_sqlbench.engines.postgres_session import Session

        filled, shown, forced = _libpq_url(fill_url(url)), hide_secrets(url), settings.allows_superuser
        super().__init__(lambda timeout_s: Session(filled, shown, timeout_s, forced), settings)

    def _refuse(self, query: str, most: int) -> QueryFailure | None:
        stripped = strip_query(query, most, strip_postgres)
        if isinstance(stripped, QueryFailure):
            return stripped
        if re.search(r"\bu&\s*\"", stripped, re.IGNORECASE):
            return QueryFailure(Status.DENIED, "names with Unicode escapes are not allowed")
        if name := find_call(stripped, FORBIDDEN):
            return QueryFailure(Status.DENIED, f"not authorized to use function: {name}")
        return None

    def _finish(self, query: str, answer: ResultSet | QueryFailure) -> ResultSet | QueryFailure:
        """Say that a command was refused, rather than that it is no syntax for a cursor; note what is not stable."""
        stripped = strip_postgres(query)
        if isinstance(answer, ResultSet):
            return note_unstable(stripped, answer, _UNSTABLE)
        if answer.status is Status.SYNTAX and first_word(stripped) in _COMMANDS:
            return QueryFailure(Status.DENIED, f"not a query: {answer.message}", answer.elapsed_ms)
        return answer


def find_status(code: str, message: str) -> Status:
    """Name a server's error by its code."""
    if code == "42601" and "multiple commands" in message:
        return Status.DENIED
    if code == "0A000" and ("DECLARE CURSOR" in message or "data-modifying" in message):
        return Status.DENIED
    if code == "42P11" or "INTO is not allowed" in message:
        return Status.DENIED
    return _STATUSES.get(code, Status.CRASH if code.startswith(("08", "57P")) else Status.ERROR)


def _libpq_url(url: str) -> str:
    """Return a URL for libpq: the driver that SQLAlchemy wants named is left out."""
    parts = urlsplit(url)
    return urlunsplit(("postgresql", *parts[1:]))


def open_engine(database: Database, settings: Settings) -> PostgresEngine:
    """Connect to the server of a database.

    Raises:
        EngineError: psycopg is not installed, the server cannot be reached, or the role is a superuser.
    """
    if importlib.util.find_spec("psycopg") is None:
        raise EngineError("the engine postgres needs psycopg: pip install 'pytest-sqlbench[postgres]'")
    return PostgresEngine(read_url(database), settings)
