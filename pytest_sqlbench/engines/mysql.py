"""MySQL and MariaDB: one SELECT in a read-only transaction, whose warnings count as errors."""

from __future__ import annotations

import importlib.util
import re

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines.lexing import find_call, first_word, strip_mysql
from pytest_sqlbench.engines.server import ServerEngine, note_unstable, read_url, strip_query
from pytest_sqlbench.engines.urls import fill_url, hide_secrets
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.settings import Settings

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


class MysqlEngine(ServerEngine):
    """Answers queries over one database of a server."""

    def __init__(self, url: str, settings: Settings) -> None:
        from pytest_sqlbench.engines.mysql_session import Session

        filled, shown, forced = fill_url(url), hide_secrets(url), settings.allows_superuser
        super().__init__(lambda timeout_s: Session(filled, shown, timeout_s, forced), settings)

    def _refuse(self, query: str, most: int) -> QueryFailure | None:
        stripped = strip_query(query, most, strip_mysql)
        return stripped if isinstance(stripped, QueryFailure) else _refuse_part(query, stripped)

    def _finish(self, query: str, answer: ResultSet | QueryFailure) -> ResultSet | QueryFailure:
        return answer if isinstance(answer, QueryFailure) else note_unstable(strip_mysql(query), answer, _UNSTABLE)


def _refuse_part(query: str, stripped: str) -> QueryFailure | None:
    """Name the part for which a query is refused: how it begins, a second statement, what reaches beyond it."""
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
    return MysqlEngine(read_url(database), settings)
