"""How a run is done, read once from options, ini and environment into one frozen record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import Limits


@dataclass(frozen=True, slots=True)
class Settings:
    """What judging needs to know beside the case. Model, gate and report options are records of their own."""

    limits: Limits = field(default_factory=Limits)
    gold_timeout_s: float = 60.0
    """Deadline of a gold query; one that meets it is a gold error."""
    policy: Policy | None = None
    """Overrides the suites' policies; None: each suite's own."""
    also: tuple[Policy, ...] = ()
    """Policies whose verdicts are shown beside the main one."""
    extraction: Literal["full", "fences", "off"] = "full"
    """How the statement is picked out of the reply; ``off``: the reply is judged as it came."""
    runs_in_process: bool = False
    """Run predictions without the child process: for debugging only."""
    allows_superuser: bool = False
    """Run predictions as a server's superuser all the same, for whom read-only is a promise and not a wall."""
    repeats_queries: int = 1
    """How often each query runs; above 1, differing results are flagged as nondeterministic."""
    witnesses: int = 0
    """Generated databases on which a passing prediction is tried again."""
    seed: int = 0
    keeps_results: bool = False
    """Keep both results of correct cases too; a large run would hold them all in memory."""
    cache_dir: Path | None = None
    """Where built databases and gold results are kept; None: a folder that is removed at the end."""
