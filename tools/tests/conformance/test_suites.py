"""The descriptions of the public test suites, what is made of their results, and the page with these."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from openstack_emulator.guests.forwarding import local_address, local_port
from tools.conformance.report import Result
from tools.conformance.results_page import PAGE, block, record
from tools.conformance.suite import FLOATING_IPS, SUITES, CannotRun, Suite, WithGuests, names, results

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
    runs = [suite, suite.with_guests()] if suite.guests else [suite]
    assert all(re.compile(pattern) for run in runs for item in run.cannot_run for pattern in item.tests)
    text = PAGE.read_text()
    assert all(f"<!-- results: {run.title} -->" in text and f"<!-- end: {run.title} -->" in text for run in runs)
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


def test_run_with_guests_has_their_parts_options_and_reasons(tmp_path: Path) -> None:
    guests = WithGuests(["scenario"], {"pay": {"timeout": 9}}, [CannotRun("no printer", ["DayTest.test_print"])])
    no_guests = [CannotRun("servers run no guests", ["DayTest.test_day"], needs_guests=True)]
    configuration = {"pay": {"timeout": 1, "by": "card"}}
    suite = replace(SUITE, configuration=configuration, cannot_run=SUITE.cannot_run + no_guests, guests=guests)
    assert results(suite, TESTS[-1:], [])[0].reason == "servers run no guests"
    run = suite.with_guests()
    assert list(run.parts) == ["scenario"] and run.configuration == {"pay": {"timeout": 9, "by": "card"}}
    assert run.cannot_run == [*SUITE.cannot_run, *guests.cannot_run]
    page = tmp_path / "page.md"
    page.write_text("<!-- results: shop-guests -->\n<!-- end: shop-guests -->\n")
    record(run, results(run, TESTS[-1:], [Result(TESTS[-1], "success")]), page)
    assert "| `scenario` | 1 | 0 | 0 |\n" in page.read_text()
    with pytest.raises(LookupError, match="no part of the suite shop uses guests"):
        SUITE.with_guests()


def test_processes_of_tests_connect_to_floating_ips() -> None:
    with socket.create_server(("127.24.4.17", 0)) as server:
        port = server.getsockname()[1]
        program = f"""
            import socket, sitecustomize
            socket.create_connection(("172.24.4.17", {port})).sendall(b"reached")
            addresses = [("172.24.4.17", 22), ("172.24.5.17", 22), ("localhost", 80), ("::1", 80, 0, 0), "/run/socket"]
            print(*map(sitecustomize.reached_at, addresses), sep="\\n")
        """
        command = [sys.executable, "-c", textwrap.dedent(program)]
        environment = {**os.environ, "PYTHONPATH": str(FLOATING_IPS)}
        printed = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=60
        ).stdout
        connection, _ = server.accept()
        with connection:
            assert connection.recv(99) == b"reached"
    ssh = (local_address("172.24.4.17"), local_port(22))
    assert printed.splitlines() == [
        str(ssh),
        "('172.24.5.17', 22)",
        "('localhost', 80)",
        "('::1', 80, 0, 0)",
        "/run/socket",
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
