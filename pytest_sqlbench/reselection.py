"""``--sqlbench-select``: runs just the cases again that were wrong, failed, regressed, were fixed, or have a cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_sqlbench.case import Case
from pytest_sqlbench.comparison import Comparison
from pytest_sqlbench.run import Run, tally_cases
from pytest_sqlbench.verdict import Outcome

if TYPE_CHECKING:
    from pytest_sqlbench.triage import Diagnosis

RECORD = "sqlbench/last_run"
"""Key in pytest's cache: case, as in ``shop[dear]``, to the words that it is selected by."""
SELECTED = "sqlbench_selected"
"""The key of a worker's input that names the cases."""

WORDS = ("wrong", "error", "regressed", "fixed")


def remember(
    config: pytest.Config, run: Run, comparison: Comparison | None, diagnoses: Mapping[int, Diagnosis]
) -> None:
    """Keep what the judged cases can be selected by; what is known of others stays."""
    cache = getattr(config, "cache", None)
    if cache is None:
        return
    record: dict[str, list[str]] = dict(cache.get(RECORD, {}))
    causes: dict[str, set[str]] = {}
    for place, diagnosis in diagnoses.items():
        verdict = run.verdicts[place]
        name = f"{verdict.suite}[{verdict.case}]"
        causes.setdefault(name, set()).update(f"cause:{cause.value}" for cause in diagnosis.causes)
    changes = dict.fromkeys((pair.key for pair in comparison.regressed), "regressed") if comparison else {}
    changes.update(dict.fromkeys((pair.key for pair in comparison.fixed), "fixed") if comparison else {})
    for (suite, case), tally in tally_cases(run.verdicts).items():
        name = f"{suite}[{case}]"
        words = {changes[suite, case]} if (suite, case) in changes else set()
        words |= {"error"} if tally.is_trouble else set()
        words |= {"wrong"} if any(one.outcome is Outcome.WRONG for one in tally.verdicts) else set()
        words |= causes.get(name, set())
        record.pop(name, None)
        if words:
            record[name] = sorted(words)
    cache.set(RECORD, {"": [], **record})


class Reselection:
    """Deselects all items but those of the chosen cases, in every process."""

    def __init__(self, config: pytest.Config, word: str) -> None:
        given = getattr(config, "workerinput", {}).get(SELECTED)
        self.names: set[str] = set(given) if given is not None else _find(config, word)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker the cases: it may have another cache, or none."""
        node.workerinput[SELECTED] = sorted(self.names)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the items of the chosen cases."""
        kept = [item for item in items if _name(item) in self.names]
        if len(kept) < len(items):
            chosen = set(map(id, kept))
            config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
            items[:] = kept


def read_selection(config: pytest.Config) -> Reselection | None:
    """Read the option; raise `pytest.UsageError` for a word that is none, or where no earlier run is known."""
    word = config.getoption("sqlbench_select")
    if word is None:
        return None
    from pytest_sqlbench.triage import Cause

    causes = [cause.value for cause in Cause]
    if word not in WORDS and word.removeprefix("cause:") not in causes * word.startswith("cause:"):
        raise pytest.UsageError(
            f"--sqlbench-select is {word!r}. Allowed: {', '.join(WORDS)}, and cause:X where X is {', '.join(causes)}."
        )
    return Reselection(config, word)


def _find(config: pytest.Config, word: str) -> set[str]:
    cache = getattr(config, "cache", None)
    record = cache.get(RECORD, None) if cache is not None else None
    if record is None:
        raise pytest.UsageError(
            f"--sqlbench-select={word} needs an earlier run in pytest's cache: run once without it."
        )
    return set(_named(record, word))


def _named(record: Mapping[str, list[str]], word: str) -> Iterable[str]:
    return (name for name, words in record.items() if word in words)


def _name(item: pytest.Item) -> str:
    case = getattr(item, "case", None) or getattr(getattr(item, "callspec", None), "params", {}).get("sqlbench_case")
    return f"{case.suite}[{case.id}]" if isinstance(case, Case) else ""
