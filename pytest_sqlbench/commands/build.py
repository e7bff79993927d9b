"""``pytest-sqlbench build``: creates the tables of a suite on a server, so that it can be run there."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_sqlbench.engines.build_server import fill_server
from pytest_sqlbench.engines.urls import hide_secrets
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.suites.registry import load_suite

HELP = "Create a suite's tables on a server and fill them."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("manifest", type=Path, help="the suite, whose database is a schema with rows")
    parser.add_argument(
        "url", help="an empty database of the server, as its owner; {database} stands for the name of the suite's"
    )


def run(args: argparse.Namespace) -> int:
    """Fill every database of the suite that is made of a schema and rows."""
    suite = load_suite(args.manifest)
    recipes = {name: database for name, database in suite.databases.items() if database.is_recipe}
    if not recipes:
        raise UsageError(f"{args.manifest}: no database of this suite is made of a schema and rows")
    if len(recipes) > 1 and "{database}" not in args.url:
        raise UsageError(f"{args.manifest}: has {len(recipes)} databases, so the URL needs {{database}} in its place")
    for name, database in sorted(recipes.items()):
        url = args.url.replace("{database}", name)
        for table, count in fill_server(database, url).items():
            print(f"{hide_secrets(url)}: {table} {count} rows")
    return 0
