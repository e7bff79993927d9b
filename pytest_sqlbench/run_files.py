"""Keeps a finished run: under a name, under the next number, in a file, or over the baseline."""

from __future__ import annotations

from pathlib import Path

from pytest_sqlbench.baseline import number_path, save_run
from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.gate_options import GateOptions, show_path
from pytest_sqlbench.report.comparison import Line
from pytest_sqlbench.run import Run


def keep_run(run: Run, options: GateOptions, refusals: tuple[str, str]) -> list[Line]:
    """Write every file that the options ask for.

    Args:
        run: As far as it came.
        options: What is to be written, and where.
        refusals: Why the run must not be saved as a baseline, and why not over the one it was compared with; empty
            where it may.

    Returns:
        A line for each file; it is bad news where a file that was asked for was not written.
    """
    no_save, no_update = refusals
    lines: list[Line] = []
    # a shard that got no case is still a part that `merge` asks for
    if options.json_path and (run.verdicts or run.fingerprint.shard):
        lines.append(_write(run, options.json_path, is_committed=False))
    if options.save:
        target = options.storage / f"{options.save}.json"
        lines.append(
            (f"NOT SAVED as {show_path(target)}: {no_save}", False)
            if no_save
            else _write(run, target, is_committed=True)
        )
    if options.autosaves:
        target = number_path(options.storage, _label(run))
        lines.append((f"not autosaved: {no_save}", None) if no_save else _write(run, target, is_committed=False))
    if options.updates and options.baseline_path:
        target = options.baseline_path
        if no_update:
            lines.append((f"BASELINE NOT UPDATED, {show_path(target)} stays as it was: {no_update}", False))
        else:
            lines.append(_write(run, target, is_committed=True))
    return lines


def _write(run: Run, path: Path, *, is_committed: bool) -> Line:
    try:
        save_run(run, path, is_committed=is_committed)
    except UsageError as error:
        return f"NOT SAVED: {error}", False
    return f"saved {show_path(path)}", None


def _label(run: Run) -> str:
    """Return what tells numbered runs apart: the commit, or that there is none."""
    commit, _, dirty = run.fingerprint.commit.partition("-")
    return f"{commit[:7]}{'-dirty' if dirty else ''}" if commit else "uncommitted"
