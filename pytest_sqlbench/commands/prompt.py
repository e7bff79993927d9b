"""``pytest-sqlbench prompt CASE``: the text that a model would read for one case."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.predictors.options import APIS, ModelOptions
from pytest_sqlbench.predictors.prompt import PromptBook
from pytest_sqlbench.suites.registry import load_suite

HELP = "Show the prompt of a case."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("case", metavar="CASE", help="SUITE.yaml::ID, or a node id as pytest prints it")
    parser.add_argument("--prompt", metavar="PATH", help="template that overrides the suite's")
    parser.add_argument("--prompt-rows", metavar="N", type=int, help="sample rows of each table")
    parser.add_argument("--api", choices=APIS, help="for chat models, or for base models that go on")
    parser.add_argument("--hash", action="store_true", help="print the prompt's hash only")


def run(args: argparse.Namespace) -> int:
    """Print the prompt."""
    suite, case = find_case(args.case)
    said = {"prompt": args.prompt, "prompt_rows": args.prompt_rows, "api": args.api}
    given = {name: value for name, value in said.items() if value is not None}
    book = PromptBook(replace(ModelOptions(given=frozenset(given)), **given))
    book.add_suite(suite)
    prompt = book.write(case)
    print(prompt.hash if args.hash else prompt.text, end="\n" if args.hash or not prompt.text.endswith("\n") else "")
    return 0


def find_case(name: str) -> tuple[Suite, Case]:
    """Find a case by ``SUITE.yaml::ID`` or by its node id; raise `UsageError` with what is near if there is none."""
    from difflib import get_close_matches

    path, _, rest = name.partition("::")
    case_id = rest.partition("[")[2].removesuffix("]") if rest.endswith("]") else rest
    if not case_id:
        raise UsageError(f"{name!r} names no case. Write SUITE.yaml::ID.")
    if not Path(path).is_file():
        raise UsageError(f"{path}: there is no such suite")
    suite = load_suite(path)
    try:
        return suite, suite.find_case(case_id)
    except KeyError:
        near = get_close_matches(case_id, [case.id for case in suite.cases], n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else f" It has {len(suite.cases)} others."
        raise UsageError(f"{path}: there is no case {case_id!r}.{hint}") from None
