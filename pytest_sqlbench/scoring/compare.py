"""Whether two result sets answer a question alike, under an explicit policy, with a reason where they do not.

Pure but for `GoldOrder`, which the caller makes and which may run a variant of the gold when rows tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_sqlbench.errors import UsageError
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.result import ResultSet
from pytest_sqlbench.scoring.columns import (
    Assignment,
    Kind,
    assign_by_content,
    assign_by_label,
    assign_without_choice,
    fold_label,
    make_table,
)
from pytest_sqlbench.scoring.order import GoldOrder, NarrowedOrder, fits_ties
from pytest_sqlbench.scoring.rows import Residue, bag_residue, is_same_bag, sequence_residue, set_residue
from pytest_sqlbench.scoring.values import KeyRow, Tolerance, key_rows
from pytest_sqlbench.verdict import Match

_SAME = Match(is_match=True)
_VACUOUS = Match(is_match=True, flags=("vacuous",))


def compare(gold: ResultSet, predicted: ResultSet, policy: Policy, *, order: GoldOrder | None = None) -> Match:
    """Decide whether two result sets answer the question alike.

    Under the default policy: a bag of rows, in the gold's order where its text has a top-level ORDER BY (rows that
    tie may come in any order); columns by position, else in another order only where values or labels leave no choice;
    whole numbers exact, fractions within a relative 1e-6, NULL equal to NULL only.

    Args:
        gold: What the gold query returned.
        predicted: What the predicted query returned, of any shape.
        policy: How rows, columns and values are compared.
        order: What the gold's text says of row order; None: rows come in any order.

    Returns:
        A Match. If unequal, `reason` says why, `detail` names the first difference ("row 3, column 2: 41 is not 42":
        the prediction has 41, the gold 42), and `near` lists the presets under which the two would match.

    Raises:
        UsageError: `policy.required` names a column that the gold does not have.
    """
    match = find_match(gold, predicted, policy, order)
    if match is not None:
        return match
    from pytest_sqlbench.scoring.explain import explain

    return explain(gold, predicted, policy, order)


def find_match(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None = None) -> Match | None:
    """Return the match of two results, or None if they differ; does not say why."""
    if policy.rule != "relational":
        from pytest_sqlbench.scoring.published import matches_published

        is_match = matches_published(gold, predicted, policy, order)
        if not is_match:
            return None
        return _SAME if gold.rows or predicted.rows else _VACUOUS
    if policy.required:
        gold, policy, order = _only_required(gold, policy, order)
    if not gold.rows and not predicted.rows:
        return _match_empty(gold, predicted, policy)
    if gold.rows == predicted.rows and policy.values == "normalised" and _labels_agree(gold, predicted, policy):
        return _SAME
    if not gold.rows or not predicted.rows:
        return None
    if _is_reordered(gold, predicted, policy, order):
        return _SAME
    return _Comparison(gold, predicted, policy, order).run()


def _is_reordered(gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> bool:
    """Say whether the very same rows come in another order and may; False decides nothing."""
    if policy.rows not in ("auto", "multiset") or policy.values == "typed":
        return False
    try:
        is_same = is_same_bag(gold.rows, predicted.rows)
    except TypeError:  # lists and maps of some engines have no hash
        return False
    if not is_same or not _labels_agree(gold, predicted, policy):
        return False
    return policy.rows == "multiset" or order is None or not order.is_ordered


def _labels_agree(gold: ResultSet, predicted: ResultSet, policy: Policy) -> bool:
    """Say whether equal rows may be accepted without a look at the labels."""
    if policy.columns in ("exact", "permute", "superset") or len(gold.columns) == 1:
        return policy.columns != "names"
    return gold.columns == predicted.columns or not (
        policy.columns == "names" or is_relabelled(gold.columns, predicted.columns)
    )


def is_relabelled(gold_labels: Sequence[str], predicted_labels: Sequence[str]) -> bool:
    """Say whether the predicted labels are the gold's, all different, in another order."""
    gold, predicted = [fold_label(label) for label in gold_labels], [fold_label(label) for label in predicted_labels]
    return gold != predicted and len(set(gold)) == len(gold) and sorted(gold) == sorted(predicted)


def _match_empty(gold: ResultSet, predicted: ResultSet, policy: Policy) -> Match | None:
    if policy.vacuous == "fail":
        return None
    if policy.columns == "names":
        labels = [fold_label(label) for label in gold.columns], [fold_label(label) for label in predicted.columns]
        agree = assign_by_label(*labels) is not None and (len(labels[0]) == len(labels[1]) or bool(policy.required))
    elif policy.columns == "superset":
        agree = len(predicted.columns) >= len(gold.columns)
    else:
        agree = len(predicted.columns) == len(gold.columns)
    return _VACUOUS if agree else None


def _only_required(
    gold: ResultSet, policy: Policy, order: GoldOrder | None
) -> tuple[ResultSet, Policy, GoldOrder | None]:
    """Return the gold with the required columns only, a policy that lets the prediction have more, and the order."""
    labels = [fold_label(label) for label in gold.columns]
    places: list[int] = []
    for name in policy.required:
        if fold_label(name) in labels:
            places.append(labels.index(fold_label(name)))
        elif name.isdigit() and 1 <= int(name) <= len(labels):
            places.append(int(name) - 1)
        else:
            raise UsageError(
                f"policy requires column {name!r}, which the gold does not return. "
                f"Allowed: {', '.join(map(str, gold.columns))}, or a position from 1 to {len(labels)}."
            )
    kept = ResultSet(
        tuple(gold.columns[place] for place in places),
        [tuple([row[place] for place in places]) for row in gold.rows],
        gold.elapsed_ms,
        gold.tables,
        gold.warnings,
    )
    wider = policy if policy.columns == "names" else replace(policy, columns="superset")
    return kept, wider, None if order is None else NarrowedOrder(order, gold, places)


@dataclass(frozen=True, slots=True)
class _Fit:
    """How the rows of one column assignment agree."""

    is_close: bool = False
    flags: tuple[str, ...] = ()


class _Comparison:
    """One comparison under the relational rule: both sides as keys, and the ways to pair their columns."""

    def __init__(self, gold: ResultSet, predicted: ResultSet, policy: Policy, order: GoldOrder | None) -> None:
        self._gold, self._predicted, self._policy, self._order = gold, predicted, policy, order
        is_typed = policy.values == "typed"
        self._tolerance = Tolerance(0.0, 0.0) if is_typed else Tolerance(policy.rel_tol, policy.abs_tol)
        self._gold_rows, self._predicted_rows = key_rows(gold.rows, predicted.rows, is_typed)
        self._width, self._predicted_width = len(gold.columns), len(predicted.columns)

    def run(self) -> Match | None:
        """Return the match, or None."""
        identity = tuple(range(self._width))
        for assignment in self._assignments(identity):
            fit = self._fit(assignment)
            if fit is None:
                continue
            if assignment == identity and self._policy.columns == "auto" and self._is_contradicted():
                return None
            flags = list(fit.flags)
            if assignment != identity:
                flags.append("columns_permuted")
            if self._predicted_width > self._width:
                flags.append("extra_columns")
            if fit.is_close:
                flags.append("tolerance")
            return Match(is_match=True, flags=tuple(flags)) if flags else _SAME
        return None

    def _assignments(self, identity: Assignment) -> Iterator[Assignment]:
        columns, policy = self._policy.columns, self._policy
        gold_labels, predicted_labels = self._folded()
        if columns == "names":
            by_label = assign_by_label(gold_labels, predicted_labels)
            if by_label is not None and (self._predicted_width == self._width or policy.required):
                yield by_label
            return
        if self._predicted_width >= self._width and (columns == "superset" or self._predicted_width == self._width):
            yield identity
        else:
            return
        if columns == "exact" or self._predicted_width == 1:
            return
        labels = (self._gold.columns, self._predicted.columns)
        if self._is_ordered():
            table = make_table(self._gold_rows, self._predicted_rows, labels, self._tolerance, "sequence")
            if (found := assign_without_choice(table)) is not None:
                yield found
        if policy.rows != "ordered":
            kind: Kind = "set" if policy.rows == "set" else "bag"
            table = make_table(self._gold_rows, self._predicted_rows, labels, self._tolerance, kind)
            found = assign_without_choice(table) if columns == "auto" else assign_by_content(table)
            if found is not None:
                yield found

    def _folded(self) -> tuple[list[str], list[str]]:
        return [fold_label(label) for label in self._gold.columns], [
            fold_label(label) for label in self._predicted.columns
        ]

    def _is_ordered(self) -> bool:
        if self._policy.rows == "auto":
            return self._order is not None and self._order.is_ordered
        return self._policy.rows == "ordered"

    def _project(self, assignment: Assignment) -> list[KeyRow]:
        if len(assignment) == self._predicted_width and assignment == tuple(range(len(assignment))):
            return self._predicted_rows
        return [tuple([row[place] for place in assignment]) for row in self._predicted_rows]

    def _fit(self, assignment: Assignment) -> _Fit | None:
        rows = self._project(assignment)
        mode = self._policy.rows
        if mode == "ordered":
            return _fit_of(sequence_residue(self._gold_rows, rows, self._tolerance))
        if mode == "set":
            return _fit_of(set_residue(self._gold_rows, rows, self._tolerance))
        fit = self._fit_bag(rows)
        if mode == "multiset" or self._order is None:
            return fit
        if fit is None:
            return self._fit_cut(rows)
        return self._fit_order(rows, fit) if self._order.is_ordered else fit

    def _fit_bag(self, rows: list[KeyRow]) -> _Fit | None:
        if len(rows) != len(self._gold_rows):
            return None
        if is_same_bag(self._gold_rows, rows):
            return _Fit()
        if self._tolerance.is_zero:
            return None
        return _fit_of(bag_residue(self._gold_rows, rows, self._tolerance))

    def _fit_order(self, rows: list[KeyRow], fit: _Fit) -> _Fit | None:
        if sequence_residue(self._gold_rows, rows, self._tolerance).is_empty:
            return fit
        return self._fit_ties(rows, "ties")

    def _fit_cut(self, rows: list[KeyRow]) -> _Fit | None:
        assert self._order is not None
        if len(rows) != len(self._gold_rows) or self._policy.columns == "superset" or not self._order.may_be_cut:
            return None
        return self._fit_ties(rows, "tie_at_cut" if self._order.is_ordered else "arbitrary_cut")

    def _fit_ties(self, rows: list[KeyRow], flag: str) -> _Fit | None:
        assert self._order is not None
        keyed = self._order.keyed_rows(self._gold)
        if keyed is None:
            return None
        # keys of values depend on both sides, so they are made together
        gold_rows, _ = key_rows(keyed.rows, self._predicted.rows, self._policy.values == "typed")
        if not fits_ties(keyed, gold_rows, rows, self._tolerance):
            return None
        return _Fit(flags=("ties",) if flag == "ties" else ("ties", flag))

    def _is_contradicted(self) -> bool:
        """Say whether labels pair the columns in another order, in which the rows agree as well.

        Then the values cannot tell whether two columns were swapped, and the labels say that they were.
        """
        if not is_relabelled(self._gold.columns, self._predicted.columns):
            return False
        by_label = assign_by_label(*self._folded())
        assert by_label is not None
        rows = self._project(by_label)
        return rows != self._predicted_rows and self._fit(by_label) is not None


def _fit_of(residue: Residue) -> _Fit | None:
    return _Fit(is_close=residue.is_close) if residue.is_empty else None
