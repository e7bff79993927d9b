"""What a server's role may do beyond reading, and the SQL that takes it away: the questions of ``doctor``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.result import QueryFailure, ResultSet


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    """A claim about the role, such as ``may write to 2 tables (a, b)``."""
    is_open: bool
    """True if a prediction could use it to change or reach something."""
    cure: str = ""
    """The SQL that closes it."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A statement that a role without rights should not get answered; harmless where it is."""

    sql: str
    what: str
    cure: str


def _call(name: str, arguments: str, types: str, what: str) -> Probe:
    cure = f"REVOKE EXECUTE ON FUNCTION pg_catalog.{name}({types}) FROM PUBLIC;"
    return Probe(f"SELECT {name}({arguments})", what, cure)


POSTGRES_PROBES: tuple[Probe, ...] = (
    _call("pg_terminate_backend", "0, 0", "integer, bigint", "may end other sessions of its own role"),
    _call("pg_cancel_backend", "0", "integer", "may cancel queries of its own role"),
    _call("lo_create", "0", "oid", "may create large objects where a read-only transaction lets it (before 16)"),
    _call("lo_from_bytea", "0, ''", "oid, bytea", "may write large objects (before 16)"),
    _call("pg_notify", "'sqlbench_doctor', ''", "text, text", "may notify other sessions"),
    _call("pg_try_advisory_lock", "7234872348", "bigint", "may take locks that outlive a transaction"),
    _call("pg_logical_emit_message", "true, 'sqlbench_doctor', ''", "boolean, text, text", "may write to the log"),
    _call(
        "set_config", "'application_name', 'doctor', true", "text, text, boolean", "may change settings of its session"
    ),
    Probe(
        "SELECT pg_read_file('PG_VERSION')", "may read files of the server", "REVOKE pg_read_server_files FROM {role};"
    ),
    Probe("SELECT pg_ls_dir('.')", "may list folders of the server", "REVOKE pg_read_server_files FROM {role};"),
    Probe("SELECT count(*) FROM pg_authid", "may read password hashes", "ALTER ROLE {role} NOSUPERUSER;"),
    Probe("SELECT pg_reload_conf()", "may reload the configuration", "ALTER ROLE {role} NOSUPERUSER;"),
    Probe("SELECT * FROM pg_hba_file_rules", "may read the rules of access", "ALTER ROLE {role} NOSUPERUSER;"),
    Probe(
        "SELECT dblink_connect('sqlbench_doctor', 'dbname=' || current_database())",
        "may open connections from the server",
        "DROP EXTENSION dblink;",
    ),
)
MYSQL_PROBES: tuple[Probe, ...] = (
    Probe("SELECT count(*) FROM mysql.user", "may read the accounts", "REVOKE SELECT ON mysql.* FROM {role};"),
    Probe(
        "SELECT count(*) FROM mysql.global_priv", "may read password hashes", "REVOKE SELECT ON mysql.* FROM {role};"
    ),
    Probe("SELECT 1 FROM DUAL WHERE LOAD_FILE(@@pid_file) IS NOT NULL", "", "REVOKE FILE ON *.* FROM {role};"),
    Probe("SELECT GET_LOCK('sqlbench_doctor', 0)", "may take named locks (no privilege stops it)", ""),
)

_POSTGRES_QUESTIONS: tuple[tuple[str, str, str], ...] = (
    ("rolsuper", "is a superuser", "ALTER ROLE {role} NOSUPERUSER;"),
    ("rolcreaterole", "may create roles", "ALTER ROLE {role} NOCREATEROLE;"),
    ("rolcreatedb", "may create databases", "ALTER ROLE {role} NOCREATEDB;"),
    ("rolreplication", "may replicate the server", "ALTER ROLE {role} NOREPLICATION;"),
    ("rolbypassrls", "may bypass row security", "ALTER ROLE {role} NOBYPASSRLS;"),
)
_MIGHTY_ROLES = ("pg_read_server_files", "pg_write_server_files", "pg_execute_server_program", "pg_signal_backend")
_WRITABLE = """SELECT format('%I.%I', n.nspname, c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f', 'v') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1"""
_SCHEMAS = """SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%'
AND has_schema_privilege(oid, 'CREATE') ORDER BY 1"""
_WRITES = re.compile(
    r"\b(ALL PRIVILEGES|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|INDEX|TRIGGER|EXECUTE|EVENT|FILE|SUPER|PROCESS|RELOAD"
    r"|SHUTDOWN|LOCK TABLES|REFERENCES|GRANT OPTION|CREATE USER|DELETE HISTORY|SET USER|BINLOG \w+|REPLICATION \w+)\b"
)

POSTGRES_ROLE = """-- A role that may only read (as a superuser; choose the names and the password):
CREATE ROLE bench_ro LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 16;
REVOKE ALL ON DATABASE {database} FROM PUBLIC;
GRANT CONNECT ON DATABASE {database} TO bench_ro;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO bench_ro;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO bench_ro;
ALTER ROLE bench_ro SET default_transaction_read_only = on;
ALTER ROLE bench_ro SET temp_file_limit = '256MB';
ALTER ROLE bench_ro SET work_mem = '16MB';"""
MYSQL_ROLE = """-- A user that may only read (choose the names and the password):
CREATE USER bench_ro@'%' IDENTIFIED BY '...' WITH MAX_USER_CONNECTIONS 16;
GRANT SELECT ON {database}.* TO bench_ro@'%';"""


def check_postgres(session: object) -> Iterator[Finding]:
    """Look at what a role of PostgreSQL may do; the session is `postgres_session.Session`."""
    role = str(_one(session, "SELECT quote_ident(current_user::text)"))
    columns = ", ".join(column for column, _, _ in _POSTGRES_QUESTIONS)
    flags = _rows(session, f"SELECT {columns} FROM pg_roles WHERE rolname = current_user")[0]
    for flag, (_, what, cure) in zip(flags, _POSTGRES_QUESTIONS, strict=True):
        yield Finding(what, bool(flag), cure.format(role=role))
    for name in _MIGHTY_ROLES:
        is_member = bool(_one(session, f"SELECT pg_has_role(current_user, '{name}', 'USAGE')"))
        yield Finding(f"is a member of {name}", is_member, f"REVOKE {name} FROM {role};")
    tables = [str(row[0]) for row in _rows(session, _WRITABLE)]
    yield Finding(
        _listed("may write to", "table", tables), bool(tables), f"REVOKE ALL ON {', '.join(tables)} FROM {role};"
    )
    schemas = [str(row[0]) for row in _rows(session, _SCHEMAS)]
    cure = f"REVOKE CREATE ON SCHEMA {', '.join(schemas)} FROM {role}, PUBLIC;"
    yield Finding(_listed("may create in", "schema", schemas), bool(schemas), cure)
    database = str(_one(session, "SELECT quote_ident(current_database())"))
    for privilege in ("TEMP", "CREATE"):
        has = bool(_one(session, f"SELECT has_database_privilege(current_database(), '{privilege}')"))
        cure = f"REVOKE {privilege} ON DATABASE {database} FROM {role}, PUBLIC;"
        yield Finding(f"has the privilege {privilege} on the database", has, cure)
    limit = _one(session, "SELECT current_setting('temp_file_limit')")
    yield Finding(
        "may fill the disk with temporary files", limit == "-1", f"ALTER ROLE {role} SET temp_file_limit = '256MB';"
    )


def check_mysql(grants: list[str], role: str) -> Iterator[Finding]:
    """Look at what a user of MySQL or MariaDB may do, as its grants say."""
    for grant in grants:
        privileges, _, rest = grant.partition(" ON ")
        place = rest.partition(" TO ")[0]
        if not place:
            continue
        found = sorted(set(_WRITES.findall(privileges)))
        if "WITH GRANT OPTION" in rest:
            found.append("GRANT OPTION")
        what = (
            f"may {', '.join(found)} on {place}"
            if found
            else f"has only {privileges.removeprefix('GRANT ')} on {place}"
        )
        yield Finding(what, bool(found), f"REVOKE {', '.join(found)} ON {place} FROM {role};" if found else "")


def _rows(session: object, query: str) -> list[tuple[object, ...]]:
    result: ResultSet | QueryFailure = session.run(query, 10_000, 2**22)  # type: ignore[attr-defined]
    if isinstance(result, QueryFailure):
        raise EngineError(f"the server does not tell what this role may do: {result.message}")
    return result.rows


def _one(session: object, query: str) -> object:
    return _rows(session, query)[0][0]


def _listed(what: str, noun: str, names: list[str]) -> str:
    if not names:
        return f"{what} no {noun}"
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return f"{what} {len(names)} {noun}{'s' if len(names) > 1 else ''} ({shown})"
