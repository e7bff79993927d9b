"""The HTML report in a real browser: loading, filters, links to cases, the keyboard, and hostile texts of a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_sqlbench.report.page import Background, render_page
from pytest_sqlbench.result import QueryFailure, ResultSet, Status
from pytest_sqlbench.run import Fingerprint, Run
from pytest_sqlbench.verdict import Match, Outcome, Reason, Verdict
from tests.report.browser import open_browser, read_errors

ATTACK = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'></script><!--"


def make_run() -> Run:
    gold = "SELECT name FROM item WHERE price > 2"
    rows = [("pen", 1.5), (ATTACK, None)]
    match = Match(False, Reason.VALUES, missing=(rows[0],), extra=(("pad", float("nan")),), missing_n=1, extra_n=1)
    verdicts = [
        Verdict("shop", "right", Outcome.CORRECT, score=1.0, question="Which are dear?", gold=gold, sql=gold,
                flags=("vacuous",), scores={"pcm_f1": 0.2}),
        Verdict(
            "shop", "value", Outcome.WRONG, score=0.0, reason=Reason.VALUES, question="Which cost more?", gold=gold,
            sql=gold.replace("2", "3"), match=match, gold_result=ResultSet(("name", "price"), rows),
            predicted_result=ResultSet(("name", ATTACK), [("pad", float("nan"))]), tags=("prices",), difficulty="hard",
        ),
        Verdict(
            "shop", "attack", Outcome.WRONG, score=0.0, reason=Reason.SYNTAX, question=ATTACK, gold=gold,
            detail=ATTACK, sql=f"SELECT '{ATTACK}'", reply=ATTACK, tags=(ATTACK,), difficulty="easy",
            predicted_result=QueryFailure(Status.SYNTAX, ATTACK),
        ),
        Verdict("shop", "trouble", Outcome.MODEL_ERROR, reason=Reason.NO_ANSWER, question="Who?", gold=gold),
    ]  # fmt: skip
    many = [
        Verdict("shop", f"case-{n}", Outcome.CORRECT, score=1.0, question=f"Question {n}?", gold=gold, sql=gold)
        for n in range(296)
    ]
    return Run((*verdicts, *many), Fingerprint(model=ATTACK))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile"), "--window-size=1200,900") as found:
        yield found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_page(make_run(), Background(schemas={"shop": ATTACK})), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser: Any, url: str) -> Iterator[Any]:
    """The report, freshly loaded; whatever a test does, the console stays silent and no script of a model's runs."""
    browser.get("about:blank")
    read_errors(browser)
    browser.get(url)
    yield browser
    assert read_errors(browser) == []
    assert browser.execute_script("return window.hacked") is None


def count(page: Any) -> str:
    return str(page.find_element("id", "count").text)


def press(page: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(page).send_keys(*keys).perform()


def is_open(page: Any) -> bool:
    return bool(page.execute_script("return document.getElementById('case').open"))


def test_it_loads_with_all_cases_and_few_rows_in_the_document(page: Any) -> None:
    assert count(page) == "300 of 300 cases"
    assert 0 < len(page.find_elements("css selector", ".row")) < 100


@pytest.mark.parametrize(
    "field, value, wanted",
    [
        ("search", "which", 2),
        ("search", "PRICE > 3", 1),
        ("search", "case-29", 7),
        ("search", "nowhere to be found", 0),
        ("search", "<script>", 1),
        ("outcome", "wrong", 2),
        ("outcome", "model_error", 1),
        ("outcome", "vacuous", 1),
        ("outcome", "low_pcm_f1", 1),
        ("cause", "filter_value", 1),
        ("cause", "syntax", 1),
        ("tag", "hard", 1),
        ("tag", "prices", 1),
    ],
)
def test_search_and_filters_count_right(page: Any, field: str, value: str, wanted: int) -> None:
    element = page.find_element("id", field)
    if field == "search":
        element.send_keys(value)
    else:
        from selenium.webdriver.support.select import Select

        Select(element).select_by_value(value)
    assert count(page) == f"{wanted} of 300 cases"


def test_a_click_sorts_and_a_second_one_turns_the_order(page: Any) -> None:
    for first in ("shop[attack]", "shop[value]"):
        page.find_element("css selector", "#head button:nth-child(2)").click()
        assert page.find_element("css selector", ".row .mono").text == first


def test_a_case_opens_by_its_link(page: Any, url: str) -> None:
    page.get("about:blank")
    page.get(f"{url}#case=shop%2Fcase-200")
    assert page.find_element("id", "case-title").text == "shop[case-200]"
    page.execute_script("location.hash = '#case=shop%2Fvalue'")
    assert page.find_element("id", "case-title").text == "shop[value]"
    assert page.find_element("css selector", "#case-body ins").text == "3"
    assert page.find_element("css selector", "#case-body del").text == "2"


def test_a_link_to_no_case_shows_the_list(page: Any, url: str) -> None:
    page.get("about:blank")
    for link in ("#case=shop%2Fgone", "#case=%E0%A4%A"):
        page.get(url + link)
        assert not is_open(page)
        assert count(page) == "300 of 300 cases"


def test_what_a_model_wrote_is_text(page: Any, url: str) -> None:
    page.get("about:blank")
    page.get(f"{url}#case=shop%2Fattack")
    assert ATTACK in page.find_element("id", "case-body").text
    assert page.find_elements("css selector", "#case-body script, #case-body img") == []


def test_the_keyboard_reaches_everything(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    reached: list[str] = []
    for _ in range(60):
        press(page, Keys.TAB)
        reached.append(page.execute_script("return document.activeElement.id || document.activeElement.textContent"))
        if reached[-1] == "rows":
            break
    assert {"theme", "search", "outcome", "cause", "tag", "reset", "rows"} <= set(reached)
    assert any("filter value" in name for name in reached)
    assert any(name.startswith("Question") for name in reached)
    press(page, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert page.find_element("id", "case-title").text == "shop[value]"
    press(page, "j")
    assert page.find_element("id", "case-title").text == "shop[attack]"
    press(page, Keys.ESCAPE)
    assert not is_open(page)
    press(page, "/", "trouble")
    assert count(page) == "1 of 300 cases"


def test_ten_thousand_cases_are_there_in_one_and_a_half_seconds(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    path.write_text(render_page(make_large_run()), encoding="utf-8")
    assert path.stat().st_size < 15_000_000
    browser.get("about:blank")
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before_s = _measure(browser)
    browser.get(path.as_uri())
    assert count(browser) == "10,000 of 10,000 cases"
    # processor time, since a machine that does other things makes any clock run late
    first_table_ms = browser.execute_script("return performance.getEntriesByName('sqlbench-table')[0].startTime")
    assert first_table_ms > 0
    assert _measure(browser) - before_s < 1.5
    assert read_errors(browser) == []


def _measure(browser: Any) -> float:
    """Return the seconds that the page's thread has worked."""
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(entry["value"] for entry in metrics if entry["name"] == "TaskDuration"))


def make_large_run() -> Run:
    gold = "SELECT c.name, SUM(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'sent'"
    rows = [(f"customer number {n}", n * 1.25) for n in range(20)]
    result = ResultSet(("name", "sum"), rows)
    match = Match(False, Reason.VALUES, missing=tuple(rows[:10]), extra=tuple(rows[10:]), missing_n=10, extra_n=10)
    wrong = {"reason": Reason.REFUSED, "match": match, "gold_result": result, "predicted_result": result}
    return Run(
        tuple(
            Verdict(
                "large", f"case-{n}", Outcome.CORRECT if n % 5 < 3 else Outcome.WRONG, question=f"Who spent {n}?",
                gold=f"{gold} AND o.total > {n} GROUP BY c.name ORDER BY 2 LIMIT 10", sql=f"{gold} GROUP BY c.name",
                tags=(f"tag-{n % 7}",), score=float(n % 5 < 3), **({} if n % 5 < 3 else wrong),
            )
            for n in range(10_000)
        )
    )  # fmt: skip
