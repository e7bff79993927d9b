"""Tries a prediction that is right on the real data on small generated databases: there, luck runs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_sqlbench.case import NOTHING
from pytest_sqlbench.engines.sqlite_memory import MemoryDatabase, quote_name
from pytest_sqlbench.evaluation.witness_schema import RealDatabase
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import QueryFailure, ResultSet, Row
from pytest_sqlbench.scoring.compare import find_match
from pytest_sqlbench.scoring.order import GoldOrder
from pytest_sqlbench.scoring.published import policy_text
from pytest_sqlbench.scoring.witness.constants import find_clues
from pytest_sqlbench.scoring.witness.form import has_same_form
from pytest_sqlbench.scoring.witness.generate import Generator, Instance
from pytest_sqlbench.scoring.witness.tables import Column, Reference, Table

_CUT = frozenset({"tie_at_cut", "arbitrary_cut"})
GIVEN_UP = 3
"""Failures or unclear instances per usable one, above which a case is left alone."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A generated database on which the prediction gives other rows than every gold."""

    number: int
    """Of the instance; with the seed it makes the database again."""
    tables: Mapping[str, tuple[tuple[str, ...], tuple[Row, ...]]]
    """Table to its column names and rows."""
    gold: ResultSet
    predicted: ResultSet


@dataclass(frozen=True, slots=True)
class Trial:
    """What trying a prediction came to."""

    witness: Witness | None
    tried: int
    """Instances on which gold and prediction were compared."""
    told: int
    """Instances among them on which the gold gave any row."""
    is_same_form: bool = False
    """True if both are the same query but for how it is written, so that nothing had to be tried."""


class WitnessBench:
    """Tries predictions over one database; holds its schema in memory.

    Args:
        path: The real database, which is looked at and never written.
        seed: Of the generated rows.
        references: Foreign keys that the file does not declare, by lower-cased table.
    """

    def __init__(self, path: Path, seed: int = 0, references: Mapping[str, tuple[Reference, ...]] = NOTHING) -> None:
        self._real = RealDatabase(path, references)
        self._memory = MemoryDatabase(self._real.ddl)
        self._seed = seed

    def close(self) -> None:
        """Give file and memory back. Closing twice is allowed."""
        self._real.close()
        self._memory.close()

    def try_prediction(self, golds: Sequence[str], predicted: str, policy: Policy, n: int) -> Trial:
        """Look for a database on which the prediction matches no gold.

        An instance counts only if the gold is clear there: it gives the same answer when its rows are stored in another
        order. Columns may stand in any order, since few rows leave more than one choice where many left none.

        Args:
            golds: Acceptable queries.
            predicted: A query that matched one of them on the real data.
            policy: Under which it matched.
            n: Instances that are made.
        """
        golds = [policy_text(gold, policy) for gold in golds]
        predicted = policy_text(predicted, policy)
        if any(has_same_form(gold, predicted) for gold in golds):
            return Trial(None, 0, 0, is_same_form=True)
        clues = find_clues([*golds, predicted], self._real.schema)
        generator = Generator(self._real.with_kept_references(clues.joined), clues, self._seed)
        inserts = [_insert(*pair) for pair in generator.tables]
        orders = [GoldOrder(gold) for gold in golds]
        loose = replace(policy, columns="permute") if policy.columns == "auto" else policy
        tried = told = unclear = 0
        for number in range(n):
            instance = generator.draw(number)
            self._fill(inserts, instance)
            answer = self._compare(orders, predicted, loose)
            if answer is not None and not answer.is_match and not self._is_clear(inserts, instance, orders, loose):
                answer = None
            if answer is None:
                unclear += 1
                if unclear > GIVEN_UP * (tried + 2):
                    break
                continue
            tried += 1
            told += answer.has_rows
            if not answer.is_match:
                witness = self._witness(generator, inserts, instance, number, orders[0].sql, predicted)
                return Trial(witness, tried, told)
        self._memory.empty()
        return Trial(None, tried, told)

    def draw(self, golds: Sequence[str], predicted: str, policy: Policy, number: int) -> Instance:
        """Make the rows of one instance again."""
        texts = [*(policy_text(gold, policy) for gold in golds), policy_text(predicted, policy)]
        clues = find_clues(texts, self._real.schema)
        return Generator(self._real.with_kept_references(clues.joined), clues, self._seed).draw(number)

    @property
    def ddl(self) -> list[str]:
        """The statements that make the schema."""
        return self._real.ddl

    def _fill(self, inserts: Sequence[str], instance: Instance, is_turned: bool = False) -> None:
        self._memory.fill(
            (insert, instance[name][::-1] if is_turned else instance[name])
            for name, insert in zip(instance, inserts, strict=True)
        )

    def _compare(self, orders: Sequence[GoldOrder], predicted: str, policy: Policy) -> _Answer | None:
        """Run all on the instance at hand; None if a gold or the prediction fails there."""
        given = self._memory.run(predicted)
        if isinstance(given, QueryFailure):
            return None
        has_rows = False
        for order in orders:
            wanted = self._memory.run(order.sql)
            if isinstance(wanted, QueryFailure):
                return None
            has_rows = has_rows or bool(wanted.rows)
            if find_match(wanted, given, policy, order.on(self._memory.run)) is not None:
                return _Answer(True, has_rows)
        return _Answer(False, has_rows)

    def _is_clear(
        self, inserts: Sequence[str], instance: Instance, orders: Sequence[GoldOrder], policy: Policy
    ) -> bool:
        """Say whether every gold gives the same answer when rows are stored, and read, in the other order."""
        first = [self._memory.run(order.sql) for order in orders]
        for order, result in zip(orders, first, strict=True):
            keyed = order.on(self._memory.run).keyed_rows(result) if isinstance(result, ResultSet) else None
            if keyed is not None and order.may_be_cut and keyed.find_cut() is not None:
                return False
        for is_turned, is_reversed in ((True, False), (True, True), (False, True)):
            self._fill(inserts, instance, is_turned)
            self._memory.reverse(is_reversed)
            try:
                for order, result in zip(orders, first, strict=True):
                    again = self._memory.run(order.sql)
                    if isinstance(again, QueryFailure) or isinstance(result, QueryFailure):
                        return False
                    match = find_match(result, again, policy, order.on(self._memory.run))
                    if match is None or not _CUT.isdisjoint(match.flags):
                        return False
            finally:
                self._memory.reverse(False)
        return True

    def _witness(
        self, generator: Generator, inserts: Sequence[str], instance: Instance, number: int, gold: str, predicted: str
    ) -> Witness:
        self._fill(inserts, instance)
        results = [self._memory.run(gold), self._memory.run(predicted)]
        tables = {
            table.title: (
                tuple(column.name for column in table.columns),
                tuple(self._memory.rows_of(table.title)),
            )
            for table, _ in generator.tables
        }
        self._memory.empty()
        assert isinstance(results[0], ResultSet)
        assert isinstance(results[1], ResultSet)
        return Witness(number, tables, results[0], results[1])


@dataclass(frozen=True, slots=True)
class _Answer:
    is_match: bool
    has_rows: bool


def _insert(table: Table, columns: Sequence[Column]) -> str:
    listed = ", ".join(quote_name(column.name) for column in columns)
    marks = ", ".join("?" for _ in columns)
    if not columns:  # nothing is read of it but how many rows it has
        return f"INSERT OR IGNORE INTO {quote_name(table.title)} DEFAULT VALUES"
    return f"INSERT OR IGNORE INTO {quote_name(table.title)} ({listed}) VALUES ({marks})"
