"""``pytest-sqlbench witness SUITE CASE``: the small database on which a prediction that passes is wrong, as a file."""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.engines.registry import place_database
from pytest_sqlbench.engines.sqlite_memory import quote_name
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.evaluation.luck import find_references
from pytest_sqlbench.evaluation.witness import Witness, WitnessBench
from pytest_sqlbench.policy import find_preset
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor
from pytest_sqlbench.report.tables import align
from pytest_sqlbench.result import ResultSet, Row
from pytest_sqlbench.scoring.explain import show_cell
from pytest_sqlbench.scoring.extract import extract_query
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.suites.registry import load_suite

HELP = "Write the small database on which a prediction that is right by luck is wrong; exit code 1 if there is one."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    parser.add_argument("suite", metavar="SUITE", type=Path, help="Suite manifest.")
    parser.add_argument("case", metavar="CASE", help="Id of the case.")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--sql", metavar="SQL", help="The prediction.")
    given.add_argument("--model", metavar="SPEC", help="Where the prediction comes from, as in file:predictions.jsonl.")
    parser.add_argument("--databases", metavar="N", type=int, default=30, help="Databases that are tried. Default: 30.")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="Of the generated rows. Default: 0.")
    parser.add_argument("--policy", metavar="NAME", help="Comparison policy. Default: the suite's.")
    parser.add_argument("--output", metavar="FILE", type=Path, help="Default: witness-CASE.sqlite.")


def run(args: argparse.Namespace) -> int:
    """Look for a witness, print its rows and both answers, and write it to a file."""
    suite = load_suite(args.suite)
    try:
        case = suite.find_case(args.case)
    except KeyError:
        raise UsageError(f"{args.suite}: there is no case {args.case!r}") from None
    output = args.output or Path(f"witness-{case.id}.sqlite")
    if output.exists():
        raise UsageError(f"{output}: exists already. Name another file with --output.")
    policy = find_preset(args.policy) if args.policy else case.policy or suite.policy
    sql = args.sql or _predict(args.model, suite, case)
    bench = _open_bench(suite, case, args.seed)
    try:
        trial = bench.try_prediction(case.gold, sql, policy, args.databases)
        if trial.witness is not None:
            write_database(trial.witness, bench.ddl, output)
    finally:
        bench.close()
    if trial.witness is None:
        told = "it is the gold in other words" if trial.is_same_form else f"{trial.tried} databases tell no difference"
        print(f"{suite.name}[{case.id}]: {told} (policy {policy.name})")
        return 0
    print("\n".join(describe(case, sql, trial.witness)))
    print(f"written to {output}")
    return 1


def _predict(spec: str, suite: Suite, case: Case) -> str:
    predictor = make_predictor(spec, Path.cwd())
    bind_suite(predictor, suite)
    reply = predictor.predict(case).reply
    found = extract_query(reply, case.dialect).sql if reply is not None else None
    if found is None:
        raise UsageError(f"{spec}: there is no query for case {case.id!r}")
    return found


def _open_bench(suite: Suite, case: Case, seed: int) -> WitnessBench:
    if case.engine != "sqlite" or case.database not in suite.databases:
        raise UsageError(f"{suite.path}: case {case.id!r} has no SQLite database; witnesses are made for SQLite only")
    path = place_database(case.engine, suite.databases[case.database], Settings()).path
    if path is None:
        raise UsageError(f"{suite.path}: database {case.database!r} is on a server; witnesses are made for files only")
    return WitnessBench(path, seed, find_references(suite, case.database))


def write_database(witness: Witness, ddl: list[str], path: Path) -> None:
    """Write the rows of a witness under the real schema; tables that the queries do not read stay empty."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("BEGIN")
        for statement in ddl:
            connection.execute(statement)
        for title, (columns, rows) in witness.tables.items():
            listed, marks = ", ".join(map(quote_name, columns)), ", ".join("?" for _ in columns)
            connection.executemany(f"INSERT INTO {quote_name(title)} ({listed}) VALUES ({marks})", rows)
        connection.execute("COMMIT")
    finally:
        connection.close()


def describe(case: Case, sql: str, witness: Witness) -> list[str]:
    """Return the tables of a witness and both answers as lines."""
    lines: list[str] = []
    for title, (columns, rows) in sorted(witness.tables.items()):
        lines += [f"table {title}", *_grid(columns, list(rows)), ""]
    for name, query, result in (("gold", case.gold[0], witness.gold), ("predicted", sql, witness.predicted)):
        lines += [f"{name}: {query}", *_result(result), ""]
    return lines


def _result(result: ResultSet) -> list[str]:
    return _grid(result.columns, result.rows)


def _grid(columns: tuple[str, ...], rows: list[Row]) -> list[str]:
    if not rows:
        return [f"  {', '.join(columns)}: no rows"]
    table = [list(columns), *[[show_cell(cell) for cell in row] for row in rows[:20]]]
    more = [f"  … and {len(rows) - 20} more"] if len(rows) > 20 else []
    return [*(f"  {line}" for line in align(table)), *more]
