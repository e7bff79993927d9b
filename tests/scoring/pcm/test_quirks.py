"""The metric's habits, one row each. All values are the official evaluator's own, JSqlParser 3.2 included."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_sqlbench import pcm_score
from pytest_sqlbench.errors import UnscorableGold

ROWS = [
    line.replace("\\n", "\n").split("\t")
    for line in Path(__file__).with_name("quirks.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
"""claim, gold, predicted, official PCM-F1, PCM-F1 by sqlglot. A line end in a query is written as backslash n."""

UNSCORABLE = [
    ("alias_by_equals", "select x = a from t"),
    ("default_with_a_dash", "select a from t where b = ##d:string?2012-01-01##"),
    ("dashes_in_a_string", "select a from t where b = 'x--y'\norder by a"),
    ("semicolon_in_a_string", "select a from t where b = 'x;y'"),
    ("doubled_apostrophe", "select a from t where b = 'it''s'"),
    ("table_in_parentheses", "select a from (t)"),
    ("integer_beyond_63_bits", "select a from t where b = 99999999999999999999"),
    ("escape", "select a from t where b like '!%' escape '!'"),
    ("title_without_dashes", "Top users\nselect a from t"),
    ("limit_without_a_number", "select a from t limit all"),
]

INVALID = [("half_a_query", "select a from"), ("nothing", ""), ("spaces", "  \n "), ("no_select", "delete from t")]


@pytest.mark.parametrize(("gold", "predicted", "f1"), [row[1:4] for row in ROWS], ids=[row[0] for row in ROWS])
def test_pair_has_the_official_score(gold: str, predicted: str, f1: str) -> None:
    score = pcm_score(gold, predicted)
    assert score.f1 == pytest.approx(float(f1), abs=1e-9)
    assert score.em == float(f1 == "1")


@pytest.mark.parametrize("gold", [row[1] for row in UNSCORABLE], ids=[row[0] for row in UNSCORABLE])
def test_official_parser_cannot_read(gold: str) -> None:
    with pytest.raises(UnscorableGold, match="cannot read the gold query"):
        pcm_score(gold, "select a from t")
    assert not pcm_score("select a from t", gold).predicted_parsed


@pytest.mark.parametrize("predicted", [row[1] for row in INVALID], ids=[row[0] for row in INVALID])
def test_invalid_prediction_scores_zero(predicted: str) -> None:
    score = pcm_score("select a from t", predicted)
    assert (score.f1, score.em, dict(score.components), score.predicted_parsed) == (0.0, 0.0, {}, False)
