"""Execution accuracy: gold and prediction run on one database, and their result sets are compared."""

from __future__ import annotations

from dataclasses import replace

from pytest_sqlbench.case import Case, Suite
from pytest_sqlbench.engines.limits import TERMINATED
from pytest_sqlbench.engines.registry import open_engine
from pytest_sqlbench.errors import EngineError
from pytest_sqlbench.evaluation.desk import Desk, Gold, score_otherwise
from pytest_sqlbench.evaluation.luck import LuckJudge
from pytest_sqlbench.evaluation.translation import write_statement
from pytest_sqlbench.evaluation.transpile import ORIGIN, check_transpiled
from pytest_sqlbench.policy import Policy
from pytest_sqlbench.prediction import Prediction
from pytest_sqlbench.result import Engine, QueryFailure, ResultSet, Status
from pytest_sqlbench.scoring.compare import compare
from pytest_sqlbench.scoring.extract import Extraction, extract_query
from pytest_sqlbench.settings import Settings
from pytest_sqlbench.verdict import SHOWN_ROWS, Draft, Match, Outcome, Reason, Verdict, amend

REASONS: dict[Status, Reason] = {
    Status.SYNTAX: Reason.SYNTAX,
    Status.NO_SUCH_TABLE: Reason.NO_SUCH_TABLE,
    Status.NO_SUCH_COLUMN: Reason.NO_SUCH_COLUMN,
    Status.NO_SUCH_FUNCTION: Reason.NO_SUCH_FUNCTION,
    Status.ERROR: Reason.RUNTIME_ERROR,
    Status.DENIED: Reason.REFUSED,
    Status.TIMEOUT: Reason.TIMEOUT,
    Status.MEMORY: Reason.MEMORY,
    Status.ROWS: Reason.TOO_MANY_ROWS,
    Status.BYTES: Reason.TOO_MANY_BYTES,
    Status.CRASH: Reason.CRASH,
    Status.NO_RESULT_SET: Reason.NO_RESULT_SET,
}
"""How a query failed to why its case is wrong."""


class ExecutionJudge:
    """Judges the cases of one suite by the rows that their queries return. Engines open at first use."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        self._suite = suite
        self._settings = settings
        self._engines: dict[tuple[str, str], Engine] = {}
        self._luck = LuckJudge(suite, settings)

    def judge(self, case: Case, prediction: Prediction) -> Verdict:
        """Run the golds, then the prediction, and compare.

        The prediction is right if it matches any gold. A gold that fails is a gold error, whatever was predicted.

        Raises:
            EngineError: The database cannot be opened.
        """
        policy = self._settings.policy or case.policy or self._suite.policy
        engine = self._engine(case)
        desk = Desk(case, engine)
        golds = desk.run_golds(policy)
        if ORIGIN in case.facts and not isinstance(golds, QueryFailure):
            golds = check_transpiled(case, golds, policy, self._open) or golds
        draft = _begin(case, policy)
        if isinstance(golds, QueryFailure):
            return _fault_gold(draft, golds)
        draft["gold_ms"] = sum([gold.result.elapsed_ms for gold in golds])
        picked = pick_statement(prediction, case.dialect, self._settings, draft)
        if picked is None:
            return self._with_other_readings(Verdict(**draft), desk, None)
        sql = write_statement(picked, case, self._suite, draft)
        predicted = desk.run_prediction(sql, policy, golds)
        verdict = _decide(draft, golds, predicted, policy, self._settings.keeps_results)
        if verdict.outcome is Outcome.CORRECT and self._luck.has_work:
            verdict = self._luck.look_again(verdict, case, sql, policy)
        return self._with_other_readings(verdict, desk, sql)

    def _with_other_readings(self, verdict: Verdict, desk: Desk, sql: str | None) -> Verdict:
        if not self._settings.also:
            return verdict
        return amend(verdict, scores={**verdict.scores, **score_otherwise(desk, sql, self._settings.also)})

    def close(self) -> None:
        """Close the engines."""
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()
        self._luck.close()

    def _engine(self, case: Case) -> Engine:
        if case.database not in self._suite.databases:
            named = f"database {case.database!r}" if case.database else "a database"
            raise EngineError(f"{self._suite.path}: case {case.id!r} needs {named}, and the suite has none")
        return self._open(case.engine, case.database)

    def _open(self, engine: str, database: str) -> Engine:
        opened = self._engines.get((engine, database))
        if opened is None:
            opened = open_engine(engine, self._suite.databases[database], self._settings)
            self._engines[engine, database] = opened
        return opened


def _begin(case: Case, policy: Policy) -> Draft:
    return {
        "suite": case.suite,
        "case": case.id,
        "outcome": Outcome.WRONG,
        "score": 0.0,
        "policy": policy.name,
        "question": case.question,
        "gold": case.gold[0],
        "tags": case.tags,
        "difficulty": case.difficulty,
    }


def _fault_gold(draft: Draft, failure: QueryFailure) -> Verdict:
    draft.update(
        outcome=Outcome.GOLD_ERROR,
        score=None,
        reason=Reason.GOLD_TIMEOUT if failure.status is Status.TIMEOUT else Reason.GOLD_FAILED,
        detail=f"the gold query fails: {failure.message}",
        gold_ms=failure.elapsed_ms,
        gold_result=failure,
    )
    return Verdict(**draft)


def pick_statement(prediction: Prediction, dialect: str, settings: Settings, draft: Draft) -> str | None:
    """Pick the statement out of a prediction, and add to the draft what is known of the reply.

    Returns:
        The statement; None if there is none, and then the draft has the reason.
    """
    draft["model_ms"] = prediction.latency_ms
    usage = prediction.usage
    if usage is not None:
        counts = [count for count in (usage.prompt_tokens, usage.completion_tokens) if count is not None]
        draft.update(tokens=sum(counts) if counts else None, cost_usd=usage.cost_usd)
    if prediction.reply is None:
        draft.update(reason=Reason.MISSING_PREDICTION, detail="there is no prediction for this case")
        return None
    found = extract_query(prediction.reply, dialect, settings.extraction)
    draft["sql"] = found.sql
    draft["extraction"] = found.steps
    if prediction.reply != found.sql:
        draft["reply"] = prediction.reply
    if prediction.finish_reason == "length":
        draft.update(reason=Reason.TRUNCATED_REPLY, detail="the reply was cut at the model's token limit")
        return None
    if found.trouble is not None or found.sql is None:
        draft.update(reason=found.trouble or Reason.NO_SQL, detail=_explain_trouble(found))
        return None
    return found.sql


def _explain_trouble(found: Extraction) -> str:
    if found.trouble is Reason.SEVERAL_STATEMENTS:
        return "the reply holds several statements, and picking one would be a guess"
    return "the reply holds no query"


def _decide(
    draft: Draft, golds: list[Gold], predicted: ResultSet | QueryFailure, policy: Policy, keeps: bool
) -> Verdict:
    draft["predicted_ms"] = predicted.elapsed_ms
    if isinstance(predicted, QueryFailure):
        draft.update(
            reason=REASONS[predicted.status],
            detail=predicted.message,
            flags=("terminated",) if predicted.message.endswith(TERMINATED) else (),
            gold_result=_head(golds[0].result, keeps),
            predicted_result=predicted,
        )
        return Verdict(**draft)
    gold, match = _match_nearest(golds, predicted, policy)
    draft["gold"] = gold.query
    draft["flags"] = (*match.flags, *_suspicions(gold.result, predicted))
    if match.is_match:
        draft["outcome"] = Outcome.CORRECT
        draft["score"] = 1.0
    else:
        draft.update(reason=match.reason, detail=match.detail, near=match.near, match=match)
    if keeps or not match.is_match:
        draft.update(gold_result=_head(gold.result, keeps), predicted_result=_head(predicted, keeps))
    return Verdict(**draft)


def _match_nearest(golds: list[Gold], predicted: ResultSet, policy: Policy) -> tuple[Gold, Match]:
    """Return the first gold that matches, or else the one that the prediction comes nearest to."""
    best: tuple[Gold, Match] | None = None
    for gold in golds:
        match = compare(gold.result, predicted, policy, order=gold.order)
        if match.is_match:
            return gold, match
        if best is None or _is_nearer(match, best[1]):
            best = (gold, match)
    assert best is not None  # a case has at least one gold
    return best


def _head(result: ResultSet, keeps: bool) -> ResultSet:
    """Keep only the rows that a report shows: a run of many wrong cases would hold all results in memory."""
    if keeps or len(result.rows) <= SHOWN_ROWS:
        return result
    return replace(result, rows=result.rows[:SHOWN_ROWS], cut_from=len(result.rows))


def _is_nearer(match: Match, best: Match) -> bool:
    if len(match.near) != len(best.near):
        return len(match.near) > len(best.near)
    return match.missing_n + match.extra_n < best.missing_n + best.extra_n


def _suspicions(gold: ResultSet, predicted: ResultSet) -> tuple[str, ...]:
    flags: list[str] = []
    if gold.tables and predicted.tables is not None and not predicted.tables:
        flags.append("no_table_read")
    kinds = {warning.partition(":")[0] for warning in predicted.warnings}
    flags.extend(flag for kind, flag in _WARNED.items() if kind in kinds)
    if any(warning.startswith("nondeterministic") for warning in gold.warnings):
        flags.append("gold_nondeterministic")
    return tuple(flags)


_WARNED = {"nondeterministic": "nondeterministic", "quotes": "misquoted", "text": "broken_text"}
"""What an engine's notes begin with, to the flag of a verdict."""


def open_judge(suite: Suite, settings: Settings) -> ExecutionJudge:
    """Open a judge for a suite."""
    return ExecutionJudge(suite, settings)
