"""Why a prediction is wrong, structurally: causes read off both queries, one of them primary by stated rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from pytest_sqlbench.case import Case
from pytest_sqlbench.scoring.facts import Facts, Filter, describe_query
from pytest_sqlbench.verdict import Outcome, Reason, Verdict


class Cause(str, Enum):
    """What part of the query is wrong. The order is that in which the primary cause is chosen."""

    NO_QUERY = "no_query"
    """There was no single statement to run."""
    REFUSED = "refused"
    """It was no read, or used more than it may."""
    HALLUCINATED_NAME = "hallucinated_name"
    DIALECT = "dialect"
    """A function or a syntax that this database does not have."""
    SET_OPERATION = "set_operation"
    SUBQUERY = "subquery"
    TABLE = "table"
    JOIN_MISSING = "join_missing"
    JOIN_EXTRA = "join_extra"
    JOIN_KIND = "join_kind"
    JOIN_CONDITION = "join_condition"
    FILTER_MISSING = "filter_missing"
    FILTER_EXTRA = "filter_extra"
    FILTER_COLUMN = "filter_column"
    FILTER_OPERATOR = "filter_operator"
    FILTER_VALUE = "filter_value"
    GROUPING = "grouping"
    HAVING = "having"
    AGGREGATE = "aggregate"
    COLUMN = "column"
    DISTINCT = "distinct"
    ORDERING = "ordering"
    LIMIT = "limit"
    FUNCTION = "function"
    OTHER = "other"
    """The queries do not differ in any of the above, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The causes of one wrong case."""

    primary: Cause
    causes: tuple[Cause, ...]
    """All that hold, in the order of `Cause`; the primary is one of them."""
    hint: str = ""
    """For a person: ``filter on 'status': 'open' is not 'closed'``; the nearest real name; may be empty."""


def diagnose(
    verdict: Verdict, golds: Sequence[str] = (), dialect: str = "sqlite", names: Sequence[str] = ()
) -> Diagnosis | None:
    """Say why a case is wrong.

    Args:
        verdict: Of any outcome.
        golds: All acceptable golds, if there are several; the one that is nearest in structure is compared.
        dialect: The grammar of both.
        names: Tables and columns that exist, for the nearest to a hallucinated one.

    Returns:
        None unless the outcome is ``wrong``.
    """
    if verdict.outcome is not Outcome.WRONG:
        return None
    direct = _from_reason(verdict, names) or _from_forms(verdict)
    if direct is not None:
        return direct
    if verdict.sql is None:
        return Diagnosis(Cause.NO_QUERY, (Cause.NO_QUERY,))
    predicted = describe_query(verdict.sql, dialect)
    known = [facts for query in (golds or (verdict.gold,)) if (facts := describe_query(query, dialect)) is not None]
    if predicted is None or not known:
        return Diagnosis(Cause.OTHER, (Cause.OTHER,))
    found = [_compare(gold, predicted) for gold in known]
    return min(found, key=lambda diagnosis: (diagnosis.primary is Cause.OTHER, len(diagnosis.causes)))


def diagnose_all(
    verdicts: Iterable[Verdict],
    cases: Mapping[tuple[str, str], Case] | None = None,
    find_names: Callable[[Case], Sequence[str]] = lambda case: (),
) -> dict[int, Diagnosis]:
    """Diagnose every wrong verdict.

    Args:
        verdicts: In any number; several may be of one case.
        cases: Suite and id to the case, for its golds and dialect; where it is not known, the verdict's gold is read.
        find_names: Says which tables and columns a case's database has, for the nearest to a hallucinated one.

    Returns:
        The position of each wrong verdict to its diagnosis.
    """
    found: dict[int, Diagnosis] = {}
    for place, verdict in enumerate(verdicts):
        case = (cases or {}).get((verdict.suite, verdict.case))
        golds, dialect = (case.gold, case.dialect) if case is not None else ((), "sqlite")
        names = find_names(case) if case is not None and verdict.reason in _NO_SUCH else ()
        diagnosis = diagnose(verdict, golds, dialect, names)
        if diagnosis is not None:
            found[place] = diagnosis
    return found


_NO_QUERY = {
    Reason.MISSING_PREDICTION,
    Reason.NO_SQL,
    Reason.BAD_SHAPE,
    Reason.SEVERAL_STATEMENTS,
    Reason.TRUNCATED_REPLY,
}
_REFUSED = {Reason.REFUSED, Reason.TIMEOUT, Reason.MEMORY, Reason.TOO_MANY_BYTES, Reason.CRASH, Reason.NO_RESULT_SET}
_NO_SUCH = {Reason.NO_SUCH_COLUMN, Reason.NO_SUCH_TABLE}
_NAMED = re.compile(
    r"no such (?:column|table): (\S+)|column \"?([\w.]+)\"? does not exist|Unknown column '([^']+)'", re.I
)


_OF_A_FORM = {
    Reason.WRONG_AGGREGATE.value: Cause.AGGREGATE,
    Reason.WRONG_COLUMN.value: Cause.COLUMN,
    Reason.WRONG_CONDITION_COLUMN.value: Cause.FILTER_COLUMN,
    Reason.WRONG_OPERATOR.value: Cause.FILTER_OPERATOR,
    Reason.WRONG_VALUE.value: Cause.FILTER_VALUE,
}
"""Parts in which two logical forms differ: the judge has compared them already, so nothing is parsed again."""


def _from_forms(verdict: Verdict) -> Diagnosis | None:
    parts = verdict.facts.get("differences")
    if not parts:
        return None
    found = {_OF_A_FORM[part] for part in parts if part in _OF_A_FORM}
    if Reason.WRONG_CONDITION.value in parts:
        found |= {Cause.FILTER_MISSING} if " is missing" in verdict.detail else set()
        found |= {Cause.FILTER_EXTRA} if " is too many" in verdict.detail else set()
    causes = tuple(cause for cause in Cause if cause in found) or (Cause.OTHER,)
    return Diagnosis(causes[0], causes, verdict.detail)


def _from_reason(verdict: Verdict, names: Sequence[str]) -> Diagnosis | None:
    if verdict.reason in _NO_QUERY:
        return Diagnosis(Cause.NO_QUERY, (Cause.NO_QUERY,))
    if verdict.reason in _REFUSED:
        return Diagnosis(Cause.REFUSED, (Cause.REFUSED,))
    if verdict.reason in _NO_SUCH:
        return Diagnosis(Cause.HALLUCINATED_NAME, (Cause.HALLUCINATED_NAME,), _nearest(verdict.detail, names))
    if verdict.reason in (Reason.NO_SUCH_FUNCTION, Reason.SYNTAX):
        return Diagnosis(Cause.DIALECT, (Cause.DIALECT,), verdict.detail)
    return None


def _nearest(detail: str, names: Sequence[str]) -> str:
    found = _NAMED.search(detail)
    if found is None:
        return ""
    wrong = next(group for group in found.groups() if group).strip("\"'`").rpartition(".")[2].lower()
    near = get_close_matches(wrong, [name.lower() for name in names], n=1, cutoff=0.5)
    return f"there is no {wrong!r}; the nearest name is {near[0]!r}" if near else f"there is no {wrong!r}"


def _compare(gold: Facts, predicted: Facts) -> Diagnosis:
    """Compare the facts of two queries; the first cause in the order of `Cause` is primary."""
    found: dict[Cause, str] = {}
    for rule in _RULES:
        for cause, hint in rule(gold, predicted):
            found.setdefault(cause, hint)
    _drop_consequences(found, gold, predicted)
    if not found and list(map(_bare, gold.outputs)) != list(map(_bare, predicted.outputs)):
        found[Cause.FUNCTION] = f"{', '.join(predicted.outputs)} is not {', '.join(gold.outputs)}"
    if not found:
        return Diagnosis(Cause.OTHER, (Cause.OTHER,))
    causes = tuple(cause for cause in Cause if cause in found)
    return Diagnosis(causes[0], causes, found[causes[0]])


Findings = list[tuple[Cause, str]]


def _nesting(gold: Facts, predicted: Facts) -> Findings:
    found: Findings = []
    if gold.set_operations != predicted.set_operations:
        hint = f"{_say(predicted.set_operations)} is not {_say(gold.set_operations)}"
        found.append((Cause.SET_OPERATION, hint))
    if gold.subqueries != predicted.subqueries:
        found.append((Cause.SUBQUERY, f"{predicted.subqueries} subqueries, gold has {gold.subqueries}"))
    elif gold.correlations != predicted.correlations:
        found.append((Cause.SUBQUERY, "a subquery is tied to the outer query in another way"))
    return found


def _tables(gold: Facts, predicted: Facts) -> Findings:
    missing, extra = gold.tables - predicted.tables, predicted.tables - gold.tables
    if missing and extra:
        return [(Cause.TABLE, f"{_say(extra)} is not {_say(missing)}")]
    if missing:
        return [(Cause.JOIN_MISSING, f"without {_say(missing)}")]
    if extra:
        return [(Cause.JOIN_EXTRA, f"with {_say(extra)}")]
    return []


def _joins(gold: Facts, predicted: Facts) -> Findings:
    found: Findings = []
    if gold.tables == predicted.tables and _outer(gold) != _outer(predicted):
        found.append((Cause.JOIN_KIND, f"{_say(predicted.joins)} is not {_say(gold.joins)}"))
    if not _same_names(gold.keys, predicted.keys):
        found.append(
            (Cause.JOIN_CONDITION, f"{_say(predicted.keys - gold.keys)} is not {_say(gold.keys - predicted.keys)}")
        )
    return found


def _outer(facts: Facts) -> Counter[str]:
    """Kinds of joins as far as they matter: a cross join with a condition is an inner one."""
    return Counter(
        {
            "left" if kind in ("left", "right") else kind: n
            for kind, n in facts.joins.items()
            if kind not in ("inner", "cross")
        }
    )


def _filters(gold: Facts, predicted: Facts) -> Findings:
    return _compare_conditions(gold.filters, predicted.filters)


def _compare_conditions(gold: Counter[Filter], predicted: Counter[Filter]) -> Findings:
    missing = list((gold - predicted).elements())
    extra = list((predicted - gold).elements())
    found: Findings = []
    for cause, is_pair in _PAIRS:
        for lost in list(missing):
            other = next((one for one in extra if is_pair(lost, one)), None)
            if other is not None:
                missing.remove(lost)
                extra.remove(other)
                if cause is not None:
                    found.append((cause, f"{_show(other)} is not {_show(lost)}"))
    found += [(Cause.FILTER_MISSING, f"without {_show(lost)}") for lost in missing]
    found += [(Cause.FILTER_EXTRA, f"with {_show(more)}") for more in extra]
    return found


_PAIRS: tuple[tuple[Cause | None, Callable[[Filter, Filter], bool]], ...] = (
    (
        None,
        lambda a, b: (
            _bare(a.subject) == _bare(b.subject) and a.operator == b.operator and _bare(a.value) == _bare(b.value)
        ),
    ),
    (Cause.FILTER_COLUMN, lambda a, b: a.operator == b.operator and a.is_between_columns and b.is_between_columns),
    (Cause.FILTER_VALUE, lambda a, b: _bare(a.subject) == _bare(b.subject) and a.operator == b.operator),
    (Cause.FILTER_OPERATOR, lambda a, b: _bare(a.subject) == _bare(b.subject)),
    (Cause.FILTER_COLUMN, lambda a, b: a.operator == b.operator and a.value == b.value),
)
"""How a lost condition and a new one are paired, nearest first; None: they say the same."""


def _groups(gold: Facts, predicted: Facts) -> Findings:
    found: Findings = []
    if not _same_names(gold.groups, predicted.groups):
        found.append((Cause.GROUPING, f"by {_say(predicted.groups)}, gold by {_say(gold.groups)}"))
    having = _compare_conditions(gold.having, predicted.having)
    if having and _undistinct(gold.having) == _undistinct(predicted.having):
        found.append((Cause.DISTINCT, having[0][1]))
    elif having:
        found.append((Cause.HAVING, having[0][1]))
    return found


def _outputs(gold: Facts, predicted: Facts) -> Findings:
    found: Findings = []
    if not _same_aggregates(gold.aggregates, predicted.aggregates):
        words = [" ".join(part).strip() for part in (predicted.aggregates - gold.aggregates)]
        wanted = [" ".join(part).strip() for part in (gold.aggregates - predicted.aggregates)]
        is_distinct = _same_aggregates(_plain_aggregates(gold), _plain_aggregates(predicted))
        cause = Cause.DISTINCT if is_distinct else Cause.AGGREGATE
        found.append((cause, f"{', '.join(words) or 'none'} is not {', '.join(wanted) or 'none'}"))
    if not _same_names(gold.selected, predicted.selected):
        lost, new = gold.selected - predicted.selected, predicted.selected - gold.selected
        found.append((Cause.COLUMN, f"{_say(new)} is not {_say(lost)}"))
    if gold.distinct != predicted.distinct:
        found.append(
            (Cause.DISTINCT, "DISTINCT is missing" if gold.distinct > predicted.distinct else "DISTINCT is extra")
        )
    return found


def _rest(gold: Facts, predicted: Facts) -> Findings:
    found: Findings = []
    if [_bare(key) for key in gold.order] != [_bare(key) for key in predicted.order]:
        found.append(
            (
                Cause.ORDERING,
                f"by {', '.join(predicted.order) or 'nothing'}, gold by {', '.join(gold.order) or 'nothing'}",
            )
        )
    if gold.limits != predicted.limits:
        found.append((Cause.LIMIT, f"{' '.join(predicted.limits) or 'none'} is not {' '.join(gold.limits) or 'none'}"))
    bare_gold = Counter({_bare(text): n for text, n in gold.functions.items()})
    bare_predicted = Counter({_bare(text): n for text, n in predicted.functions.items()})
    if bare_gold != bare_predicted:
        new, lost = bare_predicted - bare_gold, bare_gold - bare_predicted
        found.append((Cause.FUNCTION, f"{_say(new)} is not {_say(lost)}"))
    return found


_RULES = (_nesting, _tables, _joins, _filters, _groups, _outputs, _rest)


def _drop_consequences(found: dict[Cause, str], gold: Facts, predicted: Facts) -> None:
    """Take out what only follows from something that is already said."""
    lost = gold.filters - predicted.filters
    new = predicted.filters - gold.filters
    subjects = {_bare(one.subject) for one in new}, {_bare(one.subject) for one in lost}
    dropped = Cause.FILTER_MISSING in found and any(
        "(subquery)" in one.value and _bare(one.subject) not in subjects[0] for one in lost
    )
    added = Cause.FILTER_EXTRA in found and any(
        "(subquery)" in one.value and _bare(one.subject) not in subjects[1] for one in new
    )
    if dropped or added:
        for cause in (Cause.SUBQUERY, Cause.TABLE, Cause.JOIN_MISSING, Cause.JOIN_EXTRA):
            found.pop(cause, None)
    if found.keys() & {Cause.TABLE, Cause.JOIN_MISSING, Cause.JOIN_EXTRA}:
        for cause in (Cause.JOIN_CONDITION, Cause.JOIN_KIND):
            found.pop(cause, None)


def _undistinct(having: Counter[Filter]) -> Counter[Filter]:
    return Counter(
        {
            Filter(one.subject.replace("distinct ", ""), one.operator, one.value.replace("distinct ", "")): n
            for one, n in having.items()
        }
    )


def _plain_aggregates(facts: Facts) -> Counter[tuple[str, str]]:
    plain: Counter[tuple[str, str]] = Counter()
    for (name, argument), n in facts.aggregates.items():
        plain[name.replace(" distinct", ""), argument] += n
    return plain


def _bare(text: str) -> str:
    """An expression without its tables: names are qualified or not as the writer likes."""
    return re.sub(r"\b[a-z_]\w*\.(?=[a-z_*])", "", text)


def _same_names(gold: Counter[str], predicted: Counter[str]) -> bool:
    """Compare names; one that is qualified on one side only equals the bare one."""
    if gold == predicted:
        return True
    lost, new = gold - predicted, predicted - gold
    bare = all("." not in text for text in new) or all("." not in text for text in lost)
    return bare and Counter({_bare(t): n for t, n in lost.items()}) == Counter({_bare(t): n for t, n in new.items()})


def _same_aggregates(gold: Counter[tuple[str, str]], predicted: Counter[tuple[str, str]]) -> bool:
    return Counter({(a, _bare(b)): n for (a, b), n in gold.items()}) == Counter(
        {(a, _bare(b)): n for (a, b), n in predicted.items()}
    )


def _say(counter: Counter[str]) -> str:
    return ", ".join(sorted(counter)) or "none"


def _show(condition: Filter) -> str:
    return " ".join(part for part in (condition.subject, condition.operator, condition.value) if part)
