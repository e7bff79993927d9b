"""SEDE as a suite of pytest: unscorable golds are skipped and counted, the summary shows means with their n."""

from __future__ import annotations

import json

import pytest

# pytester forgets what a run in this process imported; sqlglot's C extension does not bear being imported twice
import pytest_sqlbench.evaluation.clauses
import pytest_sqlbench.suites.sede  # noqa: F401
from tests.plugin.conftest import Project
from tests.shared_data import shared

QUERIES = [
    "SELECT TOP 5 Id AS [Post Link] FROM Posts WHERE Score > ##Least:int?10## ORDER BY Score DESC",
    "SELECT COUNT(*) FROM Users",
    "SELECT Total = COUNT(*) FROM Users",
]


@pytest.fixture
def sede(project: Project) -> Project:
    """A suite of three questions, the last of which has a gold that the official parser cannot read."""
    entries = [{"QuerySetId": n, "Title": f"Question {n}", "QueryBody": query} for n, query in enumerate(QUERIES, 1)]
    project.write("sede/val.jsonl", "\n".join(map(json.dumps, entries)))
    project.write("sede/sede.yaml", "sqlbench: 1\nformat: sede\ndata: val.jsonl\nthreshold: 0.9\n")
    return project


def test_gold_scores_one_and_the_unreadable_is_skipped(sede: Project, workers: tuple[str, ...]) -> None:
    result = sede.run("sede/sede.yaml", "--sqlbench-model=gold", *workers)
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(
        ["sede: pcm_f1 1.00000 (95 % *), pcm_em 1.00000, clause_f1 1.00000; 2 scored, 1 unscorable, 0 invalid*"]
    )


def test_failed_case_shows_its_clauses(sede: Project) -> None:
    replies = [("val-1", QUERIES[0].replace("DESC", "")), ("val-2", "```sql\nSELECT COUNT(Id) FROM Users\n```")]
    sede.write("said.jsonl", "\n".join(json.dumps({"id": case, "prediction": reply}) for case, reply in replies))
    result = sede.run("sede/sede.yaml", "--sqlbench-model=file:said.jsonl", "-k", "val-1 or val-2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong: below threshold: pcm_f1 0.875 is below 0.9: select 0.75",
            "clauses * select * 0.75 * matched: count; missing: ?; extra: id",
            "* f1 by component: select 0.875 of 2, top 1.000 of 1, *",
        ]
    )


@pytest.mark.parametrize(
    ("split", "scored", "unscorable", "mean"), [("val", 799, 58, "1.00000"), ("test", 793, 64, "0.99874")]
)
def test_published_golds_have_the_official_means(
    project: Project, split: str, scored: int, unscorable: int, mean: str
) -> None:
    """The one gold of the test split that has no item to score is 0 against itself, officially too."""
    project.write("sede.yaml", f"sqlbench: 1\nname: sede\nformat: sede\ndata: {shared(f'sede/{split}.jsonl')}\n")
    result = project.run("sede.yaml", "--sqlbench-model=gold")
    result.stdout.fnmatch_lines(
        [f"sede: pcm_f1 {mean} (95 % *), pcm_em {mean}, *; {scored} scored, {unscorable} unscorable, 0 invalid*"]
    )
