"""The emulated cloud answers as the recorded real services do, but for what is declared or known."""

from __future__ import annotations

import json

import pytest

from openstack_emulator.testing import ServedCloud
from testing.differential import differences, script
from testing.differential.emulated import emulated
from testing.differential.player import play
from testing.differential.script import Invalid, RepeatUntil, Step
from testing.differential.site import Answer
from testing.differential.uniform import hidden


@pytest.mark.parametrize("name", script.names())
def test_a_service_answers_as_its_recording(served: ServedCloud, name: str) -> None:
    loaded = script.load(name)
    recorded = differences.read(loaded)
    assert list(recorded) == [step.name for step in loaded.steps], "record the script again"
    comparison = differences.compared(name, differences.differences(recorded, play(loaded, emulated(served))))
    assert not comparison.new, "\n".join(map(str, comparison.new))
    assert not comparison.gone, "no longer there, so remove: " + "\n".join(comparison.gone)


def test_declared_differences_belong_to_recordings() -> None:
    for file in (differences.DECLARED, differences.KNOWN):
        listed = differences.load(file)
        assert listed.keys() <= set(script.names()), file
    for name in script.names():
        for entry in differences.declared(name):
            assert entry.reason.endswith("."), entry
        text = (differences.RECORDED / f"{name}.json").read_text(encoding="utf-8")
        assert differences.private(text) is None
        assert json.loads(text)


def test_every_kind_of_difference_is_found() -> None:
    real = {"a": {"status": 200, "body": {"x": 1, "l": [{"y": None}, {"y": 1}], "gone": "", "same": [1]}}}
    emulated_ones = {"a": {"status": 201, "body": {"x": True, "l": [{"y": ""}, {"y": 1}], "more": 0, "same": [1]}}}
    found = {(one.where, one.real, one.emulated) for one in differences.differences(real, emulated_ones)}
    assert found == {
        ("status", "200", "201"),
        ("body.x", "1", "true"),
        ("body.l[].y", "null", '""'),
        ("body.gone", '""', differences.ABSENT),
        ("body.more", differences.ABSENT, "0"),
    }
    assert differences.differences({"a": {"body": [1, 2]}}, {"a": {"body": [1]}})[0].where == "body"


def test_opaque_values_keep_their_types() -> None:
    given = {"mac": "fa:16:3e:00:00:01", "n": 5, "none": None, "list": [{"n": "<integer>"}, {"n": 2}]}
    assert hidden(given, frozenset({"mac", "n", "none"})) == {
        "mac": "<string>",
        "n": "<integer>",
        "none": None,
        "list": [{"n": "<integer>"}, {"n": "<integer>"}],
    }


def test_secrets_and_machine_paths_are_not_kept() -> None:
    assert differences.private('{"a": "file:///var/lib/x"}') == "/var/"
    assert differences.private('{"a": "labsecret"}', "labsecret") == "labsecret"
    assert differences.private('{"a": "/v2.0/networks"}') is None


def test_a_step_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(Invalid, match="colour"):
        script.step("one", {"do": "GET /", "colour": 1}, {})
    assert script.step("one", {"do": "GET /a", "until": "status 404"}, {"H": "1"}) == Step(
        "one", "GET", "/a", headers={"H": "1"}, until=RepeatUntil("status", ["404"])
    )
    assert Answer(200, {"content-type": "text/plain"}, b"x").body == "x"
