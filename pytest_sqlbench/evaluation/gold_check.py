"""Checks golds before any model is asked: they run, match themselves, and say one thing whatever the order of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.engines.registry import open_engine, place_database
from pytest_sqlbench.engines.sqlite_variants import SqliteVariants
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.lint import Finding, lint_suite, lint_text
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.sql_doubts import SortedColumn, find_sorted_columns
from pytest_sqlbench.settings import Settings

SLOW_MS = 1000.0
"""A gold that takes longer is worth a finding."""
NOT_REPEATED_MS = 2000.0
"""A gold that takes longer is not run again."""
TEXTS_READ = 2000
"""Distinct values of a column that are looked at to say whether they are numbers."""

_BY_POSITION = Policy(columns="exact")


class GoldChecker:
    """Checks the cases of one suite. Engines and copies open at first use.

    Args:
        suite: Its golds are trusted: they run as the suite's own queries do.
        settings: Deadline of golds, and the seed of the shuffling.
    """

    def __init__(self, suite: Suite, settings: Settings) -> None:
        self._suite = suite
        self._settings = settings
        self._engines: dict[tuple[str, str], Engine] = {}
        self._variants: dict[str, SqliteVariants | None] = {}
        self._texts: dict[tuple[str, str, str], str | None] = {}

    def check_suite(self) -> list[Finding]:
        """Return what the cases of the suite show together, without running them."""
        return lint_suite(self._suite)

    def check(self, case: Case) -> list[Finding]:
        """Return what is doubtful about one case, the golds run several times; texts only where nothing can run.

        Raises:
            EngineError: The database cannot be opened.
        """
        found = lint_text(case)
        if not case.engine or not (case.database or self._suite.databases):
            return found
        engine = self._engine(case)
        results: list[tuple[str, ResultSet]] = []
        for gold in case.gold:
            result = engine.run_gold(gold)
            if isinstance(result, QueryFailure):
                found.append(_finding(case, "gold_fails", result.message))
                continue
            results.append((gold, result))
            found += self._check_result(case, engine, gold, result)
        found += _disagreements(case, engine, results)
        return list(dict.fromkeys(found))

    def close(self) -> None:
        """Close engines and copies."""
        for engine in self._engines.values():
            engine.close()
        for variants in self._variants.values():
            if variants is not None:
                variants.close()
        self._engines.clear()
        self._variants.clear()

    def _engine(self, case: Case) -> Engine:
        key = (case.engine, case.database)
        if key not in self._engines:
            database = self._suite.databases.get(case.database)
            if database is None:
                raise EngineError(f"{self._suite.path}: case {case.id!r} needs database {case.database!r}")
            self._engines[key] = open_engine(case.engine, database, self._settings)
        return self._engines[key]

    def _check_result(self, case: Case, engine: Engine, gold: str, result: ResultSet) -> Iterator[Finding]:
        if result.elapsed_ms > SLOW_MS:
            yield _finding(case, "slow", f"{result.elapsed_ms / 1000:.1f} s")
        yield from _check_rows(case, result)
        for note in result.warnings:
            kind, _, detail = note.partition(": ")
            if kind == "nondeterministic":
                yield _finding(case, "relative_date" if "'now'" in detail else "unstable", detail)
            elif kind == "quotes":
                yield _finding(case, "misquoted", detail)
        if result.elapsed_ms <= NOT_REPEATED_MS:
            yield from self._check_stability(case, engine, gold, result)
        for column in find_sorted_columns(gold, case.dialect) if case.engine == "sqlite" else ():
            if (name := self._find_number_texts(case, engine, column)) is not None:
                yield _finding(case, "text_sort", name)

    def _check_stability(self, case: Case, engine: Engine, gold: str, result: ResultSet) -> Iterator[Finding]:
        order = GoldOrder(gold, case.dialect, engine.run_gold)
        again = engine.run_gold(gold)
        if isinstance(again, QueryFailure) or not compare(result, again, _BY_POSITION, order=order).is_match:
            yield _finding(case, "gold_differs_from_itself")
            return
        cut, ties = find_cut(order, result)
        if cut:
            yield _finding(case, "arbitrary_cut", cut)
        elif ties:
            yield _finding(case, "ties", ties)
        variants = self._open_variants(case)
        if variants is None:
            return
        for other in variants.run(gold, self._settings.gold_timeout_s, self._settings.limits.rows):
            if isinstance(other, QueryFailure):
                continue
            match = compare(result, other, _BY_POSITION, order=order)
            if not match.is_match:
                yield _finding(case, "order_dependent", match.detail)
                return
            if "tolerance" in match.flags:
                yield _finding(case, "noisy_fractions")
                return

    def _open_variants(self, case: Case) -> SqliteVariants | None:
        if case.engine != "sqlite":
            return None
        if case.database not in self._variants:
            path = place_database(case.engine, self._suite.databases[case.database], self._settings).path
            try:
                self._variants[case.database] = SqliteVariants(path, self._settings.seed) if path else None
            except EngineError:
                self._variants[case.database] = None  # virtual tables and the like: the check is left out
        return self._variants[case.database]

    def _find_number_texts(self, case: Case, engine: Engine, column: SortedColumn) -> str | None:
        """Say which column holds numbers as text that sort otherwise than numbers; None if there is none."""
        for table in column.tables:
            key = (case.database, table, column.column)
            if key not in self._texts:
                query = f"SELECT DISTINCT {_quote(column.column)} FROM {_quote(table)} LIMIT {TEXTS_READ}"
                result = engine.run_gold(query)
                is_there = isinstance(result, ResultSet) and not result.warnings
                texts = [row[0] for row in result.rows] if isinstance(result, ResultSet) and is_there else []
                self._texts[key] = f"{table}.{column.column}" if sorts_as_text(texts) else None
            if self._texts[key] is not None:
                return self._texts[key]
        return None


def _finding(case: Case, rule: str, detail: str = "") -> Finding:
    return Finding(case.suite, case.id, rule, detail, case.line)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _check_rows(case: Case, result: ResultSet) -> Iterator[Finding]:
    if not result.rows:
        yield _finding(case, "empty")
    elif all(cell is None for row in result.rows for cell in row):
        yield _finding(case, "null_only")
    else:
        try:
            distinct = len(set(result.rows))
        except TypeError:  # lists and maps of some engines have no hash
            return
        if distinct < len(result.rows):
            yield _finding(case, "repeated_rows", f"{len(result.rows)} rows, {distinct} different")


def find_cut(order: GoldOrder, result: ResultSet) -> tuple[str, str]:
    """Say where a gold's LIMIT cuts through rows that tie and differ, and whether rows tie at all; empty: it does not.

    Args:
        order: Of the gold.
        result: Its rows.
    """
    if not result.rows or not (order.is_ordered or order.may_be_cut):
        return "", ""
    keyed = order.keyed_rows(result)
    if keyed is None:
        return "", ""
    first, last = keyed.start, keyed.start + keyed.size

    def differ(begin: int, end: int) -> bool:
        return any(row != keyed.rows[begin] for row in keyed.rows[begin:end])

    cut = keyed.find_cut()
    if cut is not None and differ(*cut):
        what = "rows tie under ORDER BY" if order.is_ordered else "rows fit without ORDER BY"
        return f"{cut[1] - cut[0]} {what}, {min(cut[1], last) - max(cut[0], first)} are returned", ""
    if not order.is_ordered:
        return "", ""
    tied = [end - begin for begin, end in keyed.groups() if begin < last and end > first and differ(begin, end)]
    return "", f"{tied[0]} rows tie" if tied else ""


def _disagreements(case: Case, engine: Engine, results: Iterable[tuple[str, ResultSet]]) -> Iterator[Finding]:
    for (gold, result), (_, other) in combinations(list(results), 2):
        if len(result.columns) != len(other.columns):
            widths = f"{len(result.columns)} and {len(other.columns)} columns"
            yield _finding(case, "golds_differ_in_shape", widths)
            continue
        match = compare(result, other, Policy(), order=GoldOrder(gold, case.dialect, engine.run_gold))
        if not match.is_match:
            yield _finding(case, "golds_disagree", match.detail)


def sorts_as_text(values: Iterable[object]) -> bool:
    """Say whether values are mostly numbers written as text, and would sort otherwise as numbers.

    >>> sorts_as_text(["90", "130", "null"]), sorts_as_text(["2019", "2020"])
    (True, False)
    """
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    numbers: list[tuple[float, str]] = []
    for text in texts:
        try:
            numbers.append((float(text.replace(",", "")), text))
        except ValueError:
            continue
    if len(numbers) < 2 or 2 * len(numbers) < len(texts):
        return False
    by_text = [number for number, _ in sorted(numbers, key=lambda pair: pair[1])]
    return by_text != sorted(by_text)
