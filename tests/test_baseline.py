"""Runs on disk: what is written comes back, one case is one line, and broken files are named."""

from __future__ import annotations

import difflib
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_sqlbench.baseline import find_saved, format_run, list_saved, load_run, number_path, parse_run, save_run
from pytest_sqlbench.errors import BaselineError, UsageError
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.run import Fingerprint, Run, SuiteFacts
from pytest_sqlbench.verdict import Match, Outcome, Reason, Verdict
from tests.verdicts import make_samples, make_verdict, make_verdicts

ORIGIN = Fingerprint(
    plugin="1.0",
    policy_version=1,
    extraction="picked",
    model="file:replies.jsonl",
    parameters={"temperature": 0.2},
    engines={"sqlite": "sqlite 3.45.1"},
    suites={"orders": SuiteFacts(databases={"shop": "aa11"}, digest="1" * 64, cases=4)},
    commit="3f2a1bc",
)
WRONG = Verdict(
    "orders",
    "late",
    Outcome.WRONG,
    score=0.0,
    reason=Reason.VALUES,
    detail="row 1, column 1: 2 is not 3",
    question="Wie viele Aufträge?",
    gold="SELECT 3",
    sql="SELECT 2",
    reply="```sql\nSELECT 2\n``` \udc80",
    tags=("join",),
    difficulty="hard",
    digest="ab12cd34",
    match=Match(
        False, Reason.VALUES, "row 1, column 1: 2 is not 3", missing=((3,),), extra=((2,),), missing_n=1, extra_n=1
    ),
    gold_result=ResultSet(("n",), [(3,)]),
    predicted_result=ResultSet(("n",), [(2,)]),
    predicted_ms=0.25,
    cost_usd=0.002,
)
FAILED = make_verdict("boom", "w", reason=Reason.TIMEOUT, predicted_result=QueryFailure(Status.TIMEOUT, "10 s"))
RUN = Run((*make_verdicts("cwmgu"), FAILED, WRONG), ORIGIN, "run.json", 0.002)


def test_a_whole_run_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.json"
    save_run(RUN, path, is_committed=False)
    assert load_run(path) == replace(RUN, name=str(path), verdicts=tuple(sorted(RUN.verdicts, key=lambda v: v.case)))
    assert [entry.name for entry in path.parent.iterdir()] == ["run.json"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_reading_and_writing_again_gives_the_same_bytes(is_committed: bool) -> None:
    run = replace(RUN, verdicts=(*RUN.verdicts, *make_samples(["ccw", "wwm"], "shop", score=0.5, scores={"em": 0.25})))
    text = format_run(run, is_committed=is_committed)
    assert format_run(parse_run(text, "run.json"), is_committed=is_committed) == text
    json.loads(text)


def test_the_order_in_which_verdicts_came_does_not_matter() -> None:
    verdicts = [*make_samples(["ccw", "cww", "mmm"]), *make_verdicts("cw", "shop")]
    texts = set()
    for seed in range(5):
        random.Random(seed).shuffle(verdicts)
        texts.add(format_run(Run(tuple(verdicts), ORIGIN), is_committed=True))
    assert len(texts) == 1


def test_cases_stand_in_the_order_in_which_a_person_counts() -> None:
    text = format_run(Run(tuple(make_verdict(case, "c") for case in ("q10", "q9", "q100"))), is_committed=True)
    assert text.index('"q9"') < text.index('"q10"') < text.index('"q100"')


def test_the_committed_form_keeps_outcomes_and_drops_texts_timings_and_commit() -> None:
    text = format_run(RUN, is_committed=True)
    line = '{"case":"late","outcome":"wrong","reason":"values","difficulty":"hard","tags":["join"],"digest":"ab12cd34"}'
    assert line in text
    assert '{"case":"0000","outcome":"correct"},\n' in text
    assert not any(word in text for word in ("SELECT", "Wie viele", "predicted_ms", 'cost_usd": 0.002}', "3f2a1bc"))


def test_several_samples_are_one_line() -> None:
    text = format_run(Run(tuple(make_samples(["cw"], digest="ab"))), is_committed=True)
    assert '{"case":"0000","digest":"ab","samples":[{"outcome":"correct"},{"sample":1,' in text


def test_a_graded_score_is_kept_whole() -> None:
    run = Run((make_verdict("a", "c", metric="pcm_f1", score=0.1 + 0.2, scores={"em": 1 / 3}),))
    assert parse_run(format_run(run, is_committed=True), "").verdicts == run.verdicts


def _spider_sized() -> Run:
    draws = random.Random(1)
    verdicts = tuple(
        make_verdict(
            f"{place:05}",
            letter,
            "spider-dev",
            digest=f"{draws.getrandbits(32):08x}",
            difficulty=draws.choice(("easy", "medium", "hard", "extra")),
            tags=(draws.choice(("concert_singer", "student_transcripts_tracking", "cre_Doc_Template_Mgt", "car_1")),),
            reason=draws.choice(tuple(Reason)) if letter == "w" else None,
        )
        for place, letter in enumerate(draws.choices("cw", weights=(4, 1), k=1034))
    )
    return Run(verdicts, replace(ORIGIN, suites={"spider-dev": SuiteFacts(cases=1034)}))


def test_a_baseline_of_1034_cases_is_under_120_kb() -> None:
    assert len(format_run(_spider_sized(), is_committed=True).encode()) < 120_000


def test_the_diff_after_one_fixed_case_is_one_line() -> None:
    run = _spider_sized()
    place = next(n for n, verdict in enumerate(run.verdicts) if verdict.outcome is Outcome.WRONG)
    verdicts = list(run.verdicts)
    verdicts[place] = replace(verdicts[place], outcome=Outcome.CORRECT, score=1.0, reason=None)
    now = replace(run, verdicts=tuple(verdicts), fingerprint=replace(run.fingerprint, commit="other"))
    texts = [format_run(one, is_committed=True).splitlines() for one in (run, now)]
    changed = [
        line for line in difflib.unified_diff(*texts, n=0, lineterm="") if not line.startswith(("---", "+++", "@@"))
    ]
    assert [line[0] for line in changed] == ["-", "+"]


def test_numbers_that_json_does_not_have_are_spelled(tmp_path: Path) -> None:
    verdict = make_verdict("a", "w", predicted_result=ResultSet(("x",), [(float("nan"),), (float("inf"),)]))
    text = format_run(Run((verdict,)), is_committed=False)
    assert '"rows":[["nan"],["inf"]]' in text


@pytest.mark.parametrize(
    "text,message",
    [
        ("", "run.json:1: not JSON: Expecting value"),
        ('{\n"schema": 1,,\n}', "run.json:2: not JSON: "),
        ("[]", 'run.json:1: not a saved run: it has no "schema"'),
        ('{"cases": {}}', 'run.json:1: not a saved run: it has no "schema"'),
        ('{\n\n"schema": 7}', "run.json:3: schema 7 cannot be read. Allowed: 1"),
        ('{"schema": 1}', "run.json:1: not a saved run: it has no 'suites'"),
        ('{"schema": 1, "suites": [], "fingerprint": {}}', "run.json:1: not a saved run: "),
        ('{"schema": 1, "suites": {}, "fingerprint": {"colour": 1}}', "run.json:1: not a saved run: .*'colour'"),
        (
            '{"schema": 1, "fingerprint": {}, "suites": {"a": {"verdicts": [\n{"case": "x", "outcome": "correct"},\n'
            '{"case": "y", "outcome": "good"}\n]}}}',
            "run.json:3: not a verdict: 'good' is not a valid Outcome",
        ),
        (
            '{"schema": 1, "fingerprint": {}, "suites": {"a": {"verdicts": [\n{"case": "x"}]}}}',
            "run.json:2: not a verdict: it has no 'outcome'",
        ),
        (
            '{"schema": 1, "fingerprint": {}, "suites": {"a": {"verdicts": [\n'
            '{"case": "x", "outcome": "correct"},\n{"case": "x", "outcome": "wrong"}]}}}',
            "run.json:3: not a verdict: case 'x' stands twice",
        ),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BaselineError, match=f"^{message}"):
        parse_run(text, "run.json")


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"no saved run at .*main\.json\. Save one with --sqlbench-save=NAME"):
        load_run(tmp_path / "main.json")


def test_a_folder_or_bytes_are_no_saved_run(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    for path in (tmp_path, tmp_path / "bytes.json"):
        with pytest.raises(BaselineError, match="cannot read the saved run"):
            load_run(path)


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot save the run to .*run\.json: "):
        save_run(RUN, tmp_path / "file" / "run.json", is_committed=True)
    with pytest.raises(UsageError, match="cannot save the run to "):
        save_run(RUN, tmp_path, is_committed=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_saved_runs_are_found_by_name_path_or_as_the_newest(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"no saved run to compare with in .* \(saved: none\)"):
        find_saved("", tmp_path)
    save_run(RUN, tmp_path / "main.json", is_committed=True)
    assert find_saved("", tmp_path) == tmp_path / "main.json"
    for label in ("aaa", "bbb"):
        save_run(RUN, number_path(tmp_path, label), is_committed=True)
    assert [path.name for path in list_saved(tmp_path)] == ["0001_aaa.json", "0002_bbb.json", "main.json"]
    assert find_saved("", tmp_path) == tmp_path / "0002_bbb.json"
    assert find_saved("main", tmp_path) == tmp_path / "main.json"
    assert find_saved("other/main.json", tmp_path) == Path("other/main.json")
    with pytest.raises(BaselineError, match=r"no saved run called 'mian' in .* \(saved: 0001_aaa, 0002_bbb, main\)"):
        find_saved("mian", tmp_path)


def test_several_saved_runs_without_numbers_are_not_guessed_at(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_run(RUN, tmp_path / f"{name}.json", is_committed=True)
    with pytest.raises(BaselineError, match=r"saved: a, b"):
        find_saved("", tmp_path)
