"""``file:PATH``: predictions that were recorded before, matched to cases by id or by a checked position."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.errors import CaseError, ModelError, UsageError
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.predictors.options import ModelOptions
from pytest_sqlbench.predictors.recorded_files import Record, read_records


class RecordedPredictor:
    """Serves a file of predictions. A case without one gets ``Prediction(reply=None)``.

    Records count either all by case (``id`` or ``suite/id``) or all by position. By position they fit one suite only:
    it has to be bound first, and their number is checked against it.
    """

    is_instant = True
    """It answers by itself at once: no pool, no store."""

    def __init__(self, name: str, path: Path, records: list[Record]) -> None:
        """Index the records.

        Raises:
            CaseError: Two records answer the same case and sample, or only some records name a case.
        """
        self.name = name
        self._path = path
        named_n = sum(bool(record.id) for record in records)
        if 0 < named_n < len(records):
            odd = next(record for record in records if not record.id)
            raise CaseError(path, odd.line, f"names no case, but {named_n} other predictions do")
        self._order = _Order.NAMED if named_n else _Order.LISTED
        if any(record.position is not None for record in records):
            self._order = _Order.PLACED
        self._index = self._indexed(records)
        self._ids = {key for key, _ in self._index}
        if named_n and self._ids == {str(place) for place in range(len(self._ids))}:
            self._order = _Order.NUMBERED
        self._places: dict[tuple[str, str], str] = {}
        self._positional_suite = ""
        self._owners: dict[str, str] = {}

    def bind_suite(self, suite: Suite) -> None:
        """Check that the file and the suite fit together.

        Raises:
            CaseError: The number of predictions by position is wrong, the file names other databases than the cases
                do, a bare id fits two suites, or the file holds both ``id`` and ``suite/id`` of one case.
        """
        is_by_id = self._order is _Order.NAMED
        if self._order is _Order.NUMBERED:
            # "0" to "n-1" are case ids where the suite has such ids, else places in the published list
            is_by_id = self._ids <= {case.id for case in suite.cases}
        if is_by_id:
            self._check_ids(suite)
        else:
            self._place(suite)
        for case in suite.cases:
            self._check_database(case)

    def predict(self, case: Case, sample: int = 0) -> Prediction:
        """Serve the record of this case.

        Raises:
            ModelError: The record says that the model gave no answer.
            UsageError: Records count by position and the suite of this case was not bound.
        """
        record = self._find(case, sample)
        if record is None:
            return Prediction(reply=None, attempts=0)
        if record.error:
            raise ModelError(f"recorded: {record.error}")
        return Prediction(
            reply=record.text,
            usage=record.usage,
            latency_ms=record.latency_ms,
            attempts=0,
            finish_reason=record.finish_reason,
            facts=record.facts,
        )

    def _indexed(self, records: list[Record]) -> dict[tuple[str, int], Record]:
        index: dict[tuple[str, int], Record] = {}
        for place, record in enumerate(records):
            key = record.id or str(place if record.position is None else record.position)
            first = index.setdefault((key, record.sample), record)
            if first is not record:
                again = f" (first at line {first.line})" if first.line else ""
                raise CaseError(self._path, record.line, f"case {key!r} has a prediction already{again}")
        return index

    def _find(self, case: Case, sample: int) -> Record | None:
        place = self._places.get((case.suite, case.id))
        if place is not None:
            return self._index.get((place, sample))
        if self._order in (_Order.LISTED, _Order.PLACED):
            raise UsageError(f"{self._path}: holds predictions by position, which suite {case.suite!r} is not bound to")
        found = self._index.get((f"{case.suite}/{case.id}", sample))
        return found if found is not None else self._index.get((case.id, sample))

    def _check_ids(self, suite: Suite) -> None:
        for case in suite.cases:
            if case.id not in self._ids:
                continue
            owner = self._owners.setdefault(case.id, suite.name)
            is_twice = f"{suite.name}/{case.id}" in self._ids
            if owner != suite.name or is_twice:
                what = "stands twice, with and without its suite" if is_twice else f"fits {owner!r} and {suite.name!r}"
                line = next(record.line for (key, _), record in self._index.items() if key == case.id)
                raise CaseError(self._path, line, f"case {case.id!r} {what}. Name the suite: '{suite.name}/{case.id}'.")

    def _place(self, suite: Suite) -> None:
        if self._positional_suite not in ("", suite.name):
            both = f"{self._positional_suite!r} and {suite.name!r}"
            raise CaseError(self._path, 0, f"predictions by position fit one suite, not {both}. Key them by case id.")
        self._positional_suite = suite.name
        places = [case.facts.get("position", place) for place, case in enumerate(suite.cases)]
        for case, place in zip(suite.cases, places, strict=True):
            self._places[suite.name, case.id] = str(place)
        is_excerpt = any("position" in case.facts for case in suite.cases)
        self._check_count(suite, wanted=max(places, default=-1) + 1, is_excerpt=is_excerpt)

    def _check_count(self, suite: Suite, wanted: int, is_excerpt: bool) -> None:
        """Compare the number of predictions with the cases; an excerpt of a published list may leave the rest."""
        n = max(map(int, self._ids), default=-1) + 1
        is_short = self._order is _Order.LISTED and n < wanted
        if not is_short and (n <= wanted or is_excerpt):
            return
        last = max((record.line for record in self._index.values()), default=0)
        found = f"holds {n} predictions by position, suite {suite.name!r} has {wanted} "
        found += "positions" if is_excerpt else "cases"
        odd = f"{wanted - n} are missing" if is_short else f"{n - wanted} are too many"
        raise CaseError(self._path, last, f"{found}: {odd}. Key them by case id if that is meant.")

    def _check_database(self, case: Case) -> None:
        record = self._index.get((self._places.get((case.suite, case.id), case.id), 0))
        if record is not None and record.database and case.database and record.database != case.database:
            found = f"the prediction is for database {record.database!r}, the case asks {case.database!r}"
            raise CaseError(self._path, record.line, f"case {case.id!r}: {found}. The order of the two lists differs.")


class _Order(Enum):
    """How a file says which case a prediction answers."""

    NAMED = "by case id"
    NUMBERED = "an object with the keys 0 to n-1: ids or places, as the suite has it"
    PLACED = "records with a place of their own"
    LISTED = "a bare list"


def open_predictor(rest: str, options: ModelOptions) -> RecordedPredictor:
    """Read the file that the spec names, relative to ``options.base_dir``."""
    if not rest:
        raise UsageError("model 'file:' names no file. Write 'file:predictions.jsonl'.")
    path = options.base_dir / rest
    return RecordedPredictor(f"file:{rest}", path, read_records(path))
