"""``pytest-sqlbench acme``: the published ACME folder as a script for a database, or as a graph."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_sqlbench.suites.acme.patches import PATCHES, parse_patches
from pytest_sqlbench.suites.acme.reader import find_folder, load_graph, load_tables
from pytest_sqlbench.suites.acme.tables import SQL_TYPES, write_script

HELP = "Print the tables of the ACME benchmark as SQL, or its graph as N-Triples."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    names = ", ".join(patch.name for patch in PATCHES)
    parser.add_argument("folder", type=Path, help="the folder ACME_Insurance as published")
    parser.add_argument(
        "--as", dest="form", choices=[*sorted(SQL_TYPES), "graph"], default="postgres", help="default: postgres"
    )
    parser.add_argument("--patches", default="all", help=f"all, none, or some of these with commas: {names}")


def run(args: argparse.Namespace) -> int:
    """Print the script or the graph."""
    given = args.patches
    patches = parse_patches(given if given in ("all", "none") else given.split(","))
    folder = find_folder(args.folder)
    tables = load_tables(folder, patches)
    text = load_graph(folder, tables, patches) if args.form == "graph" else write_script(tables, args.form)
    print(text, end="")
    return 0
