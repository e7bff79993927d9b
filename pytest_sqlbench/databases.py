"""Where the databases of suites are, as ``--sqlbench-database SUITE=URL`` says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytest_sqlbench.case import Case, Database, Suite
from pytest_sqlbench.engines.urls import check_url, engine_of, hide_secrets
from pytest_sqlbench.errors import UsageError

Places = Mapping[str, Mapping[str, str]]
"""Suite to engine to URL."""


def read_places(values: Iterable[str]) -> Places:
    """Read ``SUITE=URL``, one for each engine of a suite.

    Raises:
        UsageError: It is not of that form, a suite has two URLs for one engine, or a URL holds a password.
    """
    places: dict[str, dict[str, str]] = {}
    for value in values:
        suite, equals, url = value.partition("=")
        if not equals or not suite or "://" not in url:
            shown = f"{suite}={hide_secrets(url)}" if equals else hide_secrets(value)
            raise UsageError(
                f"--sqlbench-database is {shown!r}, wanted SUITE=URL, as in shop=postgresql://ann@host/shop"
            )
        check_url(url)
        engine = engine_of(url)
        if engine in places.setdefault(suite, {}):
            raise UsageError(f"--sqlbench-database gives two URLs of engine {engine!r} for suite {suite!r}")
        places[suite][engine] = url
    return places


def check_places(places: Places, suites: Iterable[str]) -> None:
    """Raise `UsageError` if a place is given for a suite that is not there."""
    known = sorted(suites)
    for name in places:
        if name not in known:
            raise UsageError(f"--sqlbench-database names the suite {name!r}. Known: {', '.join(known) or 'none'}.")


def place_suite(suite: Suite, places: Places) -> Suite:
    """Return the suite with its cases on the servers that were named for it.

    ``{database}`` in a URL stands for the name of the case's database.

    Raises:
        UsageError: No case of the suite is for that engine.
    """
    urls = places.get(suite.name)
    if not urls:
        return suite
    engines = sorted({case.engine for case in suite.cases})
    for engine, url in urls.items():
        if engine not in engines:
            raise UsageError(
                f"--sqlbench-database: {hide_secrets(url)} is for engine {engine!r}, and suite {suite.name!r} has cases"
                f" for {', '.join(engines)} only. Name it under engines: in {suite.path}."
            )
    databases = dict(suite.databases)

    def place_case(case: Case) -> Case:
        url = urls.get(case.engine)
        if url is None:
            return case
        name = f"{case.database or 'main'}@{case.engine}"
        databases[name] = Database(name, url=url.replace("{database}", case.database))
        return replace(case, database=name)

    return replace(suite, cases=tuple(place_case(case) for case in suite.cases), databases=databases)
