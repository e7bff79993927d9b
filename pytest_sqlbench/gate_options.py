"""What the options say of gates, baselines and saved runs, read once; a mistake ends the run before it starts."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pytest_sqlbench.baseline import find_saved, load_run
from pytest_sqlbench.errors import BaselineError
from pytest_sqlbench.gate import CompareFail, Rule, needs_baseline, parse_compare_fail, parse_fail_under
from pytest_sqlbench.options import is_given, read_list, read_option, read_switch
from pytest_sqlbench.run import Run

_ASKING = (
    "sqlbench_fail_under",
    "sqlbench_compare",
    "sqlbench_compare_fail",
    "sqlbench_update_baseline",
    "sqlbench_save",
)
"""Options after which a run of no case is a failure, if they stand on the command line."""


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How a run is gated and what of it is kept."""

    rules: tuple[Rule, ...]
    """Those of the options; suites add their own."""
    is_strict: bool
    is_off: bool
    takes_partial: bool
    expects_cases: bool
    """Whether a gate or a baseline was asked for on the command line, so that no case at all is a failure."""
    storage: Path
    baseline_path: Path | None
    """What the run is compared with; it may not exist yet where it is to be written."""
    baseline: Run | None
    save: str | None
    autosaves: bool
    json_path: Path | None
    updates: bool
    is_forced: bool

    @property
    def tolerates_errors(self) -> bool:
        """True if a rule counts the cases without a verdict, so that it decides on them."""
        return any(isinstance(rule, CompareFail) and rule.name == "errors" for rule in self.rules)

    @property
    def is_set(self) -> bool:
        """True if the options alone put a gate in the place of each wrong answer."""
        return self.is_off or bool(self.rules)


def read_gate_options(config: pytest.Config) -> GateOptions:
    """Read the options; raise `UsageError` or `pytest.UsageError` for what cannot be used."""
    under = [parse_fail_under(text) for text in read_list(config, "sqlbench_fail_under")]
    compared = [parse_compare_fail(text) for text in read_list(config, "sqlbench_compare_fail")]
    update = config.getoption("sqlbench_update_baseline")
    if update not in (None, "yes", "force"):
        raise pytest.UsageError(f"--sqlbench-update-baseline is {update!r}. Allowed: no value, or force.")
    storage = _find_folder(config)
    path = _find_baseline(config, storage, may_be_missing=update is not None)
    if update and path is None:
        raise pytest.UsageError("--sqlbench-update-baseline needs --sqlbench-compare=NAME, the run to write over")
    if path is None and (needy := [rule.text for rule in compared if needs_baseline(rule)]):
        raise pytest.UsageError(f"--sqlbench-compare-fail={needy[0]} needs --sqlbench-compare=NAME")
    json_path = config.getoption("sqlbench_json")
    return GateOptions(
        rules=(*under, *compared),
        is_strict=read_switch(config, "sqlbench_strict"),
        is_off=bool(config.getoption("sqlbench_no_gate")),
        takes_partial=bool(config.getoption("sqlbench_gate_partial")),
        expects_cases=any(is_given(config, name) for name in _ASKING),
        storage=storage,
        baseline_path=path,
        # workers need no baseline: the controller tells regressed from known
        baseline=_load(path) if path is not None and not hasattr(config, "workerinput") else None,
        save=_read_name(config),
        autosaves=bool(config.getoption("sqlbench_autosave")),
        json_path=config.invocation_params.dir / json_path if json_path else None,
        updates=update is not None,
        is_forced=update == "force",
    )


def _find_folder(config: pytest.Config) -> Path:
    return _base(config, "sqlbench_storage") / (read_option(config, "sqlbench_storage") or ".sqlbench")


def _base(config: pytest.Config, name: str) -> Path:
    """Return where a relative path starts: the current folder for the command line, that of the ini file for it."""
    if config.getoption(name) is not None:
        return config.invocation_params.dir
    return config.rootpath if config.inipath is None else config.inipath.parent


def _find_baseline(config: pytest.Config, storage: Path, *, may_be_missing: bool) -> Path | None:
    spec = read_option(config, "sqlbench_compare")
    if spec is None or hasattr(config, "workerinput"):
        # a worker may see another disk, and has no use for it
        return None if spec is None else storage
    try:
        path = _base(config, "sqlbench_compare") / find_saved(spec, storage)
    except BaselineError as error:
        if may_be_missing and spec:
            return storage / f"{spec}.json"
        if spec and (config.invocation_params.dir / spec).exists():
            hint = (
                "To compare with the newest run, put --sqlbench-compare last or write --sqlbench-compare= with nothing."
            )
            raise BaselineError(f"{error} {hint}") from None
        raise
    if not path.exists() and not may_be_missing:
        raise BaselineError(f"no saved run at {show_path(path)}. Save one with --sqlbench-save=NAME.")
    return path


def _load(path: Path) -> Run | None:
    """Load the baseline if it is there."""
    return replace(load_run(path), name=show_path(path)) if path.exists() else None


def show_path(path: Path) -> str:
    """Return a path as a person in the current folder would write it."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if relative.startswith("..") else relative


def _read_name(config: pytest.Config) -> str | None:
    name = config.getoption("sqlbench_save")
    if name is not None and (not name or any(sign in name for sign in "/\\") or name.startswith(".")):
        raise pytest.UsageError(
            f"--sqlbench-save is {name!r}, wanted a name without slashes; --sqlbench-json=PATH writes to a path"
        )
    return name
