"""The descriptions of the public test suites, what is made of their results, and the page with these."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.report import Result
from conformance.results_page import PAGE, block, record
from conformance.suite import SUITES, CannotRun, Suite, names, results

SUITE = Suite(
    "shop",
    {"api": r"shop\.tests\.api", "scenario": r"shop\.tests\.scenario"},
    {},
    cannot_run=[CannotRun("servers run no guests", ["PayTest.test_by_card"])],
)
TESTS = [
    "shop.tests.api.v1.test_pay.PayTest.test_by_card[id-1]",
    "shop.tests.api.v1.test_pay.PayTest.test_cash[id-2]",
    "shop.tests.api.v1.test_pay.RefundTest.test_all[id-3]",
    "shop.tests.api.v1.test_pay.RefundTest.test_part[id-4]",
    "shop.tests.scenario.test_day.DayTest.test_day[id-5]",
]
FOUND = [
    Result(TESTS[1], "success"),
    Result("setUpClass (shop.tests.api.v1.test_pay.RefundTest)", "skip", "Refunds are\nnot supported"),
]


@pytest.mark.parametrize("name", names())
def test_suite_is_complete(name: str) -> None:
    suite = Suite.read(name)
    assert suite.parts and suite.configuration["service_available"]
    assert all(re.compile(pattern) for item in suite.cannot_run for pattern in item.tests)
    text = PAGE.read_text()
    assert f"<!-- results: {name} -->" in text and f"<!-- end: {name} -->" in text
    packages = (SUITES / f"{name}.txt").read_text()
    assert "\ntempest==" in packages
    [(project, release)] = re.findall(r"^([\w-]+-tempest-(?:plugin|tests))==(\S+)$", packages, re.M)
    assert f"{project} {release}" in text


def test_each_known_test_has_one_result() -> None:
    assert results(SUITE, reversed(TESTS), FOUND) == [
        Result(TESTS[0], "skip", "servers run no guests"),
        Result(TESTS[1], "success"),
        Result(TESTS[2], "skip", "Refunds are\nnot supported"),
        Result(TESTS[3], "skip", "Refunds are\nnot supported"),
        Result(TESTS[4], "fail", "The run has no result for this test."),
    ]


def test_results_are_written_between_the_comments_of_the_service(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- results: shop -->\nold\n<!-- end: shop -->\nafter\n")
    ended = results(SUITE, TESTS, FOUND)
    record(SUITE, ended, page)
    text = page.read_text()
    assert text == f"before\n<!-- results: shop -->\n\n{block(SUITE, ended)}\n<!-- end: shop -->\nafter\n"
    assert "| `api` | 1 | 0 | 3 |\n| `scenario` | 0 | 1 | 0 |\n" in text
    assert "| `RefundTest` | 2 | Refunds are not supported |\n" in text
    assert "| `PayTest.test_by_card` | 1 | servers run no guests |\n" in text
    assert "These tests fail:\n\n- `DayTest.test_day`\n" in text
    record(SUITE, ended, page)
    assert page.read_text() == text
    with pytest.raises(LookupError, match="no block for the results of shop"):
        record(SUITE, ended, Path(__file__).with_name("__init__.py"))
