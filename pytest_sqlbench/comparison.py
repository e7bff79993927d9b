"""Two runs side by side: what was fixed, what regressed, and whether the difference can be chance. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pytest_sqlbench.errors import BaselineError
from pytest_sqlbench.run import Fingerprint, Key, Run, SuiteFacts, Tally, natural_order, tally_cases
from pytest_sqlbench.significance import Difference, compare_paired, compare_right_and_wrong


@dataclass(frozen=True, slots=True)
class Pair:
    """One case in both runs: the same question and gold, answered and scored in each."""

    old: Tally
    new: Tally

    @property
    def key(self) -> Key:
        """Suite and case."""
        return self.new.key


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside its baseline. Every case of either run is in exactly one of the nine groups."""

    baseline: Run
    run: Run
    fixed: tuple[Pair, ...]
    regressed: tuple[Pair, ...]
    known_wrong: tuple[Pair, ...]
    still_right: tuple[Pair, ...]
    new: tuple[Key, ...]
    removed: tuple[Key, ...]
    edited: tuple[Key, ...]
    """Cases whose question, gold or database name changed: another case under the same id."""
    unanswered: tuple[Key, ...]
    """Cases on which the bench failed in either run: nothing can be said of them."""
    unscorable: tuple[Key, ...]
    notes: tuple[str, ...] = ()
    """What differs and may: model, plugin, engines."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The cases that can be compared, in order of suite and id."""
        groups = (*self.fixed, *self.regressed, *self.known_wrong, *self.still_right)
        return tuple(sorted(groups, key=lambda pair: natural_order(pair.key)))

    @property
    def flaky(self) -> tuple[Tally, ...]:
        """Cases of this run of which some samples are right and some are not."""
        return tuple(tally for tally in tally_cases(self.run.verdicts).values() if tally.is_flaky)


def compare_runs(baseline: Run, run: Run) -> Comparison:
    """Sort the cases of two runs.

    Raises:
        BaselineError: They were judged by other rules or on other data; the message names each field.
    """
    if reasons := find_conflicts(baseline.fingerprint, run.fingerprint):
        raise BaselineError(
            f"{baseline.name or 'the baseline'} cannot be compared with this run: {'; '.join(reasons)}. "
            "Look at the new scores, then save a new baseline (--sqlbench-update-baseline=force)."
        )
    old, new = tally_cases(baseline.verdicts), tally_cases(run.verdicts)
    pairs: defaultdict[str, list[Pair]] = defaultdict(list)
    alone: defaultdict[str, list[Key]] = defaultdict(list)
    for key in sorted(old.keys() | new.keys(), key=natural_order):
        if key not in new:
            alone["removed"].append(key)
        elif key not in old:
            alone["new"].append(key)
        elif obstacle := _why_not_compared(old[key], new[key]):
            alone[obstacle].append(key)
        else:
            pairs[classify(old[key].is_right, new[key].is_right)].append(Pair(old[key], new[key]))
    return Comparison(
        baseline,
        run,
        fixed=tuple(pairs["fixed"]),
        regressed=tuple(pairs["regressed"]),
        known_wrong=tuple(pairs["known_wrong"]),
        still_right=tuple(pairs["still_right"]),
        new=tuple(alone["new"]),
        removed=tuple(alone["removed"]),
        edited=tuple(alone["edited"]),
        unanswered=tuple(alone["unanswered"]),
        unscorable=tuple(alone["unscorable"]),
        notes=tuple(find_notes(baseline.fingerprint, run.fingerprint)),
    )


def classify(was_right: bool, is_right: bool) -> str:
    """Name what became of a case that both runs answered."""
    if was_right:
        return "still_right" if is_right else "regressed"
    return "fixed" if is_right else "known_wrong"


def _why_not_compared(old: Tally, new: Tally) -> str:
    before, now = old.verdicts[0].digest, new.verdicts[0].digest
    if before and now and before != now:
        return "edited"
    if not (old.is_scorable and new.is_scorable):
        return "unscorable"
    return "unanswered" if old.is_trouble or new.is_trouble else ""


def measure_difference(pairs: Iterable[Pair], figure: str = "accuracy", seed: int = 0) -> Difference:
    """Return new minus old over paired cases, with interval and two-sided p-value.

    Right or wrong, one sample a case: exact McNemar. Several samples, or a graded figure: paired bootstrap.

    Args:
        pairs: The cases.
        figure: ``accuracy``, ``score`` (the metric's own value), or a further figure such as ``pcm_em``.
        seed: Of the bootstrap.

    Raises:
        ValueError: There is no case to compare.
    """
    value = _reader(figure)
    differences = [value(pair.new) - value(pair.old) for pair in pairs]
    if set(differences) <= {-1.0, 0.0, 1.0}:
        return compare_right_and_wrong(differences.count(1.0), differences.count(-1.0), len(differences))
    return compare_paired(differences, seed)


def _reader(figure: str) -> Callable[[Tally], float]:
    if figure == "accuracy":
        return lambda tally: tally.rate
    return lambda tally: tally.mean("" if figure == "score" else figure)


def is_graded(pairs: Iterable[Pair]) -> bool:
    """True if the metric's value of some case is neither 0 nor 1, so that accuracy hides part of it."""
    tallies = (tally for pair in pairs for tally in (pair.old, pair.new))
    return any(verdict.score not in (None, 0.0, 1.0) for tally in tallies for verdict in tally.verdicts)


def select_pairs(pairs: Iterable[Pair], name: str) -> list[Pair]:
    """Return the pairs of the suite, difficulty or tag ``name``, as this run has it; all where it is empty."""
    return [
        pair
        for pair in pairs
        if not name or name in (pair.new.verdicts[0].suite, pair.new.verdicts[0].difficulty, *pair.new.verdicts[0].tags)
    ]


def find_conflicts(old: Fingerprint, new: Fingerprint) -> list[str]:
    """Say what makes two runs not comparable, field by field; an empty list if nothing does."""
    found = [
        _differs(name.replace("_", " "), getattr(old, name), getattr(new, name))
        for name in ("policy_version", "extraction", "selection")
    ]
    for name in sorted(old.suites.keys() & new.suites.keys()):
        found.extend(_suite_conflicts(name, old.suites[name], new.suites[name]))
    return [line for line in found if line]


def _suite_conflicts(name: str, old: SuiteFacts, new: SuiteFacts) -> list[str]:
    shared = sorted(old.databases.keys() & new.databases.keys())
    return [
        _differs(f"metric of suite {name}", old.metric, new.metric),
        _differs(f"policy of suite {name}", old.policy, new.policy),
        _differs(f"threshold of suite {name}", old.threshold, new.threshold),
        *(
            _differs(f"data of database {key} in suite {name}", old.databases[key], new.databases[key])
            for key in shared
        ),
    ]


def find_notes(old: Fingerprint, new: Fingerprint) -> list[str]:
    """Say what differs between two comparable runs, and may: it is what the comparison is about."""
    found = [_differs(name, getattr(old, name), getattr(new, name)) for name in ("model", "samples", "plugin")]
    found += _mapping_notes("parameter", old.parameters, new.parameters)
    found += _mapping_notes("engine", old.engines, new.engines)
    for name in sorted(old.suites.keys() & new.suites.keys()):
        found.append(_differs(f"prompt of suite {name}", old.suites[name].prompt, new.suites[name].prompt))
    return [line for line in found if line]


def _mapping_notes(word: str, old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    return [_differs(f"{word} {key}", old.get(key), new.get(key)) for key in sorted(old.keys() | new.keys())]


def _differs(what: str, old: object, new: object) -> str:
    return "" if old == new else f"{what} was {_word(old)} and is {_word(new)}"


def _word(value: object) -> str:
    return "none" if value in (None, "") else str(value)
