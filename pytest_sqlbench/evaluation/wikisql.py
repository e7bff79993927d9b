"""The judge of WikiSQL: Acc_ex and Acc_lf, officially or strictly, for predictions in any of three shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.evaluation.wikisql_queries import WikiSqlQueries
from pytest_sqlbench.evaluation.wikisql_tables import WikiSqlTables
from pytest_sqlbench.logical_form import AGGREGATES, Condition, LogicalForm, WebTable, render_sql
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.scoring.extract import extract_query
from pytest_sqlbench.scoring.wikisql.answer import Answer, read_answer, read_whole_reply
from pytest_sqlbench.scoring.wikisql.equality import Equality, differences, equal_forms
from pytest_sqlbench.scoring.wikisql.record import NoForm
from pytest_sqlbench.scoring.wikisql.rows import equal_answers, explain_rows, is_vacuous
from pytest_sqlbench.scoring.wikisql.statement import MODES, Mode, same_statement
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import Match, Outcome, Reason, Verdict

_REASON_OF = {
    Status.ERROR: Reason.RUNTIME_ERROR,
    Status.DENIED: Reason.REFUSED,
    Status.ROWS: Reason.TOO_MANY_ROWS,
    Status.BYTES: Reason.TOO_MANY_BYTES,
}
"""Where the word of a status is not the word of the reason."""

_NO_SQL = frozenset({Status.SYNTAX, Status.NO_SUCH_TABLE, Status.NO_SUCH_COLUMN, Status.NO_SUCH_FUNCTION, Status.ERROR})


@dataclass(frozen=True, slots=True)
class _Run:
    """What a prediction came to when it ran."""

    answer: Answer
    cells: list[Any] | None = None
    """What a form answered, its one column."""
    rows: list[tuple[Any, ...]] | None = None
    """What a text answered."""
    failure: QueryFailure | None = None

    @property
    def is_answered(self) -> bool:
        """False where it failed."""
        return self.cells is not None or self.rows is not None

    def equals(self, gold: list[Any], mode: Mode) -> bool:
        """Decide whether it is the gold's answer."""
        if self.cells is not None:
            return equal_answers(gold, self.cells, mode)
        if self.rows is None or (self.rows and len(self.rows[0]) != 1):
            return False
        return equal_answers(gold, [row[0] for row in self.rows], mode)

    def as_rows(self) -> list[tuple[Any, ...]]:
        """Return the answer in the shape of a result set."""
        return [(cell,) for cell in self.cells or ()] if self.rows is None else self.rows


class WikiSqlJudge:
    """Judges the cases of one suite; holds one connection to its tables, and a sandbox once a text needs one."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        policy = settings.policy or suite.policy
        self._mode = cast(Mode, policy.name if policy.name in MODES else suite.settings["mode"])
        self._equality = cast(Equality, suite.settings["lf_equality"])
        self._metric = suite.metric
        self._suite = suite
        self._fails_vacuous = policy.vacuous == "fail"
        self._level = settings.extraction
        database = suite.databases["main"].path if suite.databases else None
        self._tables = WikiSqlTables(database, suite.settings["tables"])
        self._queries = WikiSqlQueries(suite, settings, self._tables)
        self._policy = f"wikisql {self._mode}, lf {'text' if self._mode == 'seed' else self._equality}"

    def judge(self, case: Case, prediction: Prediction) -> Verdict:
        """Judge one prediction: run gold and prediction, compare their answers and their forms."""
        table: WebTable = case.facts["table"]
        form: LogicalForm = case.facts["gold_facts"]
        gold = self._tables.run(form, table, self._mode)
        if isinstance(gold, QueryFailure):
            return self._verdict(case, Outcome.GOLD_ERROR, reason=Reason.GOLD_FAILED, detail=gold.message)
        if prediction.reply is None and prediction.facts is None:
            return self._verdict(case, Outcome.WRONG, score=0.0, reason=Reason.MISSING_PREDICTION)
        said, answer = self._read(prediction, table)
        if answer.form is not None and _is_same(form, answer.form):
            run = _Run(answer, gold)
        else:
            run = self._run(answer, said.text, table)
        return self._compare(case, gold, run, said)

    def close(self) -> None:
        """Close the tables and the sandbox. Closing twice is allowed."""
        self._tables.close()
        self._queries.close()

    def _read(self, prediction: Prediction, table: WebTable) -> tuple[_Text, Answer]:
        """Pick the statement out of the reply, unless the prediction is a record, and read it."""
        reply = prediction.reply or ""
        if prediction.facts is not None or reply.lstrip().startswith("{"):
            return _Text(reply, reply), read_answer(prediction.facts, reply, table)
        found = extract_query(reply, "", self._level)
        if found.sql is None:
            reason = found.trouble or Reason.NO_SQL
            said, answer = "", Answer("sql", None, NoForm(reason, "the reply holds no single statement"))
        else:
            said, answer = found.sql, read_answer(None, found.sql, table)
        is_cut = said != reply and (answer.shape == "pseudo" or answer.form is None)
        whole = read_whole_reply(reply, table) if is_cut else None
        if whole is not None:
            return _Text(reply, reply), whole
        return _Text(reply, said, found.steps), answer

    def _run(self, answer: Answer, text: str, table: WebTable) -> _Run:
        if answer.form is not None:
            rows = self._tables.run(answer.form, table, self._mode)
            if isinstance(rows, QueryFailure):
                return _Run(answer, failure=rows)
            return _Run(answer, rows)
        assert answer.trouble is not None
        if not answer.trouble.is_query:
            return _Run(answer)
        result = self._queries.run(text, table, self._mode)
        if isinstance(result, ResultSet):
            return _Run(answer, rows=result.rows)
        if answer.other is not None and result.status in _NO_SQL:
            return self._run(Answer("pseudo", answer.other), text, table)
        return _Run(answer, failure=result)

    def _compare(self, case: Case, gold: list[Any], run: _Run, said: _Text) -> Verdict:
        gold_form: LogicalForm = case.facts["gold_facts"]
        is_equal = run.equals(gold, self._mode)
        form = run.answer.form
        # SQL that runs and has no logical form is no miss; what does not even run is
        is_other_sql = form is None and run.is_answered
        lf = None if is_other_sql else form is not None and self._same_form(case, form)
        empty = is_vacuous(gold, AGGREGATES[gold_form.agg] == "COUNT")
        flags = _flags(is_equal, lf, empty, form)
        scores = {"acc_ex": float(is_equal)}
        if lf is not None:
            scores["acc_lf"] = float(lf)
        common: dict[str, Any] = {
            "flags": flags,
            "scores": scores,
            "facts": {"shape": run.answer.shape, "acc_lf": "n/a (shape)" if lf is None else lf},
            "sql": case.gold[0] if form == gold_form and said.is_record else said.statement(form, case.facts["table"]),
            "extraction": said.steps,
        }
        if self._metric == "acc_lf":
            is_right, score = lf is True, None if lf is None else float(lf)
        else:
            is_right = is_equal and not (empty and self._fails_vacuous)
            score = float(is_right)
        if self._metric == "acc_lf" and lf is None:
            detail = run.answer.trouble.detail if run.answer.trouble else ""
            return self._verdict(case, Outcome.UNSCORABLE, detail=f"no logical form: {detail}", **common)
        if is_right:
            return self._verdict(case, Outcome.CORRECT, score=score, **common)
        match, parts = self._explain(case, gold, run, is_equal)
        if parts:
            common["facts"]["differences"] = parts
        return self._verdict(
            case,
            Outcome.WRONG,
            score=score,
            reason=match.reason,
            detail=match.detail,
            near=self._near(case, run),
            match=match,
            gold_result=ResultSet(("result",), [(cell,) for cell in gold]),
            predicted_result=run.failure or (_result(run.as_rows()) if run.is_answered else None),
            reply=said.reply if said.reply and said.reply != common["sql"] else None,
            **common,
        )

    def _same_form(self, case: Case, form: LogicalForm) -> bool:
        gold: LogicalForm = case.facts["gold_facts"]
        if self._mode == "seed":
            return same_statement(gold, form, case.facts["table"])
        return equal_forms(gold, form, self._equality)

    def _explain(self, case: Case, gold: list[Any], run: _Run, is_equal: bool) -> tuple[Match, list[str]]:
        """Say why a prediction is wrong, and in which parts its form differs."""
        trouble, form = run.answer.trouble, run.answer.form
        found = [] if form is None else differences(case.facts["gold_facts"], form, case.facts["table"])
        parts = list(dict.fromkeys(difference.reason.value for difference in found))
        if run.failure is not None:
            reason = _REASON_OF.get(run.failure.status) or Reason(run.failure.status.value)
            if reason is not Reason.RUNTIME_ERROR:
                return Match(False, reason, run.failure.message), []
            return Match(False, reason, "; ".join([run.failure.message, *(part.detail for part in found)])), parts
        if not run.is_answered:
            assert trouble is not None
            return Match(False, trouble.reason, trouble.detail), []
        match = (
            Match(False, Reason.VACUOUS, "both answers are empty") if is_equal else explain_rows(gold, run.as_rows())
        )
        if form is None:
            return match, []
        detail = "; ".join(difference.detail for difference in found)
        if self._mode == "official" and _binds_twice(form) and "strict" in self._near(case, run):
            said = "one column has two conditions and one value"
            return replace(match, reason=Reason.DUPLICATE_BIND, detail=said), parts
        if not found:
            return (match if is_equal else replace(match, reason=Reason.RIGHT_FORM)), parts
        return replace(match, reason=found[0].reason, detail=detail), parts

    def _near(self, case: Case, run: _Run) -> tuple[str, ...]:
        """Name the other mode, official or strict, if the prediction is right by it."""
        form = run.answer.form
        other: Mode = "strict" if self._mode == "official" else "official"
        if form is None:
            return ()
        table: WebTable = case.facts["table"]
        if run.failure is None and not _binds_twice(form) and not self._tables.comma_columns(table):
            return ()  # the two modes would do the same, and this is asked for every wrong answer
        gold, rows = self._tables.run(case.facts["gold_facts"], table, other), self._tables.run(form, table, other)
        if isinstance(gold, QueryFailure) or isinstance(rows, QueryFailure):
            return ()
        return (other,) if equal_answers(gold, rows, other) else ()

    def _verdict(self, case: Case, outcome: Outcome, **given: Any) -> Verdict:
        return Verdict(
            suite=case.suite,
            case=case.id,
            outcome=outcome,
            metric=self._metric,
            policy=self._policy,
            question=case.question,
            gold=case.gold[0],
            **given,
        )


@dataclass(frozen=True, slots=True)
class _Text:
    """What the prediction looked like before it was read."""

    reply: str
    text: str
    steps: tuple[str, ...] = ()

    @property
    def is_record(self) -> bool:
        """True if there is no SQL text to show."""
        return not self.text or self.text.lstrip().startswith("{")

    def statement(self, form: LogicalForm | None, table: WebTable) -> str | None:
        """Return the SQL to show: the prediction's own, or a record's form spelled over the real headers."""
        if not self.is_record:
            return self.text
        try:
            return None if form is None else render_sql(form, table)
        except (IndexError, TypeError):  # a form out of range has no spelling
            return None


def _is_same(gold: LogicalForm, form: LogicalForm) -> bool:
    """Say whether a form is the gold to the last type, as most are: then it has its answer already."""
    return form is gold or (
        form == gold and type(form.sel) is type(form.agg) is int and all(map(_same_types, gold.conds, form.conds))
    )


def _same_types(one: Condition, other: Condition) -> bool:
    return type(one.value) is type(other.value) and type(other.column) is type(other.operator) is int


def _binds_twice(form: LogicalForm) -> bool:
    columns = [condition.column for condition in form.conds]
    return len(set(columns)) < len(columns)


def _flags(is_equal: bool, lf: bool | None, empty: bool, form: LogicalForm | None) -> tuple[str, ...]:
    flags = []
    if empty:
        flags.append("vacuous")
    if lf is None:
        flags.append("no_form")
    elif is_equal and not lf:
        flags.append("right_by_rows_only")
    elif lf and not is_equal:
        flags.append("right_by_form_only")
    if form is not None and _binds_twice(form):
        flags.append("duplicate_bind")
    return tuple(flags)


def _result(rows: list[tuple[Any, ...]]) -> ResultSet:
    return ResultSet(("result",) * len(rows[0]) if rows else ("result",), rows)


def open_judge(suite: Suite, settings: Settings) -> WikiSqlJudge:
    """Open the judge of a WikiSQL suite.

    Raises:
        UsageError: The suite is of another format: its cases have no logical form.
        EngineError: The tables cannot be opened.
    """
    if not isinstance(suite.settings, Mapping) or "lf_equality" not in suite.settings:
        from pytest_sqlbench.errors import UsageError

        raise UsageError(f"{suite.path}: metric {suite.metric!r} is for suites of format 'wikisql'")
    return WikiSqlJudge(suite, settings)
