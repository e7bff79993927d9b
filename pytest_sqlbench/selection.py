"""Which cases of a suite are run: a limit, or a sample that is the same everywhere and for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pytest_sqlbench.case import Case
from pytest_sqlbench.options import read_number, read_option


@dataclass(frozen=True, slots=True)
class Selection:
    """What cuts every suite on purpose. Part of a run's fingerprint."""

    limit: int | None = None
    sample: int | None = None
    seed: str = "0"
    shard: tuple[int, int] | None = None
    """Which of how many parts of the selected cases this process runs, from 1; None: all of them."""

    def __str__(self) -> str:
        """As in ``limit=100`` or ``sample=50:0``; empty if nothing is cut."""
        if self.sample is not None:
            return f"sample={self.sample}:{self.seed}"
        return f"limit={self.limit}" if self.limit is not None else ""

    def pick(self, cases: Sequence[Case]) -> Sequence[Case]:
        """Return the selected cases in their own order.

        A sample takes the cases whose hash of seed, suite and id is lowest: adding a case moves at most one.
        """
        if self.sample is not None and self.sample < len(cases):
            ranked = sorted(cases, key=self._rank)[: self.sample]
            chosen = {case.id for case in ranked}
            return [case for case in cases if case.id in chosen]
        return cases if self.limit is None else cases[: self.limit]

    def share(self, cases: Sequence[Case]) -> Sequence[Case]:
        """Return the selected cases that fall to this shard, by a hash of suite and id: the same on every machine."""
        picked = self.pick(cases)
        if self.shard is None:
            return picked
        number, n = self.shard
        return [case for case in picked if _hash(case) % n == number - 1]

    @property
    def shard_name(self) -> str:
        """As in ``3/8``; empty where the run is not divided."""
        return "" if self.shard is None else f"{self.shard[0]}/{self.shard[1]}"

    def _rank(self, case: Case) -> bytes:
        return hashlib.sha256(f"{self.seed}\0{case.suite}\0{case.id}".encode()).digest()


def read_selection(config: pytest.Config) -> Selection:
    """Read the selection from the options; raise `pytest.UsageError` for values that cannot be."""
    shard = _read_shard(read_option(config, "sqlbench_shard"))
    limit = read_option(config, "sqlbench_limit")
    sample = read_option(config, "sqlbench_sample")
    if limit is not None and sample is not None:
        raise pytest.UsageError("--sqlbench-limit and --sqlbench-sample exclude each other")
    if limit is not None:
        return Selection(limit=int(read_number(config, "sqlbench_limit", int, 0, least=1)), shard=shard)
    if sample is None:
        return Selection(shard=shard)
    number, _, seed = str(sample).partition(":")
    if not number.isdigit() or int(number) < 1:
        raise pytest.UsageError(f"--sqlbench-sample is {sample!r}, wanted N or N:SEED with N of at least 1")
    return Selection(sample=int(number), seed=seed or "0", shard=shard)


def _read_shard(value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, _, n = value.partition("/")
    if not (number.isdecimal() and n.isdecimal() and 1 <= int(number) <= int(n)):
        raise pytest.UsageError(f"--sqlbench-shard is {value!r}, wanted I/N with I from 1 to N, as in 3/8")
    return int(number), int(n)


def _hash(case: Case) -> int:
    return int.from_bytes(hashlib.sha256(f"shard\0{case.suite}\0{case.id}".encode()).digest()[:8], "big")
