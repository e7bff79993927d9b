"""Recorded predictions are matched by id or by a checked position; a file that does not fit says where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_sqlbench.case import Suite
from pytest_sqlbench.errors import CaseError, ModelError, UsageError
from pytest_sqlbench.prediction import Prediction, Usage
from pytest_sqlbench.predictors.registry import bind_suite, make_predictor, predict
from tests.predictors.cases import make_suite
from tests.shared_data import shared

AB = make_suite("a", "b")


def _replies(folder: Path, name: str, text: str, *suites: Suite) -> list[str | None]:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    predictor = make_predictor(f"file:{name}", folder)
    for suite in suites:
        bind_suite(predictor, suite)
    return [predictor.predict(case).reply for suite in suites for case in suite.cases]


@pytest.mark.parametrize(
    "name, text",
    [
        ("p.jsonl", '{"id": "a", "reply": "A"}\n\n{"id": "b", "reply": "B"}\n'),
        ("p.jsonl", '{"suite": "shop", "case": "b", "sql": "B"}\n{"suite": "shop", "case": "a", "sql": "A"}'),
        (
            "p.jsonl",
            '\ufeff{"id": "shop/a", "prediction": "A", "sql": "x"}\r\n{"id": "b", "predicted_sql": "B"}\r\n',
        ),
        ("p.jsonl", '{"position": 1, "sql": "B"}\n{"position": 0, "sql": "A"}'),
        ("p.jsonl", '"A"\n"B"\n'),
        ("p.jsonl", '{"reply": "A", "gold_sql": "x"}\n{"reply": "B", "gold_sql": "y"}\n'),
        ("p.json", '{"a": "A", "b": {"sql": "B"}}'),
        ("p.json", '{"shop/a": "A", "shop/b": "B"}'),
        ("p.json", '{"0": "A", "1": "B"}'),
        ("p.json", '["A", "B"]'),
        ("p.json", '[{"case_id": "b", "output": "B"}, {"case_id": "a", "output": "A"}]'),
        ("p.json", '{"id": "a", "reply": "A"}\n{"id": "b", "reply": "B"}\n'),
        ("p.csv", 'id,sql\nb,B\n"a","A"\n'),
        ("p.csv", "predicted,score\nA,1\nB,0\n"),
        ("p.tsv", "id\tsql\na\tA\nb\tB\n"),
        ("p.sql", "A\nB\n"),
        ("p.txt", "A\r\nB"),
        ("p.sql", "A\t----- bird -----\tshop_db\nB\t----- bird -----\tshop_db"),
    ],
)
def test_every_shape_of_file_is_read(name: str, text: str, tmp_path: Path) -> None:
    assert _replies(tmp_path, name, text, AB) == ["A", "B"]


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("p.jsonl", '{"id": "b", "sql": "B"}', [None, "B"]),
        ("p.jsonl", '{"id": "a", "reply": null}\n{"id": "b", "sql": ""}', [None, ""]),
        ("p.json", '{"0": "A"}', ["A", None]),
        ("p.json", "{}", [None, None]),
        ("p.sql", "\nB\n", ["", "B"]),
        ("p.jsonl", '{"id": "other", "sql": "x"}', [None, None]),
    ],
)
def test_a_case_without_a_record_has_no_reply(name: str, text: str, expected: list[str | None], tmp_path: Path) -> None:
    """None is a missing prediction, an empty text is an empty reply."""
    if text == "{}":
        with pytest.raises(CaseError, match="2 are missing"):
            _replies(tmp_path, name, text, AB)
        return
    assert _replies(tmp_path, name, text, AB) == expected


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("p.sql", "A\n", r"p\.sql:1: holds 1 predictions by position, suite 'shop' has 2 cases: 1 are missing"),
        ("p.sql", "A\nB\nC\n", r"p\.sql:3: holds 3 .*: 1 are too many"),
        ("p.json", '{"0": "A", "1": "B", "2": "C"}', r"p\.json: holds 3 .*: 1 are too many"),
        ("p.sql", "", r"p\.sql: holds 0 .*2 are missing"),
        ("p.jsonl", '{"id": "a", "sql": "A"}\n{"id": "a", "sql": "B"}', r"p\.jsonl:2: case 'a' .*first at line 1"),
        ("p.json", '{"a": "A",\n "a": "B"}', r"p\.json:2: key 'a' stands twice"),
        ("p.jsonl", '{"id": "a", "sql": "A"}\n{"sql": "B"}', r"p\.jsonl:2: names no case, but 1 other"),
        ("p.jsonl", '{"id": "a", "sql": "A"}\n{"id": "b", "sq', r"p\.jsonl:2: is not JSON: .*may be cut off"),
        ("p.json", '{"a": "A",\n"b": ', r"p\.json:2: is not JSON: .*may be cut off"),
        ("p.jsonl", '{"id": "a", "answer": "A"}', r"p\.jsonl:1: no prediction among the keys id, answer\. Name one of"),
        ("p.jsonl", "7", r"p\.jsonl:1: prediction is a number \(7\)"),
        ("p.json", '"A"', r"p\.json:1: holds a string"),
        ("p.jsonl", "[" * 100_000, r"p\.jsonl:1: is nested too deeply"),
        ("p.jsonl", '{"id": "a", "sample": -1, "sql": ""}', r"p\.jsonl:1: sample is -1\. Allowed: a whole number"),
        ("p.csv", "id,answer\na,A\n", r"p\.csv:1: no column with predictions"),
        ("p.csv", 'id,sql\na,"A\nA"\nb\n', r"p\.csv:4: has 1 cells, the header has 2"),
        ("p.xlsx", "", r"p\.xlsx: unknown kind of predictions '\.xlsx'\. Known: \.jsonl"),
        ("p.jsonl", '{"id": "a", "sql": "A"}\n{"id": "shop/a", "sql": "B"}', r"p\.jsonl:1: case 'a' stands twice"),
    ],
)
def test_a_file_that_does_not_fit_says_where(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        _replies(tmp_path, name, text, AB)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.jsonl: there is no such file"):
        make_predictor("file:nowhere.jsonl", tmp_path)


def test_bytes_that_are_not_utf8_are_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_bytes(b"SELECT 1\nSELECT '\xff'\n")
    with pytest.raises(CaseError, match=r"p\.sql:2: is not UTF-8 \(byte 0xff\)"):
        make_predictor("file:p.sql", tmp_path)


def test_a_bare_id_fits_one_suite_only(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="case 'a' fits 'shop' and 'bikes'"):
        _replies(tmp_path, "p.jsonl", '{"id": "a", "sql": "A"}', AB, make_suite("a", name="bikes"))


def test_one_file_serves_several_suites_by_their_names(tmp_path: Path) -> None:
    text = '{"id": "shop/a", "sql": "A"}\n{"id": "bikes/a", "sql": "other"}'
    assert _replies(tmp_path, "p.jsonl", text, make_suite("a"), make_suite("a", name="bikes")) == ["A", "other"]


def test_positions_fit_one_suite_only(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="fit one suite, not 'shop' and 'bikes'"):
        _replies(tmp_path, "p.sql", "A\nB\n", AB, make_suite("c", "d", name="bikes"))


def test_positions_need_their_suite(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text("A\nB\n")
    with pytest.raises(UsageError, match="which suite 'shop' is not bound to"):
        make_predictor("file:p.sql", tmp_path).predict(AB.cases[0])


def test_an_excerpt_of_a_published_list_finds_its_positions(tmp_path: Path) -> None:
    excerpt = make_suite("q7", "q9", positions=(1, 3))
    assert _replies(tmp_path, "p.json", json.dumps({str(n): f"P{n}" for n in range(5)}), excerpt) == ["P1", "P3"]
    assert _replies(tmp_path, "p.sql", "P0\nP1\nP2\nP3\nP4\n", excerpt) == ["P1", "P3"]
    with pytest.raises(CaseError, match="has 4 positions: 1 are missing"):
        _replies(tmp_path, "p.sql", "P0\nP1\nP2\n", excerpt)


def test_numbers_that_are_case_ids_are_ids(tmp_path: Path) -> None:
    assert _replies(tmp_path, "p.json", '{"0": "zero", "1": "one"}', make_suite("1", "0")) == ["one", "zero"]


def test_a_prediction_for_another_database_shows_a_shifted_list(tmp_path: Path) -> None:
    text = json.dumps(["A\t----- bird -----\tclinic", "B\t----- bird -----\tshop"])
    with pytest.raises(CaseError, match="for database 'clinic', the case asks 'shop'"):
        _replies(tmp_path, "p.json", text, make_suite("a", "b", database="shop"))


def test_usage_and_samples_come_back(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "reply": "A0", "usage": {"prompt_tokens": 7, "completion_tokens": 2}, "finish_reason": "length"},
        {"id": "a", "reply": "A1", "sample": 1, "cost_usd": "0.5", "latency_ms": 12, "prompt_tokens": "?"},
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, lines)))
    predictor, case = make_predictor("file:p.jsonl", tmp_path), AB.cases[0]
    assert predict(predictor, case) == Prediction("A0", Usage(7, 2), attempts=0, finish_reason="length")
    assert predict(predictor, case, sample=1) == Prediction("A1", Usage(cost_usd=0.5), latency_ms=12.0, attempts=0)
    assert predict(predictor, case, sample=2).reply is None


def test_a_recorded_failure_of_the_model_is_raised_again(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "model_error": "HTTP 503"}')
    with pytest.raises(ModelError, match="recorded: HTTP 503"):
        make_predictor("file:p.jsonl", tmp_path).predict(AB.cases[0])


def test_a_structured_answer_is_kept_whole(tmp_path: Path) -> None:
    record = {"query": {"sel": 3, "agg": 0, "conds": []}, "error": ""}
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    predictor = make_predictor("file:p.jsonl", tmp_path)
    bind_suite(predictor, make_suite("a"))
    found = predictor.predict(make_suite("a").cases[0])
    assert (found.reply, found.facts) == ('{"sel": 3, "agg": 0, "conds": []}', record)


def test_published_bird_predictions_fit_the_cases_whose_database_is_at_hand() -> None:
    questions = json.loads(shared("bird/bird_mini_dev_sqlite.json").read_text(encoding="utf-8"))
    at_hand = [n for n, question in enumerate(questions) if question["db_id"] in ("superhero", "toxicology")]
    suite = make_suite(*(f"q{n}" for n in at_hand), positions=tuple(at_hand))
    for path in sorted(shared("bird/predictions").iterdir()):
        predictor = make_predictor(f"file:{path}", Path())
        bind_suite(predictor, suite)
        published = json.loads(path.read_text(encoding="utf-8"))
        found = [predictor.predict(case).reply for case in suite.cases]
        assert len(found) == 92
        assert found == [published[str(n)].split("\t-----")[0] for n in at_hand]
