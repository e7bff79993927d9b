"""Values that differ and yet look alike: another type, fewer digits, an identifier in the place of a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from pytest_sqlbench.scoring.columns import Column, candidates, make_table
from pytest_sqlbench.scoring.rows import bag_residue
from pytest_sqlbench.scoring.values import Key, KeyRow, Tolerance, is_fraction, is_number
from pytest_sqlbench.verdict import Reason

Labels = tuple[Sequence[str], Sequence[str]]
Keys = tuple[list[KeyRow], list[KeyRow]]

_EXACT = Tolerance(0.0, 0.0)
_COARSE = Tolerance(0.02, 0.006)
"""What passes for rounding: two per cent, or half a cent."""


def looks_alike(labels: Labels, keys: Keys) -> Reason | None:
    """Name the harmless-looking way in which results of equal shape differ; None if the values simply differ.

    Args:
        labels: Of the gold's columns and of the predicted ones, as many.
        keys: The rows of each side that the other lacks, as normalised keys; as many on both sides.
    """
    if _agree(keys, _as_text):
        return Reason.TYPE_ONLY
    if any(is_fraction(cell) for rows in keys for row in rows for cell in row) and _is_rounded(keys):
        return Reason.ROUNDING
    if _is_identifier_for_label(labels, keys):
        return Reason.IDENTIFIER_FOR_LABEL
    return None


def _agree(keys: Keys, change: Callable[[Key], Key]) -> bool:
    gold, predicted = ([tuple([change(cell) for cell in row]) for row in rows] for rows in keys)
    return bag_residue(gold, predicted, _EXACT).is_empty


def _as_text(cell: Key) -> Key:
    """Return the text that a value of any type would have: numbers in one form, true and false as 1 and 0."""
    if cell is None or isinstance(cell, (bytes, tuple)):
        return cell
    text = str(int(cell) if isinstance(cell, bool) else cell).strip()
    if text.lower() in ("true", "false"):
        return "1" if text.lower() == "true" else "0"
    try:
        number = Decimal(text)
        return f"{number.normalize():f}" if number.is_finite() and abs(number.adjusted()) < 30 else text
    except InvalidOperation:
        return text


def _is_rounded(keys: Keys) -> bool:
    """Say whether rows agree when each number may be the other one, rounded to fewer digits."""
    residue = bag_residue(*keys, _EXACT)
    if len(residue.gold) != len(residue.predicted):
        return False
    if len(residue.gold) > 200:
        return bag_residue(*keys, _COARSE).is_empty
    left = list(residue.predicted)
    for place in residue.gold:
        partner = next((other for other in left if _rounds_to(keys[0][place], keys[1][other])), None)
        if partner is None:
            return False
        left.remove(partner)
    return True


def _rounds_to(row: KeyRow, other: KeyRow) -> bool:
    return len(row) == len(other) and all(map(_is_rounding, row, other))


def _is_rounding(cell: Key, other: Key) -> bool:
    if cell == other:
        return True
    if not (is_number(cell) and is_number(other)) or not (is_fraction(cell) or is_fraction(other)):
        return False
    digits = min(_digits(cell), _digits(other))
    try:
        distance = abs(cell - other)
    except OverflowError:  # a whole number that no float can hold
        return False
    return bool(distance <= 10.0**-digits and distance <= max(1.0, 0.02 * max(abs(cell), abs(other))))


def _digits(number: Key) -> int:
    text = repr(number)
    if "e" in text or "." not in text:
        return 15 if "e-" in text else 0
    return len(text.split(".")[1]) if is_fraction(number) else 0


def _is_identifier_for_label(labels: tuple[Sequence[str], Sequence[str]], keys: Keys) -> bool:
    """Say whether all columns agree but one, in which each name stands for one identifier and the reverse."""
    if not any(map(_is_identifier, [*labels[0], *labels[1]])) and not _has_iri(keys):
        return False
    table = make_table(*keys, labels, _EXACT)
    options = candidates(table)
    lacking = [place for place, found in enumerate(options) if not found]
    spoken_for = {option for found in options for option in found}
    spare = [place for place in range(len(table.predicted)) if place not in spoken_for]
    if len(lacking) != 1 or len(spare) != 1:
        return False
    wanted, given = table.gold[lacking[0]], table.predicted[spare[0]]
    if sorted(_repeats(wanted)) != sorted(_repeats(given)):
        return False
    return _identifies(labels[0][lacking[0]], wanted) != _identifies(labels[1][spare[0]], given)


def _has_iri(keys: Keys) -> bool:
    return any(_is_iri(cell) for rows in keys for row in rows[:1] for cell in row)


def _is_iri(cell: Key) -> bool:
    return isinstance(cell, str) and cell.startswith(("http://", "https://", "urn:"))


def _identifies(label: str, column: Column) -> bool:
    """Say whether a column holds identifiers: by its label, or because a graph names its things by IRIs."""
    return _is_identifier(label) or all(map(_is_iri, column))


def _repeats(column: Column) -> list[int]:
    counts: dict[Key, int] = {}
    for cell in column:
        counts[cell] = counts.get(cell, 0) + 1
    return list(counts.values())


def _is_identifier(label: str) -> bool:
    name = str(label).lower().rsplit(".", 1)[-1].strip("\"'`[] ")
    return name == "id" or name.endswith(("_id", "identifier", "_key", "code", "uuid")) or str(label).endswith("ID")
