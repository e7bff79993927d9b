from __future__ import annotations

import pytest


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["serial", "xdist"])
def test_golds_are_checked_instead_of_answers(pytester: pytest.Pytester, processes: tuple[str, ...]) -> None:
    manifest = pytester.path / "cases" / "shop.yaml"
    manifest.parent.mkdir()
    manifest.write_text(
        """\
sqlbench: 1
database:
  schema: CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
  rows:
    item: [{id: 1, name: pen, price: 2}, {id: 2, name: cup, price: 2}]
cases:
  - {id: sound, question: Names?, gold: SELECT name FROM item}
  - {id: empty, question: None?, gold: SELECT name FROM item WHERE price > 9}
  - {id: tie, question: Cheapest?, gold: SELECT name FROM item ORDER BY price LIMIT 1}
  - {id: broken, question: What?, gold: SELECT nme FROM item}
""",
        encoding="utf-8",
    )
    result = pytester.runpytest_subprocess("--sqlbench-check", "cases", *processes)
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*arbitrary cut (2 rows tie under ORDER BY, 1 are returned)*",
            "*gold fails (no such column: nme)*",
            "shop * 25.0 %*",
        ]
    )
