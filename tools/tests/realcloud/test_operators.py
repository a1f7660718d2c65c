"""The operator's half of `make realcloud` runs what the manual prints, and records what it finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from stoker.processes.identity_setup import IdentityContents
from stoker.processes.lifetime import cluster_config
from tools.realcloud import report
from tools.realcloud.cases import Cases
from tools.realcloud.operators import rows
from tools.realcloud.operators.installation import (
    DOMAIN_ADMINISTRATOR,
    SERVICE_USER,
    STACK_DOMAIN,
    configuration,
    processes,
)
from tools.realcloud.operators.manual import replaced
from tools.realcloud.operators.rows import ABSENT, FAILED, PASSED, Row
from tools.realcloud.operators.smoke import TYPES

VALUES = {
    "database": "mysql+pymysql://root@127.0.0.1:3306/stoker",
    "broker": "rabbit://guest:guest@127.0.0.1:5672/",
    "keystone": "http://127.0.0.1:16500/v3",
    "password": "s3cret",
    "cfn": "http://127.0.0.1:18000",
    "region": "RegionTwo",
}


def test_the_examples_of_the_pages_are_one_configuration(tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(configuration(VALUES))
    config = cluster_config([str(path)])
    assert config.database.connection == VALUES["database"]
    assert config.heat_waitcondition_server_url == "http://127.0.0.1:18000/v1/waitcondition"
    contents = IdentityContents.of(config, [config.region_name_for_services], {})
    assert (contents.service_user, contents.stack_domain, contents.stack_domain_admin, contents.regions) == (
        SERVICE_USER,
        STACK_DOMAIN,
        DOMAIN_ADMINISTRATOR,
        ["RegionTwo"],
    )
    assert contents.service_password == contents.stack_domain_admin_password == "s3cret"


def test_the_processes_of_the_page_are_started_on_other_ports() -> None:
    script = processes({"api": 18004, "other": 18014, "status0": 19101, "status1": 19102})
    for words in (
        "stoker db sync",
        "for number in 1 2;",
        "for port in 18004 18014;",
        "stoker api-cfn",
        "(0 19101 19102)",
    ):
        assert words in script
    with pytest.raises(LookupError, match="does not say 'x'"):
        replaced("abc", {"x": "y"})


def test_types_of_the_short_run_have_templates() -> None:
    cases = Cases({})
    assert [name for name in TYPES if not hasattr(cases.of(name, {}), "template")] == []


def test_a_row_that_passes_alone_says_why_it_has_failed_before() -> None:
    first = Row("a", FAILED, "late")
    assert [row.bad for row in (first, Row("a", PASSED), Row("a", ABSENT, "no service"), Row("a", ABSENT))] == [
        True,
        False,
        False,
        True,
    ]
    assert rows.passed_alone(first, Row("a", FAILED, "again")) == Row("a", FAILED, "again")
    assert rows.passed_alone(first, Row("a", PASSED)) == Row("a", PASSED, "It passed alone; beside others: late")


def test_each_part_has_a_place_in_the_manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.realcloud.operators.__main__ import PARTS

    page = tmp_path / "page.md"
    page.write_text(report.PAGE.read_text())
    outcomes = [Row("a", PASSED), Row("b|c", FAILED, "500 | broken"), Row("d", ABSENT, "no such service")]
    for function in (report.record, report.recorded):
        monkeypatch.setattr(function, "__defaults__", (page,))
    for part in PARTS:
        rows.record(part, outcomes)
    text = page.read_text()
    assert text.count("1 passed, 1 failed, 1 not run.") == len(PARTS)
    assert "| `b|c` | ✗ | 500 \\| broken |" in text
    rows.record("types", [Row("b|c", PASSED), Row("e", PASSED)], others=True)
    assert report.recorded("<!-- operator: types -->\n") == [
        "",
        "3 passed, 1 not run.",
        "",
        "| | | |",
        "|---|---|---|",
        "| `a` | ✓ |  |",
        "| `b|c` | ✓ |  |",
        "| `d` | - | no such service |",
        "| `e` | ✓ |  |",
        "",
    ]
