"""Verdicts cross process borders as plain types that every carrier can write."""

from __future__ import annotations

import execnet
import pytest

from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.verdict import Outcome, Reason, Verdict, from_record, to_record


@pytest.mark.parametrize("cell", [-(2**63), -(2**31) - 1, 2**63, -1, 1.5, None, "x", b"\x00", True])
def test_any_cell_can_be_sent_to_the_controller(cell: object) -> None:
    result = ResultSet(("a",), [(cell,)])
    verdict = Verdict("s", "c", Outcome.WRONG, reason=Reason.VALUES, gold_result=result, predicted_result=result)
    record = to_record(verdict)
    assert execnet.loads(execnet.dumps(record)) == record
    assert from_record(record).outcome is Outcome.WRONG
