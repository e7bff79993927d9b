"""The command line ``pytest-sqlbench``: a table of subcommands, each a module of `commands/`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from pytest_sqlbench.errors import SqlbenchError

COMMANDS: dict[str, str] = {
    "build": "pytest_sqlbench.commands.build",
    "check": "pytest_sqlbench.commands.check",
    "acme": "pytest_sqlbench.commands.acme",
    "compare": "pytest_sqlbench.commands.compare",
    "doctor": "pytest_sqlbench.commands.doctor",
    "fetch": "pytest_sqlbench.commands.fetch",
    "list": "pytest_sqlbench.commands.list",
    "merge": "pytest_sqlbench.commands.merge",
    "new": "pytest_sqlbench.commands.new",
    "predictions": "pytest_sqlbench.commands.predictions",
    "prompt": "pytest_sqlbench.commands.prompt",
    "show": "pytest_sqlbench.commands.show",
    "sql": "pytest_sqlbench.commands.sql",
    "witness": "pytest_sqlbench.commands.witness",
}
"""Subcommand to the module that has ``HELP``, ``add_arguments(parser)`` and ``run(args) -> int``."""


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all subcommands."""
    parser = argparse.ArgumentParser(prog="pytest-sqlbench", description="Tools around text-to-SQL suites and runs.")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module_name in sorted(COMMANDS.items()):
        module = import_module(module_name)
        subparser = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; errors that the user can mend are one line on stderr and exit code 4."""
    args = build_parser().parse_args(argv)
    try:
        return int(args.run(args))
    except SqlbenchError as error:
        print(f"pytest-sqlbench: {error}", file=sys.stderr)
        return 4
    except KeyboardInterrupt:
        print("pytest-sqlbench: interrupted", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
