"""MySQL and MariaDB: one SELECT in a read-only transaction, whose warnings count as errors."""

from __future__ import annotations

import importlib.util
import re

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.allowance import GOLD_FACTOR, Allowance
from pytest_sqlbench.engines.lexing import find_call, first_word, strip_mysql
from pytest_sqlbench.engines.urls import fill_url, hide_secrets
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

SQL_LENGTH = 100_000

FORBIDDEN = re.compile(
    r"load_file|get_lock|release_lock|release_all_locks|is_used_lock|master_\w+_wait|source_pos_wait|wait_for_\w+"
    r"|wait_until_\w+|sys_exec|sys_eval|sys_get|sys_set|nextval|setval|last_insert_id|xmltype|service_get_\w+"
)
"""Functions that reach beyond the query and that a role without rights may call on some servers."""

_OTHERS = re.compile(
    r"\binto\b|@|/\*|:=|\bfor\s+(?:update|share)\b|\block\s+in\s+share\s+mode\b|\bprocedure\s+\w+\s*\("
    r"|\b(?:next|previous)\s+value\s+for\b",
    re.IGNORECASE,
)
"""Parts of a SELECT that write, lock, or read and set what belongs to the session or the server."""
_UNSTABLE = re.compile(
    r"\b(rand|uuid|uuid_short|sys_guid|now|sysdate|curdate|curtime|utc_date|utc_time|utc_timestamp|unix_timestamp"
    r"|connection_id|version|random_bytes)\s*\("
    r"|\b(current_date|current_time|current_timestamp|localtime|localtimestamp)\b",
    re.IGNORECASE,
)
_STATUSES = {
    **dict.fromkeys((1064, 1149), Status.SYNTAX),
    **dict.fromkeys((1146, 1109, 1051), Status.NO_SUCH_TABLE),
    1054: Status.NO_SUCH_COLUMN,
    **dict.fromkeys((1305, 1370, 1630, 1128), Status.NO_SUCH_FUNCTION),
    **dict.fromkeys((1044, 1045, 1142, 1143, 1227, 1290, 1792, 1665), Status.DENIED),
    **dict.fromkeys((1205, 1317, 1969, 3024, 1028), Status.TIMEOUT),
    **dict.fromkeys((5, 1021, 1037, 1038, 1041, 1114), Status.MEMORY),
    **dict.fromkeys((1153, 1301, 1260), Status.BYTES),
    **dict.fromkeys((1104, 2006, 2013, 1053, 1152, 1927), Status.CRASH),
}
_QUERIES = frozenset({"select", "with", "values", "table"})


class MysqlEngine:
    """Answers queries over one database of a server, each kind on its own session."""

    def __init__(self, url: str, settings: Settings) -> None:
        from pytest_sqlbench.engines.mysql_session import Session

        self._settings = settings
        filled, shown, forced = fill_url(url), hide_secrets(url), settings.allows_superuser
        self._gold = Session(filled, shown, settings.gold_timeout_s, forced)
        try:
            self._tried = Session(filled, shown, settings.limits.timeout_s, forced)
        except BaseException:
            self._gold.close()
            raise
        self.allowance = Allowance(settings.limits.rows)

    @property
    def version(self) -> str:
        """As in ``mariadb 10.11.19`` or ``mysql 8.4.0``."""
        return self._gold.version

    @property
    def terminated(self) -> int:
        """How many connections had to be killed because the query could not be stopped otherwise."""
        return self._gold.terminated + self._tried.terminated

    def run_gold(self, query: str) -> ResultSet | QueryFailure:
        """Run a query of the suite, read-only, on a session that no prediction has used."""
        limits = self._settings.limits
        if refusal := _refuse(query, 10 * SQL_LENGTH):
            return refusal
        result = self._gold.run(query, limits.rows * GOLD_FACTOR, limits.result_bytes * GOLD_FACTOR)
        if isinstance(result, ResultSet):
            self.allowance.hear_gold(len(result.rows))
        return _note(query, result)

    def run_prediction(self, query: str) -> ResultSet | QueryFailure:
        """Run an untrusted query.

        It may always return as many rows as the gold that ran just before, also above the limit.
        """
        max_rows = self.allowance.rows()
        if refusal := _refuse(query, SQL_LENGTH):
            return refusal
        limits = self._settings.limits
        return _note(query, self._tried.run(query, max_rows, limits.result_bytes))

    def describe(self) -> str:
        """Return the CREATE statements of tables and views, by name."""
        return self._gold.describe()

    def close(self) -> None:
        """Close both sessions."""
        self._gold.close()
        self._tried.close()


def _refuse(query: str, most: int) -> QueryFailure | None:
    """Name what need not be asked of the server: too long, unreadable, empty, no query, or reaching beyond it."""
    if len(query) > most:
        return QueryFailure(Status.ERROR, f"the query is longer than {most:,} characters")
    if "\0" in query:
        return QueryFailure(Status.SYNTAX, "the query contains a null character")
    try:
        query.encode()
    except UnicodeEncodeError:
        return QueryFailure(Status.SYNTAX, "the query is not valid Unicode text")
    stripped = strip_mysql(query)
    if not stripped.strip("; \t\r\n\f\ufeff"):
        return QueryFailure(Status.NO_RESULT_SET, "the text holds no statement")
    word = first_word(stripped)
    if word not in _QUERIES:
        is_command = word.isalpha() and word in _COMMANDS
        status = Status.DENIED if is_command or stripped.lstrip().startswith("/*") else Status.SYNTAX
        return QueryFailure(status, f"not a query: it begins with {query.split(None, 1)[0][:40]!r}")
    if ";" in stripped.rstrip("; \t\r\n\f"):
        return QueryFailure(Status.DENIED, "only one statement may be run")
    if part := _OTHERS.search(re.sub(r"`[^`]*`", " ", stripped)):
        return QueryFailure(Status.DENIED, f"not allowed in a query: {part.group()}")
    if name := find_call(stripped, FORBIDDEN):
        return QueryFailure(Status.DENIED, f"not authorized to use function: {name}")
    return None


_COMMANDS = frozenset(
    """alter analyze backup begin binlog cache call change check checksum commit create deallocate delete desc describe
    do drop execute explain flush get grant handler help import insert install kill load lock optimize prepare purge
    release rename repair replace reset resignal revoke rollback savepoint set show shutdown signal start stop truncate
    uninstall unlock update use xa""".split()
)


def _note(query: str, result: ResultSet | QueryFailure) -> ResultSet | QueryFailure:
    if isinstance(result, QueryFailure):
        return result
    if found := {(a or b).lower() for a, b in _UNSTABLE.findall(strip_mysql(query))}:
        notes = tuple(f"nondeterministic: {name}" for name in sorted(found))
        return ResultSet(result.columns, result.rows, result.elapsed_ms, result.tables, (*result.warnings, *notes))
    return result


def find_status(code: int) -> Status:
    """Name a server's error, or one of its warnings, by its number."""
    return _STATUSES.get(code, Status.ERROR)


def open_engine(database: Database, settings: Settings) -> MysqlEngine:
    """Connect to the server of a database.

    Raises:
        EngineError: PyMySQL is not installed, the server cannot be reached, or the role may do anything.
    """
    if importlib.util.find_spec("pymysql") is None:
        raise EngineError("the engine mysql needs PyMySQL: pip install 'pytest-sqlbench[mysql]'")
    if not database.url:
        raise EngineError(
            f"database {database.name!r} has no server: give its url in the manifest or --sqlbench-database SUITE=URL"
        )
    return MysqlEngine(database.url, settings)
