"""Gates in a pytest session: what a wrong answer is while a gate is set, what the gates say, and the exit status."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.comparison import Comparison, classify, compare_runs
from pytest_sqlbench.errors import BaselineError
from pytest_sqlbench.gate import FailUnder, GateResult, Rule, needs_baseline
from pytest_sqlbench.gate_options import GateOptions, read_gate_options
from pytest_sqlbench.github_actions import register_github
from pytest_sqlbench.provenance import describe_origin
from pytest_sqlbench.report.comparison import Line, describe_comparison, describe_gates
from pytest_sqlbench.report.failure import headline
from pytest_sqlbench.run import Fingerprint, Run, Tally, count_missing, measure_cost, tally_cases
from pytest_sqlbench.run_files import keep_run

if TYPE_CHECKING:
    from pytest_sqlbench.case import Case
    from pytest_sqlbench.session import SqlbenchSession
    from pytest_sqlbench.verdict import Verdict

_STATUS: dict[str, tuple[str, str, tuple[str, dict[str, bool]]]] = {
    "wrong": ("wrong", "w", ("WRONG", {"yellow": True})),
    "known_wrong": ("known wrong", "k", ("KNOWN WRONG", {"yellow": True})),
    "regressed": ("regressed", "R", ("REGRESSED", {"red": True})),
    "fixed": ("fixed", "+", ("FIXED", {"green": True})),
    "trouble": ("tolerated errors", "e", ("TOLERATED ERROR", {"yellow": True})),
}

_MARK = "sqlbench "
"""What our expected failures begin with; those of a user's own ``xfail`` mark stay as pytest shows them."""


def _is_excused(report: Any) -> bool:
    return bool(report.skipped) and str(getattr(report, "wasxfail", "")).startswith(_MARK)


class Gatekeeper:
    """Turns wrong answers into expected failures while a gate is set, and lets the gates decide."""

    def __init__(self, session: SqlbenchSession) -> None:
        self._session = session
        self._config = session.config
        self.options: GateOptions = read_gate_options(session.config)
        baseline = self.options.baseline
        self._old: dict[tuple[str, str], Tally] = tally_cases(baseline.verdicts) if baseline is not None else {}
        self.wrong_ids: set[str] = set()
        """Node ids of excused answers."""
        self._faulty_files: set[str] = set()
        self.run: Run | None = None
        self.comparison: Comparison | None = None
        self.results: list[GateResult] = []
        self.kept: list[Line] = []
        """What became of the files that were to be written."""
        self.obstacle = "the run ended early"
        """Why the gates were not evaluated; empty once they were."""

    # --- the outcome of a case

    def is_gated(self, suite: str) -> bool:
        """True if the gates, and not each wrong answer of this suite, decide on the session."""
        if self.options.is_strict:
            return False
        return self.options.is_set or any(
            known.fail_under is not None for known in self._session.suites.values() if known.name == suite
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, pytest.TestReport]:
        """Report a wrong answer under a gate as pytest reports an expected failure."""
        report = yield
        self.excuse(report)
        return report  # type: ignore[no-any-return]

    def excuse(self, report: Any) -> None:
        """Make an expected failure of a wrong answer under a gate."""
        if getattr(report, "sqlbench", None) and report.failed:
            tally = self._session.read(report)
            excused = self.options.tolerates_errors if tally.is_trouble else True
            if excused and self.is_gated(tally.key[0]):
                report.outcome = "skipped"
                report.wasxfail = f"{_MARK}{headline(tally.shown)}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Give the letters w, k, R and + (and e for an error that a gate counts)."""
        if not getattr(report, "sqlbench", None) or report.outcome == "rerun":
            return None
        if _is_excused(report):
            return _STATUS[self._name_change(self._session.read(report))]
        if report.passed and self._old and self._name_change(self._session.read(report)) == "fixed":
            return _STATUS["fixed"]
        return None

    def _name_change(self, tally: Tally) -> str:
        """Say what became of a case since the baseline; ``wrong`` where nothing is known of it."""
        if tally.is_trouble:
            return "trouble"
        old = self._old.get(tally.key)
        known, now = (old.verdicts[0].digest if old else ""), tally.verdicts[0].digest
        if old is None or old.is_trouble or (known and now and known != now):
            return "still_right" if tally.is_right else "wrong"
        return classify(old.is_right, tally.is_right)

    def hear(self, report: pytest.TestReport) -> None:
        """Controller: note what ``--lf`` has to run again though it does not count as failed."""
        if _is_excused(report):
            self.wrong_ids.add(report.nodeid)

    def find_case(self, verdict: Verdict) -> Case | None:
        """Return the case of a verdict where its suite is known."""
        return self._session.reports.cases.get((verdict.suite, verdict.case))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note files that could not be collected: cases may be missing that nobody knows of."""
        if report.failed:
            self._faulty_files.add(report.nodeid)

    # --- the whole run

    def finish(self, session: pytest.Session) -> None:
        """Apply the gates to a run that came to its end, keep what is to be kept, and fail the session if need be."""
        if self._session.is_worker or self._config.option.collectonly:
            return
        self.run = self.make_run()
        missing = count_missing(self.run)
        self.obstacle = self._find_obstacle(missing)
        self._compare(is_partial=bool(missing))
        self._judge()
        self.kept = keep_run(self.run, self.options, self._refuse(missing))
        if self.is_failing:
            # exit code 1, as pytest-cov does it; a code that is already worse stays
            session.testsfailed += 1

    def _find_obstacle(self, missing: dict[str, int]) -> str:
        if self._faulty_files:
            return f"{len(self._faulty_files)} files could not be collected"
        if missing and not self.options.takes_partial:
            lacking = ", ".join(f"{n:,} of {name}" for name, n in missing.items())
            return f"partial run, without {lacking}; gates need every case (--sqlbench-gate-partial)"
        return ""

    def _judge(self) -> None:
        assert self.run is not None, "gates judge a run"
        if not self.run.verdicts:
            if self.options.expects_cases and not self.options.is_off:
                self.results = [GateResult(False, "no case was judged")]
        elif not self.obstacle:
            self.results += [self._apply(rule) for rule in self.rules]

    @property
    def rules(self) -> list[Rule]:
        """The rules of the options and of the suites that were run."""
        if self.options.is_off:
            return []
        have = {verdict.suite for verdict in self._session.verdicts}
        own = [
            FailUnder(f"{suite.name}:{100 * suite.fail_under:g}", suite.name, "", suite.fail_under)
            for suite in self._session.suites.values()
            if suite.fail_under is not None and suite.name in have
        ]
        return [*self.options.rules, *own]

    def _apply(self, rule: Rule) -> GateResult:
        assert self.run is not None, "gates judge a run"
        if needs_baseline(rule) and self.options.updates and (self.options.is_forced or self.options.baseline is None):
            return GateResult(True, f"{rule.text} is waived, since this run becomes the baseline")
        return rule.judge(self.run, self.comparison)

    def _compare(self, *, is_partial: bool) -> None:
        baseline, run = self.options.baseline, self.run
        if baseline is None or run is None or not run.verdicts:
            return
        if is_partial:
            keys = tally_cases(run.verdicts).keys()
            kept = tuple(verdict for verdict in baseline.verdicts if (verdict.suite, verdict.case) in keys)
            baseline = replace(baseline, verdicts=kept)
        try:
            self.comparison = compare_runs(baseline, run)
        except BaselineError as error:
            if not self.options.is_forced:
                self.results = [GateResult(self.options.is_off, str(error))]

    def _refuse(self, missing: dict[str, int]) -> tuple[str, str]:
        """Say why this run must not become a baseline, and why not the one that it was compared with."""
        if not self._session.verdicts:
            return "no case was judged", "no case was judged"
        if self.obstacle or missing:
            whole = self.obstacle or f"partial run, without {sum(missing.values()):,} cases"
            return whole, whole
        if self.errors and not self.options.is_forced:
            trouble = f"{self.errors:,} cases got no verdict"
            return trouble, trouble
        missed = any(not result.is_met for result in self.results) and not self.options.is_forced
        return "", "a gate is missed (=force writes it all the same)" if missed else ""

    def make_run(self) -> Run:
        """Return the run so far, and where it comes from if anything was judged."""
        session = self._session
        verdicts = tuple(session.verdicts)
        suites = session.suites.values()
        origin = describe_origin(session, suites) if suites else Fingerprint()
        return Run(verdicts, origin, cost_per_case_usd=measure_cost(verdicts))

    # --- the end

    @property
    def is_failing(self) -> bool:
        """True if a gate is missed, or what was to be kept was not."""
        return any(not result.is_met for result in self.results) or any(is_good is False for _, is_good in self.kept)

    @property
    def errors(self) -> int:
        """How many cases got no verdict, where no gate counts them."""
        if self.options.tolerates_errors:
            return 0
        return sum(tally.is_trouble for tally in tally_cases(self._session.verdicts).values())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Keep a run that ended early as far as it came: whole, to a file, never as a baseline."""
        if self._session.is_worker or self._config.option.collectonly or self.run is not None:
            return
        if self._session.verdicts:
            self.run = self.make_run()
            self._compare(is_partial=True)
            self.kept = keep_run(self.run, self.options, (self.obstacle, self.obstacle))

    def describe(self) -> list[Line]:
        """Return the lines that stand below the summary."""
        lines: list[Line] = []
        if self._config.option.collectonly:
            return lines
        if self.comparison is not None:
            lines += [(line, None) for line in describe_comparison(self.comparison)]
        if self.rules or self.results:
            shown = self.obstacle if not self.results else ""
            lines += describe_gates(self.results, self.errors, shown)
        return [*lines, *self.kept]


class LastFailed:
    """Makes ``--lf`` remember the wrong cases, which pytest forgets as it does all expected failures."""

    def __init__(self, gatekeeper: Gatekeeper, config: pytest.Config) -> None:
        self._gatekeeper = gatekeeper
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Add them to pytest's own list, once it is written."""
        cache = getattr(self._config, "cache", None)
        if cache is not None and self._gatekeeper.wrong_ids:
            failed = cache.get("cache/lastfailed", {})
            cache.set("cache/lastfailed", {**failed, **dict.fromkeys(sorted(self._gatekeeper.wrong_ids), True)})


def register_gates(session: SqlbenchSession) -> Gatekeeper:
    """Register the gates of a session; raise `UsageError` for options that cannot be used."""
    gatekeeper = Gatekeeper(session)
    manager = session.config.pluginmanager
    manager.register(gatekeeper, "sqlbench-gates")
    if not session.is_worker:
        manager.register(LastFailed(gatekeeper, session.config), "sqlbench-last-failed")
        register_github(gatekeeper, session.config)
    return gatekeeper
