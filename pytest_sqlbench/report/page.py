"""The HTML report: one file that needs no network, with every case, its queries, its rows and a stable link."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from pytest_sqlbench.case import Case
from pytest_sqlbench.report.summary import describe_fingerprint
from pytest_sqlbench.run import Run, accuracy, split_by_slice, split_by_suite
from pytest_sqlbench.triage import Diagnosis, diagnose_all
from pytest_sqlbench.verdict import Outcome, Verdict, to_record

MOST_BYTES = 14_000_000
"""The page is kept below this size by showing fewer rows, then shorter replies; it says so in its head."""
SHOWN_SLICES = 12
LOW_PCM_F1 = 0.5
"""A right case whose clauses have less in common with the gold is noted: its rows may be right by luck."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Background:
    """What a page shows beside the run, where it is known."""

    cases: Mapping[Key, Case] = field(default_factory=dict)
    """Suite and id to the case."""
    schemas: Mapping[str, str] = field(default_factory=dict)
    """Database to its DDL."""
    changes: Mapping[Key, str] = field(default_factory=dict)
    """Suite and id to ``regressed``, ``fixed`` or another word of the comparison."""
    baseline: str = ""
    """The name of the run that it was compared with."""
    history: Mapping[Key, Sequence[str]] = field(default_factory=dict)
    """Suite and id to what it came to in earlier runs, oldest first."""
    diagnoses: Mapping[int, Diagnosis] | None = None
    """Why the wrong ones are wrong, by position in the run; None: it is worked out here."""


def name_database(case: Case) -> str:
    """Return what a page calls the database of a case: by its suite where the suite has only one."""
    return case.suite if case.database == "main" else case.database


def render_page(run: Run, background: Background | None = None) -> str:
    """Return the report of a run as one HTML text of at most about 14 MB.

    Raises:
        ValueError: The run has no verdict.
    """
    if not run.verdicts:
        raise ValueError("a report of no verdicts says nothing")
    background = background or Background()
    content = _content(run, background)
    text = _encode(content)
    for rows, letters in ((5, 4000), (2, 1000), (0, 300)):
        if len(text) <= MOST_BYTES:
            break
        _shorten(content["cases"], rows, letters)
        content["origin"] = f"{content['origin']} · shortened: at most {rows} rows a result are kept"
        text = _encode(content)
    folder = files("pytest_sqlbench.report") / "html"
    page = (folder / "page.html").read_text(encoding="utf-8")
    for mark, piece in (
        ("/*STYLE*/", (folder / "page.css").read_text(encoding="utf-8")),
        ("/*SCRIPT*/", (folder / "page.js").read_text(encoding="utf-8")),
        ("/*DATA*/", text),
    ):
        before, _, after = page.partition(mark)
        page = before + piece + after
    return page


def _encode(content: Mapping[str, Any]) -> str:
    """Write JSON that cannot end the element it stands in, whatever a model wrote."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _content(run: Run, background: Background) -> dict[str, Any]:
    diagnoses = background.diagnoses
    if diagnoses is None:
        diagnoses = diagnose_all(run.verdicts, background.cases)
    entries = [_entry(verdict, diagnoses.get(place), background) for place, verdict in enumerate(run.verdicts)]
    changes = Counter(background.changes.values())
    return {
        "origin": " ".join(" ".join(describe_fingerprint(run.fingerprint)).split()),
        "total": _total(run.verdicts),
        "charts": _charts(run.verdicts, diagnoses),
        "comparison": {
            "name": background.baseline,
            "regressed": changes["regressed"],
            "fixed": changes["fixed"],
        }
        if background.baseline
        else None,
        "schemas": dict(background.schemas),
        "cases": entries,
    }


_DEFAULTS: dict[str, Any] = {
    "question": "",
    "gold": "",
    "sql": None,
    "reply": None,
    "reason": "",
    "detail": "",
    "flags": [],
    "near": [],
    "extraction": [],
    "tags": [],
    "difficulty": "",
    "where": "",
    "policy": "",
    "scores": {},
    "gold_ms": 0.0,
    "predicted_ms": 0.0,
    "model_ms": None,
}


def _entry(verdict: Verdict, diagnosis: Diagnosis | None, background: Background) -> dict[str, Any]:
    key = (verdict.suite, verdict.case)
    record = {name: value for name, value in to_record(verdict).items() if name not in _UNUSED}
    record["id"] = record.pop("case") + (f"#{verdict.sample}" if verdict.sample else "")
    case = background.cases.get(key)
    entry = {**_DEFAULTS, **_finite(record), "database": name_database(case) if case is not None else ""}
    if verdict.outcome is Outcome.CORRECT and verdict.scores.get("pcm_f1", 1.0) < LOW_PCM_F1:
        entry["flags"] = [*entry["flags"], "low_pcm_f1"]
    if diagnosis is not None:
        entry["cause"] = diagnosis.primary.value
        entry["causes"] = [cause.value for cause in diagnosis.causes]
        entry["hint"] = diagnosis.hint
    if key in background.changes and background.changes[key] in ("regressed", "fixed"):
        entry["change"] = background.changes[key]
    if key in background.history:
        entry["history"] = list(background.history[key])
    return entry


_UNUSED = ("metric", "digest", "facts", "sample", "tokens", "cost_usd")


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: cells that hold them are shown as texts."""
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def _total(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    scorable = len(verdicts) - outcomes[Outcome.UNSCORABLE]
    return {
        "accuracy": _score(verdicts) if scorable else None,
        "correct": outcomes[Outcome.CORRECT],
        "wrong": outcomes[Outcome.WRONG],
        "trouble": outcomes[Outcome.MODEL_ERROR] + outcomes[Outcome.GOLD_ERROR],
        "unscorable": outcomes[Outcome.UNSCORABLE],
        "vacuous": sum("vacuous" in verdict.flags for verdict in verdicts),
    }


def _score(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    score = accuracy(verdicts)
    return {"n": score.n, "value": score.value, "low": score.low, "high": score.high}


def _charts(verdicts: Sequence[Verdict], diagnoses: Mapping[int, Diagnosis]) -> list[dict[str, Any]]:
    charts: list[dict[str, Any]] = []
    suites = split_by_suite(verdicts)
    if len(suites) > 1:
        charts.append(_rates("Accuracy by suite", "suite", suites))
    difficulties = {verdict.difficulty for verdict in verdicts} - {""}
    slices = split_by_slice(verdicts)
    if len(difficulties) > 1:
        charts.append(_rates("Accuracy by difficulty", "tag", {name: slices[name] for name in sorted(difficulties)}))
    tags = {name: group for name, group in slices.items() if name not in difficulties and name not in suites}
    if len(tags) > 1:
        largest = sorted(tags, key=lambda name: (-len(tags[name]), name))[:SHOWN_SLICES]
        charts.append(_rates("Accuracy by tag", "tag", {name: tags[name] for name in sorted(largest)}))
    causes = Counter(diagnosis.primary.value for diagnosis in diagnoses.values())
    if causes:
        charts.append(_counts("Wrong by cause", "cause", causes))
    return charts


def _rates(title: str, filter_id: str, groups: Mapping[str, Sequence[Verdict]]) -> dict[str, Any]:
    bars = []
    for name, group in groups.items():
        if all(verdict.outcome is Outcome.UNSCORABLE for verdict in group):
            continue
        score = _score(group)
        figure = f"{100 * score['value']:.1f} % of {score['n']:,}"
        bars.append(
            {"name": name, "share": score["value"], "low": score["low"], "high": score["high"], "figure": figure}
        )
    return {"title": title, "filter": filter_id, "bars": bars}


def _counts(title: str, filter_id: str, counts: Counter[str]) -> dict[str, Any]:
    total = sum(counts.values())
    bars = [
        {"name": name, "share": n / total, "figure": f"{n:,} of {total:,}", "kind": "cause"}
        for name, n in counts.most_common(SHOWN_SLICES)
    ]
    return {"title": title, "filter": filter_id, "bars": bars}


def _shorten(entries: Sequence[dict[str, Any]], rows: int, letters: int) -> None:
    for entry in entries:
        for name in ("gold_result", "predicted_result"):
            result = entry.get(name)
            if result and "rows" in result:
                result["rows"] = result["rows"][:rows]
        for name in ("missing", "extra"):
            if entry.get("match"):
                entry["match"][name] = entry["match"][name][:rows]
        for name in ("reply", "sql", "gold"):
            text = entry.get(name)
            if text and len(text) > letters:
                entry[name] = f"{text[:letters]}…"
