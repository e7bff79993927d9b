"""Shards join to the run that one machine would have made; what is no shard of it is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.run import Fingerprint, Run, SuiteFacts
from pytest_sqlbench.shards import join_runs
from tests.verdicts import make_verdicts


def test_shards_join_to_the_whole_run() -> None:
    origin = Fingerprint(model="gold", suites={"orders": SuiteFacts(cases=4)})
    verdicts = make_verdicts("ccwm")
    whole = Run(tuple(verdicts), origin)
    shards = [Run(tuple(verdicts[:1]), origin, "a.json"), Run(tuple(verdicts[1:]), origin, "b.json")]
    assert join_runs(shards) == whole


def test_joining_two_models_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a\.json and b\.json are not shards of one run: model is 'x' and 'y'"):
        join_runs([Run((), Fingerprint(model="x"), "a.json"), Run((), Fingerprint(model="y"), "b.json")])


def test_joining_other_data_is_refused() -> None:
    one = Fingerprint(suites={"orders": SuiteFacts(databases={"shop": "aa"})})
    other = replace(one, suites={"orders": SuiteFacts(databases={"shop": "bb"})})
    with pytest.raises(UsageError, match="suite orders differs"):
        join_runs([Run((), one, "a.json"), Run((), other, "b.json")])


def test_a_case_in_two_shards_is_refused() -> None:
    run = Run(tuple(make_verdicts("c")), name="a.json")
    with pytest.raises(UsageError, match=r"case orders\[0000\] is in a\.json and in b\.json"):
        join_runs([run, replace(run, name="b.json")])


def test_joining_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no run"):
        join_runs([])
