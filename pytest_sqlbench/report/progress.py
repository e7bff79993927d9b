"""One line about a run that is under way. Pure: whoever shows it reads the clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    done: int
    total: int
    elapsed_s: float
    right: int
    scorable: int
    calls: int | None = None
    """Calls to the model that are under way; None: nobody makes calls."""
    cost_usd: float = 0.0


def describe_progress(progress: Progress, width: int = 120) -> str:
    """Return done, rate, accuracy so far, calls in flight, cost and time left, as far as they are known."""
    parts = [f"{progress.done:,} of {progress.total:,}"]
    if progress.done and progress.elapsed_s > 0:
        parts.append(f"{progress.done / progress.elapsed_s:.1f}/s")
    if progress.scorable:
        parts.append(f"{100 * progress.right / progress.scorable:.1f} % of {progress.scorable:,} right")
    if progress.calls is not None:
        parts.append(f"{progress.calls:,} calls in flight")
    if progress.cost_usd:
        parts.append(f"${progress.cost_usd:.4f}")
    if progress.done and progress.elapsed_s > 0:
        left_s = round((progress.total - progress.done) * progress.elapsed_s / progress.done)
        hours, rest = divmod(max(0, left_s), 3600)
        clock = f"{rest // 60}:{rest % 60:02}" if not hours else f"{hours}:{rest // 60:02}:{rest % 60:02}"
        parts.append(f"{clock} left")
    return ("sqlbench: " + ", ".join(parts))[: max(1, width)]
