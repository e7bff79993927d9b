"""``pytest-sqlbench doctor URL``: what a hostile prediction could do as this role, and the SQL that closes it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_sqlbench.case import Database
from pytest_sqlbench.engines import privileges
from pytest_sqlbench.engines.privileges import Finding, Probe
from pytest_sqlbench.engines.urls import check_url, engine_of, fill_url, hide_secrets
from pytest_sqlbench.errors import CaseError, UsageError
from pytest_sqlbench.result import Limits, QueryFailure
from pytest_sqlbench.settings import Settings

HELP = "Say what a hostile prediction could do as a server's role, and which SQL closes it."
TIMEOUT_S = 2.0
NOT_OK = frozenset({"denied", "denied_or_error", "error", "capped"})
"""Words of a corpus for statements that must not be answered."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("url", help="the role's own URL; ${NAME} in it is that environment variable")
    parser.add_argument("--corpus", type=Path, help="JSONL of hostile statements (id, sql, expect) to run as well")


def run(args: argparse.Namespace) -> int:
    """Look at the role, run the probes, and print what is open. Exit code 1 if anything is."""
    check_url(args.url)
    engine = engine_of(args.url)
    if engine not in ("postgres", "mysql"):
        raise UsageError(f"{hide_secrets(args.url)}: doctor knows PostgreSQL, MySQL and MariaDB")
    settings = Settings(limits=Limits(timeout_s=TIMEOUT_S, rows=1000), gold_timeout_s=30.0, allows_superuser=True)
    doctor = _Doctor(args.url, engine, settings)
    try:
        print(f"{hide_secrets(args.url)}: {doctor.engine.version}")
        is_open = doctor.look()
        doctor.probe()
        if args.corpus is not None:
            is_open = doctor.run_corpus(args.corpus) or is_open
    finally:
        doctor.close()
    if not is_open:
        print("nothing is open")
        return 0
    database = urlsplit(args.url).path.lstrip("/") or "bench"
    script = privileges.POSTGRES_ROLE if engine == "postgres" else privileges.MYSQL_ROLE
    print(f"\n{script.format(database=database)}")
    return 1


class _Doctor:
    """The engine as a run would use it, and a bare session of the same role."""

    def __init__(self, url: str, engine: str, settings: Settings) -> None:
        self._name = engine
        database = Database("doctor", url=url)
        filled, shown = fill_url(url), hide_secrets(url)
        if engine == "postgres":
            from pytest_sqlbench.engines.postgres import open_engine as open_postgres
            from pytest_sqlbench.engines.postgres_session import Session as PostgresSession

            self.engine: Any = open_postgres(database, settings)
            self._session: Any = PostgresSession(filled, shown, TIMEOUT_S, True)
        else:
            from pytest_sqlbench.engines.mysql import open_engine as open_mysql
            from pytest_sqlbench.engines.mysql_session import Session as MysqlSession

            self.engine = open_mysql(database, settings)
            self._session = MysqlSession(filled, shown, TIMEOUT_S, True)

    def look(self) -> bool:
        """Print what the role may do; return whether anything is open."""
        is_open = False
        for finding in self._findings():
            is_open = is_open or finding.is_open
            print(f"{'OPEN' if finding.is_open else 'ok  '}  {'' if finding.is_open else 'not: '}{finding.what}")
            if finding.is_open and finding.cure:
                print(f"        {finding.cure}")
        return is_open

    def _findings(self) -> Iterator[Finding]:
        if self._name == "postgres":
            return privileges.check_postgres(self._session)
        return privileges.check_mysql(self._session.grants(), self._session.user())

    def probe(self) -> None:
        """Print the statements that only this package stops, and not the role itself."""
        probes = privileges.POSTGRES_PROBES if self._name == "postgres" else privileges.MYSQL_PROBES
        answered = [
            probe for probe in probes if not isinstance(self._session.run(probe.sql, 1000, 2**20), QueryFailure)
        ]
        print(f"{len(probes) - len(answered)} of {len(probes)} probes are stopped by the role itself")
        role = self._session.user()
        for probe in answered:
            is_through = not isinstance(self.engine.run_prediction(probe.sql), QueryFailure)
            print(f"{'OPEN' if is_through else 'note'}  {_describe(probe, is_through)}")
            if probe.cure:
                print(f"        {probe.cure.format(role=role)}")

    def run_corpus(self, path: Path) -> bool:
        """Run hostile statements as predictions; print and return whether one ended as it should not."""
        is_open = False
        n = 0
        for attack_id, sql, expect in _read_corpus(path):
            start = time.monotonic()
            result = self.engine.run_prediction(sql)
            took_s = time.monotonic() - start
            n += 1
            if not isinstance(result, QueryFailure) and expect in NOT_OK:
                print(f"OPEN  {attack_id} was answered, wanted {expect}: {sql[:80]}")
                is_open = True
            elif took_s > TIMEOUT_S + 1:
                print(f"OPEN  {attack_id} took {took_s:.1f} s: {sql[:80]}")
                is_open = True
        print(f"{n} statements of {path} were run")
        return is_open

    def close(self) -> None:
        """Close all sessions."""
        self._session.close()
        self.engine.close()


def _describe(probe: Probe, is_through: bool) -> str:
    return f"{probe.what}: {probe.sql}" + ("" if is_through else " (stopped by this package, not by the role)")


def _read_corpus(path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CaseError(path, 0, f"cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if "sql" in record:
                yield str(record["id"]), str(record["sql"]), str(record["expect"])
        except (ValueError, KeyError, TypeError) as error:
            raise CaseError(path, number, f"wanted a JSON object with id, sql and expect ({error})") from error
