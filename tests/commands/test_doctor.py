"""The doctor: what a role may do is found, and the SQL that it prints closes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_sqlbench.cli import main
from pytest_sqlbench.engines.privileges import check_mysql
from tests.engines.servers import run_postgres


def test_the_printed_sql_closes_what_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    psycopg = pytest.importorskip("psycopg")
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        json.dumps({"id": "a", "sql": "DELETE FROM t", "expect": "denied"})
        + "\n"
        + json.dumps({"id": "b", "sql": "SELECT pg_sleep(30)", "expect": "timeout"})
    )
    with run_postgres() as url, psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE careless LOGIN CREATEDB; CREATE TABLE t(i int); GRANT ALL ON t TO careless")
        careless = url.replace("postgres@", "careless@")
        assert main(["doctor", careless, "--corpus", str(corpus)]) == 1
        text = capsys.readouterr().out
        assert "OPEN  may write to 1 table (public.t)\n        REVOKE ALL ON public.t FROM careless;" in text
        assert "OPEN  may create databases\n" in text
        assert "ok    not: is a superuser" in text
        assert "2 statements of" in text
        assert "CREATE ROLE bench_ro LOGIN" in text
        for line in text.splitlines():
            if line.startswith("        "):
                admin.execute(line.strip())
        admin.execute("GRANT SELECT ON t TO careless")
        assert main(["doctor", careless]) == 0
        assert "14 of 14 probes are stopped by the role itself" in capsys.readouterr().out
        assert main(["doctor", url]) == 1
        assert "OPEN  is a superuser" in capsys.readouterr().out


def test_grants_of_mysql_are_understood() -> None:
    grants = [
        "GRANT USAGE ON *.* TO `ann`@`%`",
        "GRANT SELECT, SHOW VIEW ON `shop`.* TO `ann`@`%`",
        "GRANT SELECT, INSERT ON `log`.* TO `ann`@`%` WITH GRANT OPTION",
    ]
    found = [(finding.is_open, finding.cure) for finding in check_mysql(grants, "'ann'@'%'")]
    assert found == [(False, ""), (False, ""), (True, "REVOKE INSERT, GRANT OPTION ON `log`.* FROM 'ann'@'%';")]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["sqlite:///x.db"], "doctor knows PostgreSQL, MySQL and MariaDB"),
        (["postgresql://ann:s3cret@host/db"], "holds a password"),
        (["postgresql://ann@127.0.0.1:1/db"], "postgresql://ann@127.0.0.1:1/db: "),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", *arguments]) == 4
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert "s3cret" not in error
