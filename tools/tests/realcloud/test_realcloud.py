"""What `make realcloud` runs is data that fits the resource types; its results get into the manual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.exceptions import ConnectTimeout

import tools.realcloud.__main__ as program
from stoker.plugins.capabilities import SnapshotParticipant
from stoker.schema.property import Change
from tools.realcloud import lab, report
from tools.realcloud.cases import THING, Absent, Case, Cases, replaced
from tools.realcloud.engine import Engine, Refused, Stacks
from tools.realcloud.scenarios import drift_of_kinds
from tools.realcloud.scenarios.trials import TrialResult
from tools.realcloud.walk import Outcome, Result, Verb, missing_verbs

DELAYED = {"OS::Heat::Delay"}
"""Types that replace themselves although each property can be updated."""


def test_each_type_has_a_template_and_changes_that_its_declaration_allows() -> None:
    cases = Cases({})
    for name in cases.names:
        case = cases.of(name, {})
        if isinstance(case, Absent):
            assert case.reason.endswith("."), case
            continue
        assert case.template["resources"][THING]["type"] == name
        for changes, kind in ((case.update, Change.UPDATE), (case.replace, Change.REPLACE)):
            for key in changes or ():
                declared = case.kind.properties[key].change
                assert declared is kind or name in DELAYED, f"{name} {key}: {declared}"
        assert case.skipped.keys() <= set(Verb)


def test_verbs_run_for_the_types_that_have_them() -> None:
    """A server has all of them; a record set has no content, and its life cannot pause."""
    server, records = (Cases({}).of(name, {}) for name in ("OS::Nova::Server", "OS::Designate::RecordSet"))
    assert isinstance(server, Case) and isinstance(records, Case)
    assert missing_verbs(server).keys() == server.skipped.keys()
    assert missing_verbs(records).keys() >= {Verb.SUSPEND, Verb.RESUME, Verb.SNAPSHOT, Verb.RESTORE}


def test_content_is_saved_also_by_types_that_take_part_in_snapshots_themselves() -> None:
    cases = Cases({})
    saving = {name for name in cases.names if isinstance(cases.kind(name), SnapshotParticipant)}
    assert saving
    for name in saving:
        case = cases.of(name, {})
        assert isinstance(case, Absent) or Verb.SNAPSHOT not in missing_verbs(case).keys() - case.skipped.keys(), name


def test_direct_changes_fit_the_resource_types() -> None:
    kinds, changes = Cases({}), 0
    for stack in drift_of_kinds.cases().values():
        assert any(name.startswith("untouched") for name in stack["resources"])
        for change in stack["changes"].values():
            changes += 1
            for resource, name in drift_of_kinds.expected_differences(change):
                kind = kinds.kind(stack["resources"][resource]["type"])
                assert name == drift_of_kinds.GONE or name in kind.properties, (resource, name)
    assert changes >= 40


def test_reported_drift_is_read_from_its_plan() -> None:
    def step(path: str, *reasons: tuple[str, str | None]) -> dict[str, Any]:
        return {"path": path, "reasons": [{"code": code, "subject": subject} for code, subject in reasons]}

    plan = {
        "steps": [
            step("net", ("changed-outside", "name"), ("changed-outside", "tags")),
            step("port", ("deleted-outside", None)),
            step("server", ("may-change", "networks")),
        ]
    }
    assert drift_of_kinds.reported(plan) == {("net", "name"), ("net", "tags"), ("port", drift_of_kinds.GONE)}


def test_words_of_the_examples_are_replaced() -> None:
    example = {"a": ["cirros", {"b": "http://files.example.com/x.yaml"}], "c": 1}
    words = {"cirros": "small", "http://files.example.com/": "http://127.0.0.1:1/"}
    assert replaced(example, words) == {"a": ["small", {"b": "http://127.0.0.1:1/x.yaml"}], "c": 1}


def test_a_lab_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(lab.FOLDER_VARIABLE, raising=False)
    with pytest.raises(lab.LabMissing, match="LAB=… or in STOKER_LAB_CLOUD"):
        lab.found_folder(None)
    with pytest.raises(lab.LabMissing, match="is not the folder of a lab"):
        lab.found_folder(tmp_path)


def test_results_are_recorded_in_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.TYPES}old\n{report.END}after\n")
    failed = Outcome("failed", "refused 5d1f0a6e-8c1b-4b7f-9d3a-2e6c4b8f7a90 (req-1)")
    outcomes = {Verb.CREATE: Outcome("passed"), Verb.UPDATE: failed, Verb.CHECK: Outcome("none", "Slow.")}
    again = Result("OS::E::F", {Verb.CREATE: Outcome("passed")}, beside_others=("OS::E::F create: late",))
    results = [Result("OS::A::B", outcomes), Result("OS::C::D", absent="No such service."), again]
    report.record(report.TYPES, report.block(results, ["server x"]), page)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    for line in (
        "Of 3 types 2 ran; 1 did so without a failure.",
        "- OS::E::F create: late",
        "| `OS::A::B` | ✓ | - | ✗ |  |  |  |  |  |  |  |",
        "- OS::A::B update: refused … (…",
        "- `server x`",
        "| `OS::C::D` | No such service. |",
        "| `OS::A::B` | check | Slow. |",
    ):
        assert line in text
    repaired = Result("OS::A::B", {Verb.CREATE: Outcome("passed"), Verb.UPDATE: Outcome("passed")})
    repeated = report.repeated_block(report.recorded(report.TYPES, page), [repaired], [])
    report.record(report.TYPES, repeated, page)
    lines = report.recorded(report.TYPES, page)
    assert "Of 3 types 2 ran; 2 did so without a failure." in lines
    assert lines[lines.index("### Passed in a later run") + 2] == "- OS::A::B update: refused … (…"
    assert "| `OS::A::B` | ✓ |  | ✓ |  |  |  |  |  |  |  |" in lines and "- `server x`" in lines
    assert "### Failures" not in lines and "| `OS::A::B` | check | Slow. |" not in lines
    kept = "| kills | create | ✓ | completed |"
    page.write_text(f"{report.SCENARIOS}| quotas | old | ✓ | x |\n{kept}\n{report.END}")
    trials = [TrialResult("quotas", "networks", False, "a | b", 1.0), TrialResult("quotas", "ports", True, "", 1.0)]
    known, names = report.recorded(report.SCENARIOS, page), ["quotas", "kills"]
    report.record(report.SCENARIOS, report.scenario_block(trials, known, names), page)
    rows = ["| quotas | networks | ✗ | a \\| b |", "| quotas | ports | ✓ |  |", kept]
    assert [line for line in report.recorded(report.SCENARIOS, page) if "✓" in line or "✗" in line] == rows
    assert "Of 3 trials 2 passed." in page.read_text()
    page.write_text("nothing")
    with pytest.raises(LookupError, match="no place"):
        report.record(report.SCENARIOS, report.scenario_block([], [], names), page)


def test_failed_row_is_repeated_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [Cases({}).of(name, {}) for name in ("OS::Heat::Value", "OS::Heat::None")]
    outcomes = {
        "OS::Heat::Value": [Outcome("failed", "late"), Outcome("passed")],
        "OS::Heat::None": [Outcome("passed")],
    }

    def walked(group: Sequence[Case], engines: Mapping[str, Engine]) -> list[Result]:
        return [Result(case.type_name, {Verb.CREATE: outcomes[case.type_name].pop(0)}) for case in group]

    monkeypatch.setattr(program, "_walked", walked)
    results = {result.type_name: result for result in program._results(cases, {}, 2)}
    assert {name: (result.failures, result.beside_others) for name, result in results.items()} == {
        "OS::Heat::Value": ([], ("OS::Heat::Value create: late",)),
        "OS::Heat::None": ([], ()),
    }


def test_a_request_without_an_answer_is_refused() -> None:
    class Silent(lab.Account):
        def send(self, service: str, method: str, path: str, **options: Any) -> Any:
            raise ConnectTimeout("too late")

    with pytest.raises(Refused, match="no answer: too late"):
        Stacks(Silent({"auth_url": "http://127.0.0.1:9/v3", "password": "secret"}, "RegionOne")).show("/stacks/a/b")
